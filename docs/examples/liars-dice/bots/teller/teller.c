/* Plays Liar's Dice without any kit: expects of the hidden dice what is usual, and bids no more than that. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACES = 6 };

static int dice[FACES + 1];  /* own dice by face */
static int own, other;       /* how many dice each side has */
static int bid_count, bid_face;
static int is_wild;

/* Twice the number of dice of a face that are to be expected. */
static int twice_expected(int face)
{
    int held = dice[face] + (is_wild && face != 1 ? dice[1] : 0);
    int in_six = is_wild && face != 1 ? 2 : 1;
    return 2 * held + 2 * other * in_six / FACES;
}

static void answer(void)
{
    int best_face = 0, best_count = 0, best_spare = -1000;
    for (int face = 1; face <= FACES; face++) {
        int count = face > bid_face && bid_count ? bid_count : bid_count + 1;
        int spare = twice_expected(face) - 2 * count;
        if (count <= own + other && spare > best_spare)
            best_face = face, best_count = count, best_spare = spare;
    }
    if (bid_count && (!best_face || best_spare < twice_expected(bid_face) - 2 * bid_count - 2 ||
                      twice_expected(bid_face) < 2 * bid_count - 2))
        puts("move liar");
    else
        printf("move %dx%d\n", best_count, best_face);
    fflush(stdout);
}

int main(void)
{
    static char line[5000];
    char color[8] = "", word[8];
    int number, count, face;
    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "hello", 5)) {
            puts("name teller 1\nready");
            fflush(stdout);
        } else if (sscanf(line, "game %7s", color) == 1) {
            is_wild = 0;
        } else if (sscanf(line, "rule dice %d", &number) == 1) {
            own = other = number;
        } else if (sscanf(line, "rule ones-are-wild %7s", word) == 1) {
            is_wild = !strcmp(word, "yes");
        } else if (!strncmp(line, "dice ", 5)) {
            memset(dice, 0, sizeof dice);
            for (char *field = strtok(line + 5, " \n"); field; field = strtok(NULL, " \n"))
                if (atoi(field) >= 1 && atoi(field) <= FACES)
                    dice[atoi(field)]++;
            bid_count = bid_face = 0;
        } else if (sscanf(line, "moved %7s %dx%d", word, &count, &face) == 3) {
            bid_count = count, bid_face = face;
        } else if (sscanf(line, "lost %7s", word) == 1) {
            *(strcmp(word, color) ? &other : &own) -= 1;
        } else if (!strncmp(line, "turn", 4)) {
            answer();
        } else if (!strncmp(line, "quit", 4)) {
            break;
        }
    }
    return 0;
}
