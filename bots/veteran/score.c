/*
 * What an action does by itself, before anything that the opponent may answer: what an attack brings on average, what
 * danger is left behind and entered, and how much nearer the best target comes.
 *
 * A piece of which the enemy knows nothing, and which has not moved, may be a bomb for all that it knows: its known high
 * ranks leave it alone, and hunt what has moved. So such a piece is in little danger beside them, its first move has a
 * price, and what they may hunt is a reason for a higher rank to stay near them.
 */

#include "veteran.h"
#include "weights.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What grows less with distance: by steps between two squares. */
static float guard_at[2 * SIDE], menace_at[2 * SIDE], hunted_at[2 * SIDE];

static void prepare_distances(void)
{
    for (int steps = 0; steps < 2 * SIDE; steps++) {
        guard_at[steps] = GUARD * powf(GUARD_DECAY, (float)steps);
        menace_at[steps] = MENACE * powf(MENACE_DECAY, (float)(steps - 1));
        hunted_at[steps] = fmaxf(HUNTED_LEAST, HUNTED * powf(HUNTED_DECAY, (float)(steps - 1)));
    }
}

static int steps_between(int one, int other)
{
    return abs(one / SIDE - other / SIDE) + abs(one % SIDE - other % SIDE);
}

static void place_guard(struct position *position, int flag)
{
    for (int square = 0; square < SQUARES; square++) {
        int kind = position->kind[square];
        if (kind && !position->still[kind])
            position->guard[square] = guard_at[steps_between(flag, square)];
    }
}

/* What each known enemy may hunt: own pieces that it beats and that can be no bombs. */
static void place_menace(struct position *position)
{
    for (int hunter = 0; hunter < position->hunter_count; hunter++) {
        int there = position->hunters[hunter];
        for (int square = 0; square < SQUARES; square++) {
            int rank = position->mine[square];
            if (rank > BOMB && !position->fresh[square])
                position->menace[there] +=
                    position->mind->loss[rank][position->kind[there]] * menace_at[steps_between(there, square)];
        }
    }
}

/* `mind` must be fresh. */
void position_make(struct position *position, const struct game *game, const struct mind *mind)
{
    int flag = NOBODY, side = mind->side;
    if (guard_at[0] == 0)
        prepare_distances();
    memset(position->mine, 0, sizeof position->mine);
    memset(position->kind, 0, sizeof position->kind);
    memset(position->seen, 0, sizeof position->seen);
    memset(position->fresh, 0, sizeof position->fresh);
    memset(position->wary, 0, sizeof position->wary);
    memset(position->guard, 0, sizeof position->guard);
    memset(position->menace, 0, sizeof position->menace);
    memset(position->has_field, 0, sizeof position->has_field);
    memset(position->still, 0, sizeof position->still);
    position->game = game;
    position->mind = mind;
    position->side = side;
    position->hunter_count = 0;
    position->still[FLAG] = !game->rules->moves[FLAG];
    position->still[BOMB] = !game->rules->moves[BOMB];
    for (int piece = 0; piece < PIECES; piece++) {
        int square = game->square[piece];
        if (square == NOBODY)
            continue;
        if (side_of(piece) == side) {
            position->mine[square] = (uint8_t)game->rank[piece];
            position->seen[square] = game->known[piece];
            position->fresh[square] = !game->known[piece] && !game->moved[piece] && game->rank[piece] != FLAG;
            if (game->rank[piece] == FLAG)
                flag = square;
        } else if (game->known[piece]) {
            position->kind[square] = (uint8_t)game->rank[piece];
            if (!position->still[game->rank[piece]])
                position->hunters[position->hunter_count++] = (int8_t)square;
        } else {
            position->kind[square] = (uint8_t)(RANKS + piece % ARMY);
            position->still[RANKS + piece % ARMY] = !game->moved[piece];
        }
    }
    if (flag != NOBODY)
        place_guard(position, flag);
    place_menace(position);
    for (int rank = CAPTAIN; rank <= MARSHAL; rank++)
        position->wary[rank] = game->rules->fights[rank][BOMB] < 0;
    position->patience = fmaxf(LEAST_PATIENCE, 1 - (float)game->quiet / PATIENCE);
    position->caution = CAUTION * position->patience;
    for (int rank = FLAG; rank < RANKS; rank++) {
        float worth = mind->worth[rank];
        position->eager[rank] = CURIOSITY + EAGERNESS * (float)game->quiet * fmaxf(0, 1 - worth / EAGER_BELOW)
                                - HIDING * worth * position->patience;
    }
}

/* What an attack by an own piece of this rank brings, apart from where it happens. */
float position_plain_gain(const struct position *position, int rank, int kind)
{
    float gain = position->mind->payoff[rank][kind];
    if (kind < RANKS)
        return gain;
    return gain + position->eager[rank] - (position->still[kind] && rank >= MAJOR ? position->mind->dread : 0);
}

/* The same at this square. */
float position_gain(const struct position *position, int rank, int kind, int square)
{
    return position_plain_gain(position, rank, kind)
           + position->guard[square] * position->mind->wins[rank][kind];
}

/* What an own piece of this rank on this square loses if this kind attacks it, by how surely it does. */
float position_loss(const struct position *position, int square, int rank, int kind)
{
    return position->mind->loss[rank][kind] * (position->fresh[square] && position->wary[kind] ? DARING_SHARE : 1);
}

/* How much the danger of a piece counts. That it is not known does not protect a flag. */
float position_exposure(const struct position *position, int rank, bool seen)
{
    return rank == FLAG ? 1 : seen ? EXPOSED : position->caution;
}

/* What a piece of this rank has to lose on a square by the pieces beside it. */
float position_danger(const struct position *position, int square, int rank, bool seen)
{
    float most = 0;
    for (int index = 0; index < neighbour_count[square]; index++) {
        int kind = position->kind[neighbours[square][index]];
        if (kind)
            most = fmaxf(most, position_loss(position, square, rank, kind));
    }
    return most * position_exposure(position, rank, seen);
}

/* For each square, what the best target for this rank is worth from there. */
const float *position_field(struct position *position, int rank)
{
    float *field = position->field[rank];
    int8_t frontier[2][4 * SQUARES];
    int size = 0, now = 0;
    if (position->has_field[rank])
        return field;
    position->has_field[rank] = true;
    memset(field, 0, sizeof position->field[rank]);
    for (int square = 0; square < SQUARES; square++) {
        int kind = position->kind[square];
        float worth = kind ? position_gain(position, rank, kind, square) : 0;
        if (worth > 0) {
            field[square] = worth * (position->still[kind] ? 1 : MOVING_TARGET)
                            + position->menace[square] * position->mind->wins[rank][kind];
            frontier[now][size++] = (int8_t)square;
        }
    }
    while (size > 0) {
        int reached = 0;
        for (int place = 0; place < size; place++) {
            int square = frontier[now][place];
            float worth = field[square] * DECAY;
            for (int index = 0; index < neighbour_count[square]; index++) {
                int near = neighbours[square][index], own = position->mine[near];
                float there = own ? worth * IN_THE_WAY : worth;
                if (field[near] < there && !position->kind[near] && own != FLAG && own != BOMB
                    && reached < 4 * SQUARES) {
                    field[near] = there;
                    frontier[1 - now][reached++] = (int8_t)near;
                }
            }
        }
        size = reached;
        now = 1 - now;
    }
    return field;
}

/* What a piece of this rank pays for its first move, after which it can be no bomb: known enemies may hunt it. */
static float first_move_price(const struct position *position, int square, int rank)
{
    float most = 0;
    for (int hunter = 0; hunter < position->hunter_count; hunter++) {
        int there = position->hunters[hunter], kind = position->kind[there];
        if (position->wary[kind])
            most = fmaxf(most, position->mind->loss[rank][kind] * hunted_at[steps_between(there, square)]);
    }
    return FIRST_MOVE + most;
}

float position_score(struct position *position, struct action action)
{
    int rank = position->mine[action.from], kind = position->kind[action.to];
    bool seen = position->seen[action.from];
    float relief = RELIEF * position_danger(position, action.from, rank, seen);
    if (!position->game->moved[position->game->piece[action.from]])
        relief -= first_move_price(position, action.from, rank);
    if (kind)
        return relief + position_gain(position, rank, kind, action.to)
               - RECAPTURE * position->mind->wins[rank][kind] * position_danger(position, action.to, rank, true);
    const float *field = position_field(position, rank);
    return relief - position_danger(position, action.to, rank, seen) + field[action.to] - field[action.from];
}
