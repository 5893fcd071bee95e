package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

func main() {
	bot := NewBot()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		verb, _, _ := strings.Cut(lines.Text(), " ")
		if verb == "quit" {
			break
		}
		fmt.Print(bot.Answer(lines.Text())) // os.Stdout keeps nothing in a buffer
	}
}
