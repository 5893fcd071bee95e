/*
 * What a side believes of the pieces it does not know.
 *
 * A weight for each piece and rank comes from where the piece stood at first and from its conduct: whether it dares to
 * come near pieces that it must know to be strong, leaves them, or lets weak ones stand. As a rank is had by as many
 * pieces as there are, the weights are then fitted to the counts: scaled by turns so that each piece has one rank and
 * each rank its pieces (Sinkhorn and Knopp 1967).
 */

#include "veteran.h"
#include "weights.h"
#include <math.h>
#include <string.h>

/* How likely a rank stands on each row of a set-up, own back row first, beside other ranks on that row. */
static const float PLACED[RANKS][4] = {
    [FLAG] = {0.79F, 0.05F, 0.01F, 0.01F},       [BOMB] = {0.53F, 0.33F, 0.16F, 0.09F},
    [SPY] = {0.11F, 0.76F, 0.17F, 0.08F},        [SCOUT] = {0.29F, 0.25F, 0.33F, 0.47F},
    [MINER] = {0.83F, 0.14F, 0.11F, 0.09F},      [SERGEANT] = {0.20F, 0.51F, 0.24F, 0.23F},
    [LIEUTENANT] = {0.07F, 0.33F, 0.41F, 0.41F}, [CAPTAIN] = {0.05F, 0.18F, 0.40F, 0.55F},
    [MAJOR] = {0.07F, 0.36F, 0.41F, 0.27F},      [COLONEL] = {0.10F, 0.22F, 0.38F, 0.37F},
    [GENERAL] = {0.15F, 0.16F, 0.50F, 0.22F},    [MARSHAL] = {0.11F, 0.13F, 0.35F, 0.37F},
    [INFILTRATOR] = {0.25F, 0.25F, 0.25F, 0.25F},
};
/* How often a piece of a rank moves for the first time, beside others. */
static const float STARTS[RANKS] = {
    [SPY] = 0.89F,  [SCOUT] = 0.51F, [MINER] = 0.72F,  [SERGEANT] = 0.71F, [LIEUTENANT] = 1.1F, [CAPTAIN] = 1.6F,
    [MAJOR] = 1.5F, [COLONEL] = 1.5F, [GENERAL] = 1.5F, [MARSHAL] = 1.8F,  [INFILTRATOR] = 1,
};
static const float FLAG_ROWS[4] = {5, 0.24F, 0.06F, 0.06F};
static const float LEAST = 1e-6F; /* so that no rank is impossible that the rules allow */
enum { ROUNDS = 3, MOST_SIGNS = 100 };

void mind_clear(struct mind *mind, const struct game *game, int side)
{
    memset(mind, 0, sizeof *mind);
    mind->side = side;
    mind->is_stale = true;
    for (int index = 0; index < ARMY; index++) {
        int square = game->square[(1 - side) * ARMY + index];
        if (square == NOBODY)
            continue;
        int row = row_of(1 - side, square);
        for (int rank = FLAG; rank < RANKS; rank++)
            mind->weight[index][rank] = 4 * PLACED[rank][row < 4 ? row : 3];
    }
}

/* A piece has done towards an own one what is a sign of its rank. The same once more says less each time. */
static void note_sign(struct mind *mind, const struct game *game, int piece, int own, enum sign sign)
{
    float *weight = mind->weight[piece % ARMY];
    float times = mind->signs[piece % ARMY][sign];
    if (times == MOST_SIGNS)
        return;
    mind->signs[piece % ARMY][sign]++;
    float beats = powf((times + 2) / (times + 1), BEATS[sign]), loses = powf((times + 2) / (times + 1), LOSES[sign]);
    for (int rank = BOMB + 1; rank < RANKS; rank++) {
        int outcome = game->rules->fights[rank][own];
        weight[rank] *= outcome > 0 ? beats : outcome < 0 ? loses : 1;
    }
    mind->is_stale = true;
}

static bool is_beside(int square, int other)
{
    for (int index = 0; index < neighbour_count[square]; index++)
        if (neighbours[square][index] == other)
            return true;
    return false;
}

/* An enemy piece that has not moved before moves. */
void mind_note_start(struct mind *mind, int piece)
{
    for (int rank = SPY; rank < RANKS; rank++)
        mind->weight[piece % ARMY][rank] *= STARTS[rank];
    mind->is_stale = true;
}

/* The enemy has gone from a square to another; NOBODY if what went is not on the board any more. */
void mind_watch(struct mind *mind, const struct game *game, int from, int to)
{
    int actor = to == NOBODY ? NOBODY : game->piece[to];
    if (actor != NOBODY && !game->known[actor]) {
        for (int index = 0; index < neighbour_count[from]; index++) {
            int own = game->piece[neighbours[from][index]];
            if (own != NOBODY && side_of(own) == mind->side && game->known[own] && game->rank[own] > BOMB
                && !is_beside(to, neighbours[from][index]))
                note_sign(mind, game, actor, game->rank[own], FLEEING);
        }
    }
    for (int own = mind->side * ARMY; own < (mind->side + 1) * ARMY; own++) {
        int square = game->square[own];
        if (square == NOBODY || !game->known[own])
            continue;
        for (int index = 0; index < neighbour_count[square]; index++) {
            int other = game->piece[neighbours[square][index]];
            if (other != NOBODY && side_of(other) != mind->side && !game->known[other])
                note_sign(mind, game, other, game->rank[own], other == actor ? DARING : ABSTAINING);
        }
    }
}

void mind_exclude(struct mind *mind, int piece, int rank)
{
    mind->weight[piece % ARMY][rank] = 0;
    mind->is_stale = true;
}

/* What each rank of a side is worth: of the higher ones, by how many ranks the other side has left above it. */
void worths(const struct game *game, int side, float worth[RANKS])
{
    const int8_t *own = game->alive[side], *enemy = game->alive[1 - side];
    int above = 0;
    memcpy(worth, VALUE, sizeof VALUE);
    for (int rank = MARSHAL; rank >= SERGEANT; rank--) {
        worth[rank] = VALUE[rank > MARSHAL - above ? rank : MARSHAL - above];
        above += enemy[rank] > 0;
    }
    if (!enemy[MARSHAL])
        worth[SPY] = SPY_WITHOUT_MARSHAL;
    worth[MINER] = LAST_MINERS[own[MINER] < 5 ? own[MINER] : 0];
}

static int hidden_pieces(const struct mind *mind, const struct game *game, int pieces[ARMY], int counts[RANKS])
{
    int count = 0, enemy = 1 - mind->side;
    for (int rank = 0; rank < RANKS; rank++)
        counts[rank] = game->alive[enemy][rank];
    for (int piece = enemy * ARMY; piece < (enemy + 1) * ARMY; piece++) {
        if (game->square[piece] == NOBODY)
            continue;
        if (game->known[piece])
            counts[game->rank[piece]]--;
        else
            pieces[count++] = piece;
    }
    return count;
}

/*
 * A flag hides among bombs: by how much the pieces that stood beside a place at first change the odds there, for each bomb
 * and for each that has turned out to be none, whatever has become of them since.
 */
static float beside_home(const struct game *game, int piece, float by_bomb, float by_other)
{
    int home = piece % ARMY, first = piece - home;
    float factor = 1;
    for (int index = 0; index < neighbour_count[home]; index++) {
        int other = first + neighbours[home][index];
        if (neighbours[home][index] >= ARMY)
            continue;
        if (game->known[other] && game->rank[other] == BOMB)
            factor *= by_bomb;
        else if (game->known[other] || game->moved[other])
            factor *= by_other;
    }
    return factor;
}

static void to_one(float row[RANKS])
{
    float sum = 0;
    for (int rank = 0; rank < RANKS; rank++)
        sum += row[rank];
    for (int rank = 0; sum > 0 && rank < RANKS; rank++)
        row[rank] /= sum;
}

static void fit(struct mind *mind, const struct game *game)
{
    int pieces[ARMY], counts[RANKS], count = hidden_pieces(mind, game, pieces, counts);
    for (int index = 0; index < count; index++) {
        int piece = pieces[index];
        const float *weight = mind->weight[piece % ARMY];
        float *row = mind->chance[piece % ARMY];
        for (int rank = 0; rank < RANKS; rank++) {
            bool may = counts[rank] > 0 && (!game->moved[piece] || game->rules->moves[rank]);
            float value = weight[rank];
            if (rank == FLAG && !game->moved[piece] && value > 0)
                value = FLAG_ROWS[piece % ARMY / SIDE] * beside_home(game, piece, FLAG_BY_BOMB, FLAG_BY_OTHER);
            if (rank == BOMB && !game->moved[piece])
                value *= beside_home(game, piece, BOMB_BY_BOMB, BOMB_BY_OTHER);
            row[rank] = may ? (value + LEAST) * (float)counts[rank] : 0;
        }
    }
    for (int round = 0; round < ROUNDS; round++) {
        float sums[RANKS] = {0};
        for (int index = 0; index < count; index++) {
            to_one(mind->chance[pieces[index] % ARMY]);
            for (int rank = 0; rank < RANKS; rank++)
                sums[rank] += mind->chance[pieces[index] % ARMY][rank];
        }
        for (int rank = 0; rank < RANKS; rank++)
            for (int index = 0; sums[rank] > 0 && index < count; index++)
                mind->chance[pieces[index] % ARMY][rank] *= (float)counts[rank] / sums[rank];
    }
    for (int index = 0; index < count; index++)
        to_one(mind->chance[pieces[index] % ARMY]);
}

/* Work out the chances, and from them what attacks bring, if anything has changed that they follow from. */
void mind_refresh(struct mind *mind, const struct game *game)
{
    if (!mind->is_stale)
        return;
    mind->is_stale = false;
    fit(mind, game);
    worths(game, mind->side, mind->worth);
    worths(game, 1 - mind->side, mind->enemy_worth);
    for (int rank = FLAG; rank < RANKS; rank++) {
        const int *fights = game->rules->fights[rank];
        if (!game->alive[mind->side][rank])
            continue;
        for (int other = FLAG; other < RANKS; other++) {
            mind->payoff[rank][other] =
                (fights[other] >= 0 ? mind->enemy_worth[other] : 0) - (fights[other] <= 0 ? mind->worth[rank] : 0);
            mind->wins[rank][other] = fights[other] > 0;
            mind->loss[rank][other] = other > BOMB && game->rules->fights[other][rank] > 0 ? mind->worth[rank] : 0;
        }
        for (int index = 0; index < ARMY; index++) {
            int piece = (1 - mind->side) * ARMY + index;
            if (game->square[piece] == NOBODY || game->known[piece])
                continue;
            float payoff = 0, wins = 0, loss = 0;
            for (int other = FLAG; other < RANKS; other++) {
                float chance = mind->chance[index][other];
                payoff += chance * mind->payoff[rank][other];
                wins += chance * mind->wins[rank][other];
                loss += chance * mind->loss[rank][other];
            }
            mind->payoff[rank][RANKS + index] = payoff;
            mind->wins[rank][RANKS + index] = wins;
            mind->loss[rank][RANKS + index] = loss;
        }
    }
}

static int draw(const float weights[], int count, struct random *random)
{
    float sum = 0;
    int chosen = NOBODY;
    for (int index = 0; index < count; index++)
        sum += weights[index];
    sum *= random_unit(random);
    for (int index = 0; index < count; index++) {
        if (weights[index] <= 0)
            continue;
        chosen = index;
        sum -= weights[index];
        if (sum < 0)
            break;
    }
    return chosen;
}

/* Give each hidden piece of the enemy a rank: flag and bombs first, as fewest pieces may be those, then piece by piece. */
void sample_world(const struct mind *mind, struct game *world, struct random *random)
{
    int pieces[ARMY], counts[RANKS], left[RANKS], count = hidden_pieces(mind, world, pieces, counts);
    for (int index = 0; index < count; index++)
        world->rank[pieces[index]] = NO_RANK;
    memcpy(left, counts, sizeof left);
    for (int rank = FLAG; rank <= BOMB; rank++) {
        for (; left[rank] > 0; left[rank]--) {
            float weights[ARMY];
            for (int index = 0; index < count; index++) {
                int piece = pieces[index];
                bool may = !world->rank[piece] && (!world->moved[piece] || world->rules->moves[rank]);
                weights[index] = may ? mind->chance[piece % ARMY][rank] + LEAST : 0;
            }
            int chosen = draw(weights, count, random);
            if (chosen == NOBODY)
                break;
            world->rank[pieces[chosen]] = (int8_t)rank;
        }
    }
    for (int last = count; last > 0; last--) {
        int place = random_below(random, last), piece = pieces[place];
        pieces[place] = pieces[last - 1];
        if (world->rank[piece])
            continue;
        float weights[RANKS] = {0};
        for (int rank = SPY; rank < RANKS; rank++)
            if (left[rank] > 0)
                weights[rank] = (mind->chance[piece % ARMY][rank] + LEAST) * (float)left[rank] / (float)counts[rank];
        int rank = draw(weights, RANKS, random);
        world->rank[piece] = (int8_t)(rank == NOBODY ? SCOUT : rank);
        if (rank != NOBODY)
            left[rank]--;
    }
}
