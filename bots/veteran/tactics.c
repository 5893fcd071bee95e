/*
 * A small alpha-beta search over captures and escapes where the two sides touch. It goes by averages: a hidden piece
 * stands for all that it may be, and an attack goes as is to be expected.
 */

#include "veteran.h"
#include "weights.h"
#include <math.h>
#include <string.h>

static const float ENDLESS = 1e9F;
enum { BUDGET = 1500 /* actions of ours that are looked at for one candidate */ };

static float ours(struct position *position, int depth, float low, float high);
static float theirs(struct position *position, int depth, float low, float high);

/* The squares where a fight may come up soon: those of pieces with an enemy near, and those beside them. */
void tactics_prepare(struct position *position)
{
    bool is_in[SQUARES] = {false};
    for (int square = 0; square < SQUARES; square++) {
        if (!position->mine[square] && !position->kind[square])
            continue;
        const uint8_t *there = position->mine[square] ? position->kind : position->mine;
        bool is_near = false;
        for (int index = 0; index < neighbour_count[square] && !is_near; index++) {
            int near = neighbours[square][index];
            is_near = there[near];
            for (int further = 0; further < neighbour_count[near] && !is_near; further++)
                is_near = there[neighbours[near][further]];
        }
        is_in[square] |= is_near;
        for (int index = 0; index < neighbour_count[square] && is_near; index++)
            is_in[neighbours[square][index]] = true;
    }
    position->zone_size = 0;
    for (int square = 0; square < SQUARES; square++)
        if (is_in[square])
            position->zone[position->zone_size++] = (int8_t)square;
}

static void shift(struct position *position, int from, int to)
{
    position->mine[to] = position->mine[from];
    position->mine[from] = 0;
    bool seen = position->seen[to];
    position->seen[to] = position->seen[from];
    position->seen[from] = seen;
}

/* What the own piece on a square loses if this kind attacks it; what is not known is not attacked so surely. */
static float lost(const struct position *position, int square, int kind)
{
    int rank = position->mine[square];
    return position_loss(position, square, rank, kind) * position_exposure(position, rank, position->seen[square]);
}

static float after_attack(struct position *position, int from, int to, int depth, float low, float high)
{
    int rank = position->mine[from], kind = position->kind[to];
    bool seen = position->seen[from], seen_there = position->seen[to];
    position->mine[from] = 0;
    if (position->mind->wins[rank][kind] >= 0.5F) {
        position->mine[to] = (uint8_t)rank;
        position->kind[to] = 0;
        position->seen[to] = true;
    }
    float value = theirs(position, depth, low, high);
    position->mine[from] = (uint8_t)rank;
    position->mine[to] = 0;
    position->kind[to] = (uint8_t)kind;
    position->seen[from] = seen;
    position->seen[to] = seen_there;
    return value;
}

/* The least that the opponent can hold us to: it takes a piece, saves one, or does something elsewhere. */
static float theirs(struct position *position, int depth, float low, float high)
{
    float best = depth ? ours(position, depth - 1, low, high) : 0;
    uint8_t *mine = position->mine, *kinds = position->kind;
    for (int place = 0; place < position->zone_size && best > low; place++) {
        int from = position->zone[place], kind = kinds[from];
        bool is_attacked = false;
        if (!kind || kind == FLAG || kind == BOMB)
            continue;
        for (int index = 0; index < neighbour_count[from]; index++) {
            int to = neighbours[from][index], rank = mine[to];
            if (!rank)
                continue;
            is_attacked |= position_plain_gain(position, rank, kind) > WORTHWHILE;
            float loss = lost(position, to, kind);
            if (loss <= 1)
                continue;
            if (!depth) {
                best = fminf(best, -loss * UNANSWERED);
                continue;
            }
            mine[to] = kinds[from] = 0;
            kinds[to] = (uint8_t)kind;
            best = fminf(best, ours(position, depth - 1, low + loss, high + loss) - loss);
            mine[to] = (uint8_t)rank;
            kinds[from] = (uint8_t)kind;
            kinds[to] = 0;
        }
        for (int index = 0; is_attacked && depth && index < neighbour_count[from]; index++) {
            int to = neighbours[from][index];
            if (mine[to] || kinds[to])
                continue;
            kinds[to] = (uint8_t)kind;
            kinds[from] = 0;
            best = fminf(best, ours(position, depth - 1, low, high));
            kinds[from] = (uint8_t)kind;
            kinds[to] = 0;
        }
    }
    return best;
}

/* The most that we can get where the sides touch, in the same way. */
static float ours(struct position *position, int depth, float low, float high)
{
    float best = depth ? theirs(position, depth - 1, low, high) : 0;
    uint8_t *mine = position->mine, *kinds = position->kind;
    for (int place = 0; place < position->zone_size && best < high; place++) {
        int from = position->zone[place], rank = mine[from];
        bool is_attacked = false;
        if (rank <= BOMB)
            continue;
        if (--position->budget < 0)
            break;
        for (int index = 0; index < neighbour_count[from]; index++) {
            int to = neighbours[from][index], kind = kinds[to];
            if (!kind)
                continue;
            is_attacked |= lost(position, from, kind) > 1;
            float won = position_plain_gain(position, rank, kind);
            if (won <= WORTHWHILE)
                continue;
            if (!depth)
                best = fmaxf(best, won * UNANSWERED);
            else
                best = fmaxf(best, won + after_attack(position, from, to, depth - 1, low - won, high - won));
        }
        for (int index = 0; is_attacked && depth && index < neighbour_count[from]; index++) {
            int to = neighbours[from][index];
            if (mine[to] || kinds[to])
                continue;
            shift(position, from, to);
            best = fmaxf(best, theirs(position, depth - 1, low, high));
            shift(position, to, from);
        }
    }
    return best;
}

/* What an action brings after the best play of both sides where they touch. */
float tactics_prospects(struct position *position, struct action action)
{
    int rank = position->mine[action.from], kind = position->kind[action.to];
    position->budget = BUDGET;
    if (kind)
        return position_gain(position, rank, kind, action.to)
               + after_attack(position, action.from, action.to, DEPTH, -ENDLESS, ENDLESS);
    const float *field = position_field(position, rank);
    float nearer = field[action.to] - field[action.from];
    shift(position, action.from, action.to);
    float value = nearer + theirs(position, DEPTH, -ENDLESS, ENDLESS);
    shift(position, action.to, action.from);
    return value;
}
