package main

import (
	"sort"
	"strings"
	"testing"
)

// told returns a bot that has been told these lines, to none of which it may answer.
func told(t *testing.T, lines ...string) *Bot {
	t.Helper()
	bot := NewBot()
	for _, line := range lines {
		if answer := bot.Answer(line); answer != "" {
			t.Fatalf("it answers %q to %q", answer, line)
		}
	}
	return bot
}

func TestItIntroducesItselfAndWantsItsLegalActions(t *testing.T) {
	answer := NewBot().Answer("hello 1")
	if !strings.Contains(answer, "want legal") || !strings.HasSuffix(answer, "ready\n") {
		t.Errorf("it introduces itself with %q", answer)
	}
}

func TestItSetsUpTheArmyOfTheRules(t *testing.T) {
	bot := told(t, "game red barrage", "rule army F:1 B:1 S:1 2:2 3:1 9:1 M:1", "seed 7")
	answer := bot.Answer("setup")
	rows := strings.Split(strings.TrimSpace(strings.TrimPrefix(answer, "setup ")), "/")
	if len(rows) != 4 {
		t.Fatalf("it sets up %q", answer)
	}
	for _, row := range rows {
		if len(row) != 10 {
			t.Errorf("there is a row %q in %q", row, answer)
		}
	}
	letters := strings.Split(strings.ReplaceAll(strings.Join(rows, ""), ".", ""), "")
	sort.Strings(letters)
	if army := strings.Join(letters, ""); army != "2239BFMS" {
		t.Errorf("it sets up the army %s", army)
	}
}

func TestItPlaysOneOfTheActionsOfThisTurn(t *testing.T) {
	bot := told(t, "", "a verb that it does not know", "legal a4-a5 b4-b5", "legal c4-c5")
	switch answer := bot.Answer("turn 1 1000 1000"); answer {
	case "move a4-a5\n", "move b4-b5\n", "move c4-c5\n":
	default:
		t.Errorf("it plays %q", answer)
	}
	bot.Answer("legal d4-d5")
	if answer := bot.Answer("turn 3 1000 1000"); answer != "move d4-d5\n" {
		t.Errorf("it plays %q", answer)
	}
}
