#!/bin/sh
# Says the arena's part of a short game to it and looks at its answers: sh test.sh

set -eu
cd "$(dirname "$0")"
{{build}}
answers=$({{run}} <<'LINES'
hello 1
game red barrage
rule army F:1 B:1 S:1 2:2 3:1 9:1 M:1
seed 7
setup
a verb that it does not know

legal a4-a5 b4-b5
legal c4-c5
turn 1 1000 1000
legal d4-d5
turn 3 1000 1000
end win flag
quit
LINES
)

expect() { # what it is about, and how often a line like this is among the answers
    found=$(echo "$answers" | grep -c -x "$3") || true
    [ "$found" = "$2" ] || { printf 'expected %s, got\n%s\n' "$1" "$answers" >&2; exit 1; }
}

expect "an introduction with its end" 1 "ready"
expect "a set-up of four rows of ten" 1 "setup \([.FBS2-9MI]\{10\}/\)\{3\}[.FBS2-9MI]\{10\}"
expect "one of the first turn's actions" 1 "move [abc]4-[abc]5"
expect "the second turn's only action" 1 "move d4-d5"
army=$(echo "$answers" | sed -n 's/^setup //p' | tr -d './\n' | fold -w 1 | sort | tr -d '\n')
[ "$army" = 2239BFMS ] || { echo "expected a set-up of the pieces 2239BFMS, got $army" >&2; exit 1; }
echo "all as it should be"
