/* {{name}}: a bot that reads the arena's lines and answers with its own (docs/protocol.md of the arena). */

#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "{{name}}"
#define AUTHOR "{{author}}"

enum { HOME_SQUARES = 40, ROW = 10 };

struct list {
    char **items;
    size_t count, room;
};

static void list_add(struct list *list, const char *item)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 64;
        list->items = realloc(list->items, list->room * sizeof *list->items);
        if (list->items == NULL)
            abort();
    }
    if ((list->items[list->count++] = strdup(item)) == NULL)
        abort();
}

static void list_clear(struct list *list)
{
    while (list->count > 0)
        free(list->items[--list->count]);
}

/*
 * Your bot's thinking goes here.
 *
 * `legal` holds every legal action of this turn, such as "a4-a5"; return one of them. To have the whole board before
 * each turn, too, ask for it ("want legal board" below) and read the line "board", which has 100 cells from a1 to
 * j10. What happened since the last turn is in the lines "moved", "battle" and "reveal".
 */
static const char *choose(const struct list *legal)
{
    return legal->items[(size_t)random() % legal->count];
}

/* Where the army stands: ten letters a row, the back row first, files a to j. Here it is shuffled. */
static void set_up(char cells[HOME_SQUARES])
{
    for (size_t left = HOME_SQUARES; left > 1; left--) {
        size_t other = (size_t)random() % left;
        char cell = cells[left - 1];
        cells[left - 1] = cells[other];
        cells[other] = cell;
    }
}

/* The rest of a line such as "rule army F:1 B:6 ..": one letter a piece, and '.' for each square that stays empty. */
static void read_army(char cells[HOME_SQUARES])
{
    size_t placed = 0;
    memset(cells, '.', HOME_SQUARES);
    for (const char *field; (field = strtok(NULL, " ")) != NULL;)
        for (int count = atoi(field + 2); count > 0 && placed < HOME_SQUARES; count--)
            cells[placed++] = field[0];
}

int main(void)
{
    char army[HOME_SQUARES], cells[HOME_SQUARES];
    struct list legal = {0};
    char *line = NULL;
    size_t room = 0;

    memset(army, '.', sizeof army);
    while (getline(&line, &room, stdin) != -1) {
        line[strcspn(line, "\r\n")] = '\0';
        const char *verb = strtok(line, " ");
        if (verb == NULL)
            continue;
        if (strcmp(verb, "hello") == 0) {
            puts("name " NAME "\nauthor " AUTHOR "\nwant legal\nready");
        } else if (strcmp(verb, "rule") == 0) {
            const char *rule = strtok(NULL, " ");
            if (rule != NULL && strcmp(rule, "army") == 0)
                read_army(army);
        } else if (strcmp(verb, "seed") == 0) {
            const char *seed = strtok(NULL, " ");
            srandom(seed == NULL ? 1 : (unsigned)strtoul(seed, NULL, 10));
        } else if (strcmp(verb, "setup") == 0) {
            memcpy(cells, army, sizeof cells);
            set_up(cells);
            printf("setup %.10s/%.10s/%.10s/%.10s\n", cells, cells + ROW, cells + 2 * ROW, cells + 3 * ROW);
        } else if (strcmp(verb, "legal") == 0) {
            for (const char *action; (action = strtok(NULL, " ")) != NULL;)
                list_add(&legal, action); /* a long list comes in several lines */
        } else if (strcmp(verb, "turn") == 0) {
            printf("move %s\n", choose(&legal));
            list_clear(&legal);
        } else if (strcmp(verb, "quit") == 0) {
            break;
        } /* All else may be ignored, and what a later arena adds must be. */
        fflush(stdout);
    }
    return 0;
}
