/* Plays Connect Four by looking some plies ahead (alpha-beta), without any kit: the lines of README.md are all it knows. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, DEPTH = 5, WON = 1000 };

static int columns, rows;
static int disc[MOST][MOST], height[MOST]; /* 0: empty, 1: own, -1: the opponent's */

static int run_of(int column, int row, int right, int up, int side)
{
    int count = 0;
    while (column >= 0 && column < columns && row >= 0 && row < rows && disc[column][row] == side) {
        count++, column += right, row += up;
    }
    return count;
}

static int makes_four(int column, int row)
{
    static const int ways[4][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    int side = disc[column][row];
    for (int way = 0; way < 4; way++) {
        int right = ways[way][0], up = ways[way][1];
        if (run_of(column, row, right, up, side) + run_of(column, row, -right, -up, side) - 1 >= 4)
            return 1;
    }
    return 0;
}

/* The columns from the middle to the sides, which are searched in this order. */
static int nth_column(int number)
{
    int middle = (columns - 1) / 2, distance = (number + 1) / 2;
    return number % 2 ? middle + distance : middle - distance;
}

/* The worth of the position to the side to move; the best column for it goes to `best`. */
static int search(int side, int depth, int alpha, int beta, int *best)
{
    int moves = 0;
    for (int number = 0; number < columns; number++) {
        int column = nth_column(number), row, value;
        if (column < 0 || column >= columns || height[column] == rows)
            continue;
        row = height[column]++;
        disc[column][row] = side;
        if (makes_four(column, row))
            value = WON + depth;
        else
            value = depth ? -search(-side, depth - 1, -beta, -alpha, NULL) : 0;
        disc[column][row] = 0;
        height[column]--;
        if (!moves++ || value > alpha) {
            if (best)
                *best = column;
            if (value > alpha)
                alpha = value;
        }
        if (alpha >= beta)
            break;
    }
    return moves ? alpha : 0;
}

static void say(const char *line)
{
    puts(line);
    fflush(stdout);
}

int main(void)
{
    static char line[5000];
    char color[8] = "", mover[8];
    int number;
    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "hello", 5)) {
            say("name diver 1\nready");
        } else if (sscanf(line, "game %7s", color) == 1) {
            memset(disc, 0, sizeof disc);
            memset(height, 0, sizeof height);
        } else if (sscanf(line, "rule columns %d", &number) == 1) {
            columns = number;
        } else if (sscanf(line, "rule rows %d", &number) == 1) {
            rows = number;
        } else if (sscanf(line, "moved %7s %d", mover, &number) == 2) {
            disc[number - 1][height[number - 1]++] = strcmp(mover, color) ? -1 : 1;
        } else if (!strncmp(line, "turn", 4)) {
            int best = 0;
            search(1, DEPTH, -2 * WON, 2 * WON, &best);
            printf("move %d\n", best + 1);
            fflush(stdout);
        } else if (!strncmp(line, "quit", 4)) {
            break;
        }
    }
    return 0;
}
