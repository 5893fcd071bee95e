/* The conversation with the arena (docs/protocol.md): what is said when, and how long to think. */

#define _POSIX_C_SOURCE 200809L
#include "told.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_SIZE = 100 };

static void forget_actions(struct table *table)
{
    for (int index = 0; index < table->count; index++)
        free(table->texts[index]);
    table->count = 0;
    table->any[0] = '\0';
    memset(table->place, 0, sizeof table->place);
}

/* Of several actions between two squares, the one that brings back the best piece is the one to think about. */
static void add_action(struct table *table, const char *text)
{
    int from, to, rescued;
    if (!table->any[0])
        snprintf(table->any, sizeof table->any, "%s", text);
    if (!parse_action(text, &from, &to, &rescued) || table->game.piece[from] == NOBODY)
        return;
    float extra = rescued ? table->minds[table->side].worth[rescued] : 0;
    int index = table->place[from][to] - 1;
    if (index < 0) {
        if (table->count == MOST_ACTIONS)
            return;
        index = table->count++;
        table->place[from][to] = (int16_t)table->count;
    } else if (extra <= table->extra[index]) {
        return;
    } else {
        free(table->texts[index]);
    }
    if ((table->texts[index] = strdup(text)) == NULL)
        abort();
    table->actions[index] = (struct action){(int8_t)from, (int8_t)to};
    table->extra[index] = extra;
}

static void new_game(struct table *table, const char *color)
{
    forget_actions(table);
    table->side = color != NULL && strcmp(color, "blue") == 0;
    memset(&table->rules, 0, sizeof table->rules);
    for (int rank = SPY; rank < RANKS; rank++)
        table->rules.moves[rank] = true;
    table->is_begun = table->is_silent = table->attacker_wins_ties = table->bombs_explode = false;
    memset(&table->clock, 0, sizeof table->clock);
    game_clear(&table->game, &table->rules);
}

static void read_rule(struct table *table, const char *name, char **rest)
{
    struct rules *rules = &table->rules;
    const char *value = strtok_r(NULL, " ", rest);
    if (name == NULL || value == NULL)
        return;
    if (strcmp(name, "army") == 0)
        for (; value != NULL; value = strtok_r(NULL, " ", rest))
            rules->army[rank_of(value[0])] = value[0] && value[1] ? atoi(value + 2) : 0;
    else if (strcmp(name, "two-squares") == 0)
        rules->two_squares = atoi(value);
    else if (strcmp(name, "equal-ranks") == 0)
        table->attacker_wins_ties = strcmp(value, "attacker") == 0;
    else if (strcmp(name, "bombs") == 0) {
        table->bombs_explode = strcmp(value, "fixed") != 0;
        rules->moves[BOMB] = strcmp(value, "mobile") == 0;
    } else if (strcmp(name, "flag") == 0)
        rules->moves[FLAG] = strcmp(value, "mobile") == 0;
    else if (strcmp(name, "defence") == 0)
        table->is_silent = strcmp(value, "silent") == 0;
    else if (strcmp(name, "max-plies") == 0)
        rules->plies = atoi(value);
    else if (strcmp(name, "max-quiet-plies") == 0)
        rules->quiet_plies = atoi(value);
}

static void read_clock(struct clock *clock, char **rest)
{
    const char *name, *value;
    while ((name = strtok_r(NULL, " ", rest)) != NULL && (value = strtok_r(NULL, " ", rest)) != NULL) {
        clock->has_move |= strcmp(name, "move") == 0;
        clock->has_bank |= strcmp(name, "bank") == 0;
        if (strcmp(name, "increment") == 0)
            clock->increment_ms = atof(value);
    }
}

/*
 * How long to think, in seconds. Of a limit for each move at most half, and less of a short one, as short limits are
 * for quick leagues on busy machines. Of a bank a fortieth and most of the increment.
 */
static double thinking_time(const struct clock *clock, double yours_ms, double bank_ms)
{
    double most = yours_ms / 2;
    if (clock->has_move)
        most = fmin(most, yours_ms * yours_ms / 800); /* from 400 ms on that is no less than half */
    if (clock->has_bank)
        most = fmin(most, bank_ms / 40 + 0.8 * fmin(clock->increment_ms, bank_ms / 2));
    return fmax(0, most - 1) / 1000;
}

static void answer(struct table *table, char **rest)
{
    double fields[5] = {0};
    int count = 0;
    for (const char *field; count < 5 && (field = strtok_r(NULL, " ", rest)) != NULL;)
        fields[count++] = atof(field);
    begin_with_all(table);
    table->game.side = table->side;
    for (int side = 0; side < 2; side++)
        mind_refresh(&table->minds[side], &table->game);
    if (table->count == 0) {
        printf("move %s\n", table->any);
    } else {
        char note[NOTE_SIZE] = "";
        double seconds = thinking_time(&table->clock, fields[1], count == 5 ? fields[3] : fields[1]);
        int chosen = search_choose(&table->game, table->minds, table->actions, table->extra, table->count, seconds,
                                   &table->random, note, sizeof note);
        if (note[0])
            printf("note %s\n", note);
        printf("move %s\n", table->texts[chosen]);
    }
    forget_actions(table);
}

static void read_line(struct table *table, const char *verb, char **rest)
{
    if (strcmp(verb, "hello") == 0) {
        puts("name veteran 1.7\nwant legal\nready");
    } else if (strcmp(verb, "game") == 0) {
        new_game(table, strtok_r(NULL, " ", rest));
    } else if (strcmp(verb, "rule") == 0) {
        read_rule(table, strtok_r(NULL, " ", rest), rest);
    } else if (strcmp(verb, "clock") == 0) {
        read_clock(&table->clock, rest);
    } else if (strcmp(verb, "seed") == 0) {
        const char *seed = strtok_r(NULL, " ", rest);
        table->random.state = ((seed ? strtoull(seed, NULL, 10) : 0) + 1) * UINT64_C(0x9E3779B97F4A7C15);
    } else if (strcmp(verb, "setup") == 0) {
        char rows[ARMY + 1] = "";
        setup_choose(&table->rules, &table->random, rows);
        place_own(table, rows);
        printf("setup %.10s/%.10s/%.10s/%.10s\n", rows, rows + SIDE, rows + 2 * SIDE, rows + 3 * SIDE);
    } else if (strcmp(verb, "restore") == 0) {
        char rows[ARMY + 1] = "";
        int count = 0;
        for (const char *letter = *rest; *letter && count < ARMY; letter++)
            if (*letter != '/')
                rows[count++] = *letter;
        place_own(table, rows);
    } else if (strcmp(verb, "enemy") == 0) {
        told_enemy(table, rest);
    } else if (strcmp(verb, "moved") == 0) {
        told_moved(table, rest);
    } else if (strcmp(verb, "battle") == 0) {
        told_battle(table, rest);
    } else if (strcmp(verb, "reveal") == 0) {
        told_reveal(table, rest);
    } else if (strcmp(verb, "rescued") == 0) {
        told_rescued(table, rest);
    } else if (strcmp(verb, "guess") == 0) {
        told_guess(table, rest);
    } else if (strcmp(verb, "legal") == 0) {
        begin_with_all(table);
        for (const char *action; (action = strtok_r(NULL, " ", rest)) != NULL;)
            add_action(table, action);
    } else if (strcmp(verb, "turn") == 0) {
        answer(table, rest);
    }
}

int main(void)
{
    static struct table table;
    char *line = NULL;
    size_t room = 0;
    board_prepare();
    table.random.state = 1;
    while (getline(&line, &room, stdin) != -1) {
        char *rest = NULL;
        line[strcspn(line, "\r\n")] = '\0';
        const char *verb = strtok_r(line, " ", &rest);
        if (verb == NULL)
            continue;
        if (strcmp(verb, "quit") == 0)
            break;
        read_line(&table, verb, &rest);
        fflush(stdout);
    }
    forget_actions(&table);
    free(line);
    return 0;
}
