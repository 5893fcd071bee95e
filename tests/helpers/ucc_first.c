/* A bot of the dialect of 2012 in C: the first move that it finds on the board it is sent, from the top left on. It
 * reads its rows anew each turn and keeps nothing. */
#include <stdio.h>
#include <string.h>

static char line[256];

static int heard(void)
{
    return fgets(line, sizeof line, stdin) != NULL && strncmp(line, "QUIT", 4) != 0;
}

int main(void)
{
    static const char *rows[] = {"8BFB8s8BB8", "B7777B6666", "5555444332", "9999899199"};
    static const char *ways[] = {"DOWN", "UP", "RIGHT", "LEFT"};
    static const int dx[] = {0, 0, 1, -1}, dy[] = {1, -1, 0, 0};
    char board[10][16];
    int is_red, turn = 0;

    setbuf(stdout, NULL);
    if (!heard())
        return 0;
    is_red = strncmp(line, "RED ", 4) == 0;
    for (int y = 0; y < 4; y++)
        printf("%s\n", rows[is_red ? y : 3 - y]);
    for (;; turn++) {
        if (turn > 0 && !heard()) /* its own move, and what came of it */
            return 0;
        if (!heard()) /* START, or the opponent's */
            return 0;
        for (int y = 0; y < 10; y++) {
            if (!heard())
                return 0;
            memcpy(board[y], line, 10);
        }
        for (int place = 0; place < 400; place++) {
            int way = (place + turn) % 4, x = place / 4 % 10, y = place / 40;
            int last_x = x + dx[way], last_y = y + dy[way];
            if (last_x < 0 || last_x > 9 || last_y < 0 || last_y > 9)
                continue;
            if (strchr("s123456789", board[y][x]) && strchr(".#", board[last_y][last_x])) {
                printf("%d %d %s\n", x, y, ways[way]);
                break;
            }
        }
    }
}
