/* The board, the fights, and a game that can be played on: what the bot needs to go on with a game in its head. */

#include "veteran.h"
#include <stdlib.h>
#include <string.h>

int8_t neighbours[SQUARES][4];
int neighbour_count[SQUARES];

static bool is_lake(int square)
{
    int row = square / SIDE, file = square % SIDE;
    return (row == 4 || row == 5) && (file == 2 || file == 3 || file == 6 || file == 7);
}

/* The square beside this one in a direction, or NOBODY at the edge and at a lake. */
static int beside(int square, int direction)
{
    static const int rows[4] = {1, -1, 0, 0}, files[4] = {0, 0, 1, -1};
    int row = square / SIDE + rows[direction], file = square % SIDE + files[direction];
    if (row < 0 || row >= SIDE || file < 0 || file >= SIDE || is_lake(row * SIDE + file))
        return NOBODY;
    return row * SIDE + file;
}

static int8_t next_square[SQUARES][4];

void board_prepare(void)
{
    for (int square = 0; square < SQUARES; square++) {
        neighbour_count[square] = 0;
        for (int direction = 0; direction < 4; direction++) {
            int near = is_lake(square) ? NOBODY : beside(square, direction);
            next_square[square][direction] = (int8_t)near;
            if (near != NOBODY)
                neighbours[square][neighbour_count[square]++] = (int8_t)near;
        }
    }
}

static int fight(int attacker, int defender, bool attacker_wins_ties, bool bombs_explode)
{
    if (defender == FLAG)
        return 1;
    if (defender == BOMB)
        return attacker == MINER ? 1 : bombs_explode ? 0 : -1;
    if (attacker == SPY && defender == MARSHAL)
        return 1;
    int strength = attacker == INFILTRATOR ? SPY : attacker, against = defender == INFILTRATOR ? SPY : defender;
    if (strength == against)
        return attacker_wins_ties ? 1 : 0;
    return strength > against ? 1 : -1;
}

void rules_prepare(struct rules *rules, bool attacker_wins_ties, bool bombs_explode)
{
    for (int attacker = 0; attacker < RANKS; attacker++)
        for (int defender = 0; defender < RANKS; defender++)
            rules->fights[attacker][defender] = fight(attacker, defender, attacker_wins_ties, bombs_explode);
}

int row_of(int side, int square)
{
    return side == 0 ? square / SIDE : SIDE - 1 - square / SIDE;
}

int side_of(int piece)
{
    return piece >= ARMY;
}

void game_clear(struct game *game, const struct rules *rules)
{
    memset(game, 0, sizeof *game);
    game->rules = rules;
    memset(game->piece, NOBODY, sizeof game->piece);
    memset(game->square, NOBODY, sizeof game->square);
    game->run[0].piece = game->run[1].piece = NOBODY;
}

void game_place(struct game *game, int piece, int square, int rank)
{
    game->piece[square] = (int8_t)piece;
    game->square[piece] = (int8_t)square;
    game->rank[piece] = (int8_t)rank;
}

void game_remove(struct game *game, int piece)
{
    if (game->square[piece] == NOBODY)
        return;
    game->piece[game->square[piece]] = NOBODY;
    game->square[piece] = NOBODY;
    game->alive[side_of(piece)][game->rank[piece]]--;
}

void game_move(struct game *game, int piece, int square)
{
    game->piece[game->square[piece]] = NOBODY;
    game->piece[square] = (int8_t)piece;
    game->square[piece] = (int8_t)square;
    game->moved[piece] = true;
}

static bool is_over_the_border(const struct game *game, int piece, int from, int to)
{
    return game->run[side_of(piece)].piece == piece
           && ((game->run[side_of(piece)].one == from && game->run[side_of(piece)].other == to)
               || (game->run[side_of(piece)].one == to && game->run[side_of(piece)].other == from));
}

static bool is_barred(const struct game *game, int piece, int from, int to)
{
    return game->rules->two_squares && game->run[side_of(piece)].count >= game->rules->two_squares
           && is_over_the_border(game, piece, from, to);
}

int game_actions(const struct game *game, struct action *actions)
{
    int count = 0;
    for (int piece = game->side * ARMY; piece < (game->side + 1) * ARMY; piece++) {
        int from = game->square[piece];
        if (from == NOBODY || game->rank[piece] <= BOMB)
            continue;
        for (int direction = 0; direction < 4; direction++) {
            for (int to = next_square[from][direction]; to != NOBODY; to = next_square[to][direction]) {
                int target = game->piece[to];
                if (target != NOBODY && side_of(target) == game->side)
                    break;
                if (!is_barred(game, piece, from, to) && count < MOST_ACTIONS)
                    actions[count++] = (struct action){(int8_t)from, (int8_t)to};
                if (target != NOBODY || game->rank[piece] != SCOUT)
                    break;
            }
        }
    }
    return count;
}

void game_note_run(struct game *game, int piece, int from, int to)
{
    int side = side_of(piece);
    if (is_over_the_border(game, piece, from, to)) {
        if (game->run[side].count < INT8_MAX)
            game->run[side].count++;
        return;
    }
    game->run[side].piece = (int8_t)piece;
    game->run[side].one = (int8_t)from;
    game->run[side].other = (int8_t)to;
    game->run[side].count = 1;
}

bool game_play(struct game *game, struct mind minds[2], struct action action, int *winner)
{
    int side = game->side, piece = game->piece[action.from], target = game->piece[action.to], left_on = action.to;
    bool is_long = abs(action.from / SIDE - action.to / SIDE) + abs(action.from % SIDE - action.to % SIDE) > 1;
    game_note_run(game, piece, action.from, action.to);
    game->ply++;
    game->quiet++;
    if (!game->moved[piece])
        mind_note_start(&minds[1 - side], piece);
    if (is_long && !game->known[piece])
        minds[1 - side].is_stale = true;
    game->known[piece] |= is_long;
    game->moved[piece] = true;
    if (target == NOBODY) {
        game_move(game, piece, action.to);
    } else {
        if (game->rank[target] == FLAG) {
            *winner = side;
            return true;
        }
        int outcome = game->rules->fights[game->rank[piece]][game->rank[target]];
        game->quiet = 0;
        game->known[piece] = game->known[target] = true;
        minds[0].is_stale = minds[1].is_stale = true;
        if (outcome >= 0)
            game_remove(game, target);
        if (outcome <= 0) {
            game_remove(game, piece);
            left_on = NOBODY;
        } else {
            game_move(game, piece, action.to);
        }
    }
    mind_watch(&minds[1 - side], game, action.from, left_on);
    game->side = 1 - side;
    if ((game->rules->quiet_plies && game->quiet >= game->rules->quiet_plies)
        || (game->rules->plies && game->ply >= game->rules->plies)) {
        *winner = NOBODY;
        return true;
    }
    return false;
}

/* xorshift*: small, quick, and good enough to fill in worlds. */
uint64_t random_next(struct random *random)
{
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * UINT64_C(2685821657736338717);
}

float random_unit(struct random *random)
{
    return (float)(random_next(random) >> 40) * (1.0F / 16777216);
}

int random_below(struct random *random, int limit)
{
    return (int)((random_next(random) >> 33) % (uint64_t)limit);
}
