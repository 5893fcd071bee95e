/* The game as far as the bot has been told of it: one function for each kind of line (docs/protocol.md). */

#define _POSIX_C_SOURCE 200809L
#include "told.h"
#include <stdlib.h>
#include <string.h>

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

bool parse_action(const char *text, int *from, int *to, int *rescued)
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

static int home_square(int side, int index)
{
    int row = index / SIDE, file = index % SIDE;
    return (side == 0 ? row : SIDE - 1 - row) * SIDE + file;
}

void place_own(struct table *table, const char *letters)
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

void begin_with_all(struct table *table)
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

void told_moved(struct table *table, char **rest)
{
    strtok_r(NULL, " ", rest);
    const char *action = strtok_r(NULL, " ", rest);
    int rescued, piece;
    struct game *game = &table->game;
    begin_with_all(table);
    game->ply++;
    game->quiet++;
    if (action == NULL || !parse_action(action, &table->from, &table->to, &rescued)
        || (piece = game->piece[table->from]) == NOBODY)
        return;
    game_note_run(game, piece, table->from, table->to);
    if (!game->moved[piece])
        mind_note_start(&table->minds[1 - side_of(piece)], piece);
    game->moved[piece] = true;
    stale(table);
    if (game->piece[table->to] == NOBODY) {
        game_move(game, piece, table->to);
        after_action(table, piece, table->to);
    }
}

void told_battle(struct table *table, char **rest)
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

void told_reveal(struct table *table, char **rest)
{
    int square = square_of(strtok_r(NULL, " ", rest));
    const char *letter = strtok_r(NULL, " ", rest);
    if (square != NOBODY && letter != NULL && table->game.piece[square] != NOBODY)
        show_rank(table, table->game.piece[square], rank_of(letter[0]));
}

void told_rescued(struct table *table, char **rest)
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

void told_guess(struct table *table, char **rest)
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

void told_enemy(struct table *table, char **rest)
{
    for (const char *square; (square = strtok_r(NULL, " ", rest)) != NULL;)
        place_enemy(table, square_of(square));
    begin(table);
}
