/* A bot that takes the same time for every move: it sleeps, and then plays some legal move. For benchmarks/fairness.py.

   SLEEPER_US is how long it sleeps, in microseconds from the moment at which it has read its `turn` line. What it
   measured goes to the file SLEEPER_REPORT-SEED, of the seed of its game, when it is told to quit: a line for each move, with the time at which it had
   read `turn` (CLOCK_MONOTONIC) and how long it was until just before it wrote its answer, both in nanoseconds.

   SLEEPER_ATTACK makes it a bad neighbour: from its first turn on (or, with slow-start, its start) it does besides what
   the table of attacks below says. It sleeps and measures its moves all the same, so that what it gains can be seen.

   With an argument it is no bot, but spins for ever. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_LINE 65536
#define MAX_MOVES 100000
#define CELLS 40

static char buffer[MAX_LINE], army[CELLS + 1], legal[MAX_LINE];
static long long read_at[MAX_MOVES], took[MAX_MOVES];
static int moves;
static unsigned seed, dice = 1;
static long long answered_at;

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
    const char *prefix = getenv("SLEEPER_REPORT");
    char path[4096];
    FILE *file = NULL;
    if (prefix && snprintf(path, sizeof path, "%s-%u", prefix, seed) < (int)sizeof path) file = fopen(path, "w");
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

/* --- what bad neighbours do ---------------------------------------------------------------------------------- */

#define FORKS 50
#define THREADS 50
#define NOTES 900
#define SHARED_BYTES (200 << 20)
#define SLOW_START_NS 300000000LL
#define SHORT_GAME 20

static const char *attack = "";

static int is(const char *name) { return !strcmp(attack, name); }

static void nap(long long nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000LL, nanoseconds % 1000000000LL};
    nanosleep(&time, NULL);
}

static void *wake_often(void *nothing) {
    for (;;) nap(1000000);
    return nothing;
}

/* Starts what goes on beside the game, in processes of its own. */
static void begin_attack(void) {
    if (is("memory")) { /* far over the limit if what is shared is counted for each */
        char *memory = malloc(SHARED_BYTES);
        if (memory) memset(memory, 1, SHARED_BYTES);
        for (int count = 0; count < FORKS; count++)
            if (fork() == 0)
                for (;;) nap(1000000000);
    }
    if (is("forks") && fork() == 0)
        for (;;) {
            if (fork() == 0) _exit(0);
            wait(NULL);
        }
    if (is("orphans") && fork() == 0) /* children whose parents are gone, for the arena to adopt and to bury */
        for (;;) {
            if (fork() == 0) {
                if (fork() == 0) nap(10000000);
                _exit(0);
            }
            wait(NULL);
            nap(1000000);
        }
    if (is("zombies"))
        for (int count = 0; count < FORKS; count++)
            if (fork() == 0) _exit(0);
    if (is("stderr") && fork() == 0) {
        static char text[65536];
        memset(text, 'x', sizeof text);
        for (;;)
            if (write(2, text, sizeof text) < 0) _exit(0);
    }
    if (is("spinners"))
        for (long count = sysconf(_SC_NPROCESSORS_ONLN); count > 0; count--)
            if (fork() == 0)
                for (volatile int spins = 0;; spins = !spins) continue;
    if (is("threads"))
        for (int count = 0; count < THREADS; count++) {
            pthread_t thread;
            pthread_create(&thread, NULL, wake_often, NULL);
        }
}

/* As many lines as a bot may send before its answer. */
static void say_much(void) {
    const char *line = is("notes") ? "note the marshal may be anywhere, and so may the spy\n" : "\n";
    for (int count = 0; count < NOTES; count++) say(line, strlen(line));
}

/* Leaves no room in the pipe that the arena writes to. */
static void fill_own_pipe(void) {
    static char text[4096];
    memset(text, '\n', sizeof text);
    int filler = open("/proc/self/fd/0", O_WRONLY | O_NONBLOCK);
    while (write(filler, text, sizeof text) > 0) continue;
    close(filler); /* or it would never see the end of its input */
}

/* When its own time began, in nanoseconds: it reads its turn late, and knows only what the other one takes. */
static long long began(long long read, long long sleep) {
    return answered_at && answered_at + sleep < read ? answered_at + sleep : read;
}

/* --- the bot ------------------------------------------------------------------------------------------------ */

static void move(long long start, long long sleep) {
    if (!moves) begin_attack();
    if (is("notes") || is("lines")) say_much();
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
    if (is("slow-start") && moves == SHORT_GAME)
        say("move resign\n", 12);
    else
        say(line, length + 6);
    if (is("full-pipe")) {
        answered_at = now();
        fill_own_pipe();
        nap(2 * sleep);
    }
}

int main(int argc, char **argv) {
    const char *microseconds = getenv("SLEEPER_US");
    long long sleep = microseconds ? atoll(microseconds) * 1000 : 0;
    size_t held = 0;
    (void)argv;
    if (getenv("SLEEPER_ATTACK")) attack = getenv("SLEEPER_ATTACK");
    if (is("slow-start")) {
        long long end = now() + SLOW_START_NS;
        while (now() < end) continue;
    }
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
            if (!strncmp(line, "turn ", 5)) move(began(start, sleep), sleep);
            else if (!strncmp(line, "legal ", 6)) strcpy(legal, line + 6);
            else if (!strncmp(line, "hello ", 6)) say("want legal\nready\n", 17);
            else if (!strncmp(line, "rule army ", 10)) keep_army(line + 10);
            else if (!strncmp(line, "seed ", 5)) dice = seed = strtoul(line + 5, NULL, 10);
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
