package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	bot := NewBot()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() && lines.Text() != "quit" {
		if answer := bot.Answer(lines.Text()); answer != "" {
			fmt.Print(answer) // os.Stdout keeps nothing in a buffer
		}
	}
}
