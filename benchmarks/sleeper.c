/* A bot that takes the same time for every move: it sleeps, and then plays some legal move. For benchmarks/fairness.py.

   SLEEPER_US is how long it sleeps, in microseconds from the moment at which it has read its `turn` line. What it
   measured goes to the file SLEEPER_REPORT when it is told to quit: a line for each move, with the time at which it had
   read `turn` (CLOCK_MONOTONIC) and how long it was until just before it wrote its answer, both in nanoseconds.

   With an argument it is no bot, but spins for ever. */

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_LINE 65536
#define MAX_MOVES 100000
#define CELLS 40

static char buffer[MAX_LINE], army[CELLS + 1], legal[MAX_LINE];
static long long read_at[MAX_MOVES], took[MAX_MOVES];
static int moves;
static unsigned dice = 1;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static unsigned throw_dice(unsigned sides) {
    dice = dice * 1664525u + 1013904223u;
    return (unsigned)(((unsigned long long)dice * sides) >> 32);
}

static void say(const char *text, size_t length) {
    if (write(1, text, length) != (ssize_t)length) exit(1);
}

static void report(void) {
    const char *path = getenv("SLEEPER_REPORT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    for (int move = 0; move < moves; move++) fprintf(file, "%lld %lld\n", read_at[move], took[move]);
    fclose(file);
}

/* The army in the order of the rule, on squares by lot. */
static void keep_army(const char *counts) {
    int held = 0;
    for (; *counts; counts += strcspn(counts, " "), counts += *counts == ' ')
        for (int count = atoi(counts + 2); count-- > 0 && held < CELLS;) army[held++] = *counts;
    while (held < CELLS) army[held++] = '.';
}

static void set_up(void) {
    char line[64] = "setup ";
    size_t length = strlen(line);
    for (int cell = CELLS - 1; cell > 0; cell--) {
        int other = throw_dice(cell + 1);
        char piece = army[cell];
        army[cell] = army[other];
        army[other] = piece;
    }
    for (int cell = 0; cell < CELLS; cell++) {
        if (cell && cell % 10 == 0) line[length++] = '/';
        line[length++] = army[cell];
    }
    line[length++] = '\n';
    say(line, length);
}

static void move(long long start, long long sleep) {
    char line[64] = "move ";
    int count = 1;
    for (char *space = legal; (space = strchr(space, ' ')); space++) count++;
    char *action = legal;
    for (int skip = throw_dice(count); skip > 0; skip--) action = strchr(action, ' ') + 1;
    size_t length = strcspn(action, " ");
    memcpy(line + 5, action, length);
    line[length + 5] = '\n';
    struct timespec end = {(start + sleep) / 1000000000LL, (start + sleep) % 1000000000LL};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) continue;
    if (moves < MAX_MOVES) {
        read_at[moves] = start;
        took[moves++] = now() - start;
    }
    say(line, length + 6);
}

int main(int argc, char **argv) {
    const char *microseconds = getenv("SLEEPER_US");
    long long sleep = microseconds ? atoll(microseconds) * 1000 : 0;
    size_t held = 0;
    (void)argv;
    for (volatile int spins = 0; argc > 1;) spins = !spins;
    for (;;) {
        ssize_t count = read(0, buffer + held, sizeof buffer - held - 1);
        long long start = now();
        if (count <= 0) break;
        held += count;
        buffer[held] = 0;
        char *line = buffer, *end;
        while ((end = strchr(line, '\n'))) {
            *end = 0;
            if (!strncmp(line, "turn ", 5)) move(start, sleep);
            else if (!strncmp(line, "legal ", 6)) strcpy(legal, line + 6);
            else if (!strncmp(line, "hello ", 6)) say("want legal\nready\n", 17);
            else if (!strncmp(line, "rule army ", 10)) keep_army(line + 10);
            else if (!strncmp(line, "seed ", 5)) dice = strtoul(line + 5, NULL, 10);
            else if (!strcmp(line, "setup")) set_up();
            else if (!strcmp(line, "quit")) {
                report();
                return 0;
            }
            line = end + 1;
        }
        held = strlen(line);
        memmove(buffer, line, held + 1);
    }
    report();
    return 0;
}
