/*
 * Which action to play: the best few by score are tried out in worlds.
 *
 * In each world the hidden pieces have ranks that the belief makes likely. After the action both sides go on for some
 * plies with what scores best by what each of them knows there, in the first of them after the small search; then what
 * they have left is compared (a rollout: Tesauro and Galperin 1996). All candidates are tried in the same worlds with
 * the same random numbers, so that their differences say something early; one that is surely behind is dropped, and
 * with one left the bot need not go on thinking.
 */

#define _POSIX_C_SOURCE 200809L
#include "veteran.h"
#include "weights.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    HORIZON = 12,   /* plies of a playout; with more, mistakes of the way both sides are made to play weigh too much */
    CAREFUL = 6,    /* plies of it in which the small search chooses; in the others the score alone */
    FINALISTS = 6,  /* actions that are tried out */
    FIRST_LOOK = 16, LOOK_EVERY = 8 /* after so many worlds it is looked which are surely behind */
};
static const double REALISM = 0.5; /* what a playout counts beside the score: opponents play in other ways, too */
static const double SURELY = 2.5;  /* standard errors */
static const float DREAD = 8;      /* what a high rank of the opponent has against running onto a bomb in a world */
static const float NOISE = 0.1F;   /* less than any difference that matters */
static const double DECIDED = 200; /* what a game that ends in a playout is worth */

struct candidate {
    int index;
    float score;
    double sum;
    bool is_out;
};

struct trial {
    struct candidate list[CANDIDATES];
    int count, worlds;
    double difference[CANDIDATES][CANDIDATES], square[CANDIDATES][CANDIDATES];
};

double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* What a side has more than the other. */
static double material(const struct game *game, int side)
{
    float own[RANKS], enemy[RANKS];
    double sum = 0;
    worths(game, side, own);
    worths(game, 1 - side, enemy);
    for (int rank = BOMB; rank < RANKS; rank++)
        sum += game->alive[side][rank] * own[rank] - game->alive[1 - side][rank] * enemy[rank];
    return sum;
}

/* The action that scores best by itself, for the side to move. */
static struct action likely_action(const struct game *game, struct mind *mind, const struct action *actions, int count,
                                   struct random *random)
{
    struct position position;
    float most = 0;
    int best = NOBODY;
    mind_refresh(mind, game);
    position_make(&position, game, mind);
    for (int index = 0; index < count; index++) {
        float score = position_score(&position, actions[index]) + NOISE * random_unit(random);
        if (best == NOBODY || score > most) {
            best = index;
            most = score;
        }
    }
    return actions[best];
}

/* Put an action into a list that has the best ones, best first, if it is one of them. */
static void insert(struct trial *trial, int index, float score)
{
    int place = trial->count;
    if (place < CANDIDATES)
        trial->count++;
    else if (trial->list[--place].score >= score)
        return;
    for (; place > 0 && trial->list[place - 1].score < score; place--)
        trial->list[place] = trial->list[place - 1];
    trial->list[place] = (struct candidate){.index = index, .score = score};
}

/* The most promising actions, best first, after a look at what may follow. */
static void choose_candidates(struct trial *trial, const struct game *game, const struct mind *mind,
                              const struct action *actions, const float *extra, int count, struct random *random)
{
    struct position position;
    struct trial first = {0};
    position_make(&position, game, mind);
    for (int index = 0; index < count; index++)
        insert(&first, index,
               position_score(&position, actions[index]) + extra[index] + NOISE * random_unit(random));
    tactics_prepare(&position);
    for (int place = 0; place < first.count; place++)
        insert(trial, first.list[place].index,
               first.list[place].score + TRUST * tactics_prospects(&position, actions[first.list[place].index]));
}

/* The action that is best after a look at what may follow, for the side to move. */
static struct action careful_action(const struct game *game, struct mind *mind, const struct action *actions, int count,
                                    struct random *random)
{
    static const float nothing[MOST_ACTIONS];
    struct trial trial = {0};
    mind_refresh(mind, game);
    choose_candidates(&trial, game, mind, actions, nothing, count, random);
    return actions[trial.list[0].index];
}

/* What a side has gained when this action and some plies after it have been played. Changes all it is given. */
static double play_out(struct game *game, struct mind minds[2], struct action action, int side, struct random *random)
{
    struct action actions[MOST_ACTIONS];
    double before = material(game, side);
    int winner = NOBODY;
    bool is_over = game_play(game, minds, action, &winner);
    for (int ply = 1; ply < HORIZON && !is_over; ply++) {
        int count = game_actions(game, actions);
        if (count == 0) {
            winner = 1 - game->side;
            is_over = true;
        } else {
            struct mind *mind = &minds[game->side];
            struct action next = ply <= CAREFUL ? careful_action(game, mind, actions, count, random)
                                                : likely_action(game, mind, actions, count, random);
            is_over = game_play(game, minds, next, &winner);
        }
    }
    if (is_over && winner != NOBODY)
        return winner == side ? DECIDED : -DECIDED;
    return material(game, side) - before;
}

/* The value of a candidate: its score, and what its playouts gave on average, which counts for less. */
static double value(const struct trial *trial, int place)
{
    double mean = trial->worlds ? trial->list[place].sum / trial->worlds : 0;
    return trial->list[place].score + REALISM * mean;
}

static int best_place(const struct trial *trial)
{
    int best = NOBODY;
    for (int place = 0; place < trial->count; place++)
        if (!trial->list[place].is_out && (best == NOBODY || value(trial, place) > value(trial, best)))
            best = place;
    return best;
}

static void try_a_world(struct trial *trial, const struct game *game, const struct mind minds[2],
                        const struct action *actions, struct random *random)
{
    struct game world = *game;
    double gained[CANDIDATES];
    int side = game->side;
    sample_world(&minds[side], &world, random);
    uint64_t seed = random_next(random) | 1;
    for (int place = 0; place < trial->count; place++) {
        if (trial->list[place].is_out)
            continue;
        struct game game_there = world;
        struct mind minds_there[2] = {minds[0], minds[1]};
        minds_there[1 - side].dread = DREAD;
        struct random same = {seed};
        gained[place] = play_out(&game_there, minds_there, actions[trial->list[place].index], side, &same);
        trial->list[place].sum += gained[place];
    }
    trial->worlds++;
    for (int place = 0; place < trial->count; place++) {
        for (int other = 0; other < trial->count; other++) {
            if (trial->list[place].is_out || trial->list[other].is_out)
                continue;
            double difference = gained[place] - gained[other];
            trial->difference[place][other] += difference;
            trial->square[place][other] += difference * difference;
        }
    }
}

/* Drop what is surely behind the best. How many are left? */
static int drop_the_hopeless(struct trial *trial)
{
    int best = best_place(trial), left = 0;
    for (int place = 0; place < trial->count; place++) {
        if (trial->list[place].is_out)
            continue;
        double mean = trial->difference[best][place] / trial->worlds;
        double variance = fmax(0, trial->square[best][place] / trial->worlds - mean * mean);
        double ahead = value(trial, best) - value(trial, place);
        trial->list[place].is_out = place != best && ahead > SURELY * REALISM * sqrt((variance + 1) / trial->worlds);
        left += !trial->list[place].is_out;
    }
    return left;
}

int search_choose(const struct game *game, const struct mind minds[2], const struct action *actions, const float *extra,
                  int count, double seconds, struct random *random, char *note, int note_size)
{
    double deadline = now() + seconds;
    struct trial trial = {0};
    if (count == 1)
        return 0;
    choose_candidates(&trial, game, &minds[game->side], actions, extra, count, random);
    trial.count = trial.count < FINALISTS ? trial.count : FINALISTS;
    double longest = 0, begun = now();
    while (begun + 2 * longest < deadline) {
        try_a_world(&trial, game, minds, actions, random);
        if (trial.worlds >= FIRST_LOOK && trial.worlds % LOOK_EVERY == 0 && drop_the_hopeless(&trial) == 1)
            break;
        double ended = now();
        longest = fmax(longest, ended - begun);
        begun = ended;
    }
    int best = best_place(&trial);
    snprintf(note, (size_t)note_size, "%+.1f in %d worlds", value(&trial, best), trial.worlds);
    return trial.list[best].index;
}
