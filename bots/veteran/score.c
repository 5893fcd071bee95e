/*
 * What an action does by itself, before anything that the opponent may answer: what an attack brings on average, what
 * danger is left behind and entered, and how much nearer the best target comes.
 */

#include "veteran.h"
#include "weights.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void place_guard(struct position *position, int flag)
{
    static float by_distance[2 * SIDE];
    if (by_distance[0] == 0)
        for (int distance = 0; distance < 2 * SIDE; distance++)
            by_distance[distance] = GUARD * powf(GUARD_DECAY, (float)distance);
    for (int square = 0; square < SQUARES; square++) {
        int kind = position->kind[square];
        if (kind && !position->still[kind])
            position->guard[square] =
                by_distance[abs(flag / SIDE - square / SIDE) + abs(flag % SIDE - square % SIDE)];
    }
}

/* `mind` must be fresh. */
void position_make(struct position *position, const struct game *game, const struct mind *mind)
{
    int flag = NOBODY, side = mind->side;
    memset(position->mine, 0, sizeof position->mine);
    memset(position->kind, 0, sizeof position->kind);
    memset(position->seen, 0, sizeof position->seen);
    memset(position->guard, 0, sizeof position->guard);
    memset(position->has_field, 0, sizeof position->has_field);
    memset(position->still, 0, sizeof position->still);
    position->game = game;
    position->mind = mind;
    position->side = side;
    position->still[FLAG] = !game->rules->moves[FLAG];
    position->still[BOMB] = !game->rules->moves[BOMB];
    for (int piece = 0; piece < PIECES; piece++) {
        int square = game->square[piece];
        if (square == NOBODY)
            continue;
        if (side_of(piece) == side) {
            position->mine[square] = (uint8_t)game->rank[piece];
            position->seen[square] = game->known[piece];
            if (game->rank[piece] == FLAG)
                flag = square;
        } else if (game->known[piece]) {
            position->kind[square] = (uint8_t)game->rank[piece];
        } else {
            position->kind[square] = (uint8_t)(RANKS + piece % ARMY);
            position->still[RANKS + piece % ARMY] = !game->moved[piece];
        }
    }
    if (flag != NOBODY)
        place_guard(position, flag);
    position->patience = fmaxf(LEAST_PATIENCE, 1 - (float)game->quiet / PATIENCE);
    position->caution = CAUTION * position->patience;
    for (int rank = FLAG; rank < RANKS; rank++) {
        float worth = mind->worth[rank];
        position->eager[rank] = CURIOSITY + EAGERNESS * (float)game->quiet * fmaxf(0, 1 - worth / EAGER_BELOW)
                                - HIDING * worth * position->patience;
    }
}

/* What an own piece of this rank gets by an attack on this kind, at this square. */
float position_gain(const struct position *position, int rank, int kind, int square)
{
    return position->mind->payoff[rank][kind] + (kind >= RANKS ? position->eager[rank] : 0)
           + position->guard[square] * position->mind->wins[rank][kind];
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
        if (kind && position->mind->loss[rank][kind] > most)
            most = position->mind->loss[rank][kind];
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
            field[square] = worth * (position->still[kind] ? 1 : MOVING_TARGET);
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

float position_score(struct position *position, struct action action)
{
    int rank = position->mine[action.from], kind = position->kind[action.to];
    bool seen = position->seen[action.from];
    float relief = RELIEF * position_danger(position, action.from, rank, seen);
    if (!position->game->moved[position->game->piece[action.from]])
        relief -= FIRST_MOVE;
    if (kind)
        return relief + position_gain(position, rank, kind, action.to)
               - RECAPTURE * position->mind->wins[rank][kind] * position_danger(position, action.to, rank, true);
    const float *field = position_field(position, rank);
    return relief - position_danger(position, action.to, rank, seen) + field[action.to] - field[action.from];
}
