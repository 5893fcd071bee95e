// {{name}}: a bot that reads the arena's lines and answers with its own (docs/protocol.md of the arena).
package main

import (
	"math/rand"
	"strconv"
	"strings"
)

const (
	name        = "{{name}}"
	author      = "{{author}}"
	homeSquares = 40
)

// Bot is what the bot knows of the game.
type Bot struct {
	army   string // one letter a piece
	legal  []string
	random *rand.Rand
}

// NewBot returns a bot that has been told nothing yet.
func NewBot() *Bot {
	return &Bot{random: rand.New(rand.NewSource(0))}
}

// choose is where your bot's thinking goes.
//
// b.legal holds every legal action of this turn, such as "a4-a5"; return one of them. To have the whole board before
// each turn, too, ask for it ("want legal board" below) and read the line "board", which has 100 cells from a1 to j10.
// What happened since the last turn is in the lines "moved", "battle" and "reveal".
func (b *Bot) choose() string {
	return b.legal[b.random.Intn(len(b.legal))]
}

// setUp returns where the army stands: ten letters a row, the back row first, files a to j, '.' for an empty square.
// Here it is shuffled.
func (b *Bot) setUp() string {
	cells := []byte(b.army + strings.Repeat(".", homeSquares-len(b.army)))
	b.random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	rows := string(cells)
	return strings.Join([]string{rows[:10], rows[10:20], rows[20:30], rows[30:]}, "/")
}

// Answer returns what the bot answers to one line of the arena, with its line end; nothing, to most of them.
func (b *Bot) Answer(line string) string {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return ""
	}
	switch fields[0] {
	case "hello":
		return "name " + name + "\nauthor " + author + "\nwant legal\nready\n"
	case "rule":
		if len(fields) > 1 && fields[1] == "army" {
			b.army = pieces(fields[2:])
		}
	case "seed":
		if seed, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			b.random.Seed(seed)
		}
	case "setup":
		return "setup " + b.setUp() + "\n"
	case "legal":
		b.legal = append(b.legal, fields[1:]...) // a long list comes in several lines
	case "turn":
		action := b.choose()
		b.legal = b.legal[:0]
		return "move " + action + "\n"
	}
	return "" // all else may be ignored, and what a later arena adds must be
}

// pieces returns the pieces of fields such as "B:6", a letter each.
func pieces(fields []string) string {
	var letters strings.Builder
	for _, field := range fields {
		letter, number, _ := strings.Cut(field, ":")
		if count, err := strconv.Atoi(number); err == nil {
			letters.WriteString(strings.Repeat(letter, count))
		}
	}
	return letters.String()
}
