/* The conversation with the arena (docs/protocol.md), and the game as far as the bot has been told of it. */

#define _POSIX_C_SOURCE 200809L
#include "veteran.h"
#include "weights.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_SIZE = 100 };

struct clock {
    bool has_move, has_bank;
    double increment_ms;
};

struct table {
    struct rules rules;
    struct game game;
    struct mind minds[2];
    struct random random;
    struct clock clock;
    int side, from, to; /* the own side; the last action that was told */
    bool is_begun, is_silent, attacker_wins_ties, bombs_explode;
    char *texts[MOST_ACTIONS];
    struct action actions[MOST_ACTIONS];
    float extra[MOST_ACTIONS];
    int count;
    int16_t place[SQUARES][SQUARES]; /* 1 + which of the actions goes from a square to another */
    char any[64];                    /* some legal action, for the case that none is understood */
};

static int parse_square(const char **text)
{
    const char *at = *text;
    if (*at < 'a' || *at > 'j')
        return NOBODY;
    int file = *at++ - 'a', row = 0;
    while (*at >= '0' && *at <= '9' && row < SIDE)
        row = 10 * row + (*at++ - '0');
    *text = at;
    return row >= 1 && row <= SIDE ? (row - 1) * SIDE + file : NOBODY;
}

static int square_of(const char *text)
{
    return text ? parse_square(&text) : NOBODY;
}

/* Where an action begins and ends, and the piece that it brings back. False for a guess or what is not understood. */
static bool parse_action(const char *text, int *from, int *to, int *rescued)
{
    *rescued = NO_RANK;
    *from = *to = parse_square(&text);
    if (*from == NOBODY || *text != '-')
        return false;
    while (*text == '-') {
        text++;
        *to = parse_square(&text);
    }
    if (*text == '+')
        *rescued = rank_of(text[1]);
    return *to != NOBODY;
}

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

static int home_square(int side, int index)
{
    int row = index / SIDE, file = index % SIDE;
    return (side == 0 ? row : SIDE - 1 - row) * SIDE + file;
}

/* Put the own army on the board, from the letters of a set-up line without its slashes. */
static void place_own(struct table *table, const char *letters)
{
    rules_prepare(&table->rules, table->attacker_wins_ties, table->bombs_explode);
    for (int rank = FLAG; rank < RANKS; rank++)
        table->game.alive[0][rank] = table->game.alive[1][rank] = (int8_t)table->rules.army[rank];
    for (int index = 0; index < ARMY && letters[index]; index++)
        if (rank_of(letters[index]))
            game_place(&table->game, table->side * ARMY + index, home_square(table->side, index), rank_of(letters[index]));
}

static void place_enemy(struct table *table, int square)
{
    int enemy = 1 - table->side, row = square == NOBODY ? SIDE : row_of(enemy, square);
    if (row < 4)
        game_place(&table->game, enemy * ARMY + row * SIDE + square % SIDE, square, NO_RANK);
}

static void begin(struct table *table)
{
    if (table->is_begun)
        return;
    table->is_begun = true;
    for (int side = 0; side < 2; side++)
        mind_clear(&table->minds[side], &table->game, side);
}

static void begin_with_all(struct table *table)
{
    if (table->is_begun)
        return;
    for (int index = 0; index < ARMY; index++)
        place_enemy(table, home_square(1 - table->side, index));
    begin(table);
}

static void stale(struct table *table)
{
    table->minds[0].is_stale = table->minds[1].is_stale = true;
}

static void show_rank(struct table *table, int piece, int rank)
{
    table->game.rank[piece] = (int8_t)rank;
    table->game.known[piece] = true;
    stale(table);
}

static void after_action(struct table *table, int piece, int to)
{
    mind_watch(&table->minds[1 - side_of(piece)], &table->game, table->from, to);
}

static void read_moved(struct table *table, const char *action)
{
    int rescued, piece;
    struct game *game = &table->game;
    begin_with_all(table);
    game->ply++;
    game->quiet++;
    if (action == NULL || !parse_action(action, &table->from, &table->to, &rescued)
        || (piece = game->piece[table->from]) == NOBODY)
        return;
    game_note_run(game, piece, table->from, table->to);
    game->moved[piece] = true;
    stale(table);
    if (game->piece[table->to] == NOBODY) {
        game_move(game, piece, table->to);
        after_action(table, piece, table->to);
    }
}

static void read_battle(struct table *table, char **rest)
{
    const char *where = strtok_r(NULL, " ", rest), *attacker = strtok_r(NULL, " ", rest);
    const char *defender = strtok_r(NULL, " ", rest), *survivor = strtok_r(NULL, " ", rest);
    struct game *game = &table->game;
    if (square_of(where) != table->to || survivor == NULL)
        return;
    int piece = game->piece[table->from], target = game->piece[table->to], rank = rank_of(attacker[0]);
    if (piece == NOBODY || target == NOBODY)
        return;
    bool defender_stays = strcmp(survivor, "defender") == 0, attacker_stays = strcmp(survivor, "attacker") == 0;
    game->quiet = 0;
    show_rank(table, piece, rank);
    if (defender[0] == '?') {
        for (int other = FLAG; other < RANKS; other++)
            if (game->rules->fights[rank][other] >= 0)
                mind_exclude(&table->minds[table->side], target, other);
    } else if (defender_stays && table->is_silent && rank != SCOUT) {
        game->rank[target] = (int8_t)rank_of(defender[0]);
    } else {
        show_rank(table, target, rank_of(defender[0]));
    }
    if (!defender_stays)
        game_remove(game, target);
    if (!attacker_stays)
        game_remove(game, piece);
    else
        game_move(game, piece, table->to);
    after_action(table, piece, attacker_stays ? table->to : NOBODY);
}

static void read_reveal(struct table *table, char **rest)
{
    int square = square_of(strtok_r(NULL, " ", rest));
    const char *letter = strtok_r(NULL, " ", rest);
    if (square != NOBODY && letter != NULL && table->game.piece[square] != NOBODY)
        show_rank(table, table->game.piece[square], rank_of(letter[0]));
}

static void read_rescued(struct table *table, char **rest)
{
    const char *color = strtok_r(NULL, " ", rest), *where = strtok_r(NULL, " ", rest), *letter = strtok_r(NULL, " ", rest);
    int square = square_of(where), side = color != NULL && strcmp(color, "blue") == 0;
    if (square == NOBODY || letter == NULL || table->game.piece[square] != NOBODY)
        return;
    for (int piece = side * ARMY; piece < (side + 1) * ARMY; piece++) {
        if (table->game.square[piece] != NOBODY || table->game.rank[piece] != rank_of(letter[0]))
            continue;
        game_place(&table->game, piece, square, rank_of(letter[0]));
        table->game.alive[side][rank_of(letter[0])]++;
        table->game.moved[piece] = false;
        stale(table);
        return;
    }
}

static void read_guess(struct table *table, char **rest)
{
    const char *where = strtok_r(NULL, " ", rest), *letter = strtok_r(NULL, " ", rest), *right = strtok_r(NULL, " ", rest);
    int square = square_of(where), piece = square == NOBODY ? NOBODY : table->game.piece[square];
    if (piece == NOBODY || right == NULL)
        return;
    if (strcmp(right, "right") == 0) {
        table->game.quiet = 0;
        show_rank(table, piece, rank_of(letter[0]));
        game_remove(&table->game, piece);
    } else {
        mind_exclude(&table->minds[1 - side_of(piece)], piece, rank_of(letter[0]));
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
        most = fmin(most, yours_ms * yours_ms / 800);
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
        puts("name veteran 1.0\nwant legal\nready");
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
        for (const char *square; (square = strtok_r(NULL, " ", rest)) != NULL;)
            place_enemy(table, square_of(square));
        begin(table);
    } else if (strcmp(verb, "moved") == 0) {
        strtok_r(NULL, " ", rest);
        read_moved(table, strtok_r(NULL, " ", rest));
    } else if (strcmp(verb, "battle") == 0) {
        read_battle(table, rest);
    } else if (strcmp(verb, "reveal") == 0) {
        read_reveal(table, rest);
    } else if (strcmp(verb, "rescued") == 0) {
        read_rescued(table, rest);
    } else if (strcmp(verb, "guess") == 0) {
        read_guess(table, rest);
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
