#!/bin/sh
# {{name}}: a bot that reads the arena's lines and answers with its own (docs/protocol.md of the arena).

set -f # some actions have a "?" in them, which is no pattern for files
name="{{name}}" author="{{author}}"
army='' legal='' random=1

# Your bot's thinking goes here.
#
# The arguments are all legal actions of this turn, such as a4-a5; print one of them. Its place among them is random.
choose() {
    shift $((random * $# / 2147483648))
    echo "$1"
}

# Where the army stands: ten letters a row, the back row first, files a to j, "." for an empty square. Here the pieces
# stand in the order in which the rules list them, so that the flag is at the back.
set_up() {
    cells=''
    for field in $army; do # such as B:6
        count=${field#*:}
        while [ "$count" -gt 0 ]; do
            cells=$cells${field%:*} count=$((count - 1))
        done
    done
    while [ ${#cells} -lt 40 ]; do cells=$cells.; done
    echo "$cells" | sed 's:..........:&/:g; s:/$::'
}

while read -r verb rest; do
    case $verb in
    hello) printf '%s\n' "name $name" "author $author" "want legal" ready ;;
    rule) case $rest in "army "*) army=${rest#army } ;; esac ;;
    seed) random=${rest%% *} ;;
    setup) echo "setup $(set_up)" ;;
    legal) legal="$legal $rest" ;; # a long list comes in several lines
    turn)
        random=$(((random * 1103515245 + 12345) % 2147483648))
        echo "move $(choose $legal)" # without quotes: each action is an argument
        legal=''
        ;;
    quit) exit ;;
    esac # all else may be ignored, and what a later arena adds must be
done
