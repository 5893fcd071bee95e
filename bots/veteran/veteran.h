/*
 * Veteran: plays the game to its end in its head, many times, before it moves.
 *
 * The idea. What is hidden is guessed from behaviour (belief.c). Each legal action gets a score by itself (score.c), and
 * the best of these a small search where the sides touch (tactics.c). Then the few that are left are tried out: the
 * hidden ranks are filled in by random numbers that follow the belief, both sides go on with the actions that score best
 * in what each of them can know, and what each side has after some plies is compared (search.c). More time means
 * more such worlds. The Python bot `strategist` is its readable twin: the same belief, without worlds, and the
 * same scores but for what is hunted (score.c).
 *
 * Both players are treated alike everywhere: a `struct mind` is what one side believes of the other, and all that it is
 * made from is public. So the opponent's mind can be followed as well as one's own.
 */
#ifndef VETERAN_H
#define VETERAN_H

#include <stdbool.h>
#include <stdint.h>

enum rank {
    NO_RANK, FLAG, BOMB, SPY, SCOUT, MINER, SERGEANT, LIEUTENANT, CAPTAIN, MAJOR, COLONEL, GENERAL, MARSHAL, INFILTRATOR,
    RANKS
};

enum {
    SIDE = 10,
    SQUARES = 100,
    ARMY = 40,        /* the most pieces of a side */
    PIECES = 2 * ARMY, /* a piece is the number of its place in a set-up, own back row first; for blue ARMY more */
    NOBODY = -1,
    MOST_ACTIONS = 512, /* more than any position of forty pieces has; further ones are not thought about */
    KINDS = RANKS + ARMY /* a known rank, or RANKS + the number of an enemy piece that is not known */
};

enum sign { DARING, ABSTAINING, FLEEING, SIGNS }; /* what a piece may do towards one that it knows */

struct action {
    int8_t from, to;
};

/* What of the rules the bot thinks about. What it does not know of, such as rescues, is left to the list of legal actions. */
struct rules {
    int army[RANKS];
    int fights[RANKS][RANKS]; /* 1: the attacker is left, 0: neither, -1: the defender */
    bool moves[RANKS];        /* which ranks can move at all */
    int two_squares;          /* so often may a piece go over one border in a row; 0: as often as it likes */
    int quiet_plies, plies;   /* the game is drawn after so many; 0: never */
};

struct game {
    const struct rules *rules;
    int8_t piece[SQUARES];  /* NOBODY, or which piece is there */
    int8_t square[PIECES];  /* NOBODY if it has left the board or never was */
    int8_t rank[PIECES];    /* NO_RANK if the bot does not know it; in a world of a playout all are filled in */
    bool moved[PIECES];
    bool known[PIECES];     /* whether its opponent knows its rank */
    int8_t alive[2][RANKS]; /* pieces of each rank that are on the board, known or not: that is public */
    struct { int8_t piece, one, other, count; } run[2]; /* the border that a side goes over again and again */
    int side, ply, quiet;   /* who is to move, plies played, plies since the last attack */
};

/* What one side believes of the pieces of the other. */
struct mind {
    int side;
    float weight[ARMY][RANKS]; /* by piece of the enemy: what its place and its conduct say, before pieces are counted */
    float chance[ARMY][RANKS]; /* and after: the odds of its ranks */
    uint8_t signs[ARMY][SIGNS]; /* how often a piece has done what is a sign of its rank */
    float dread;               /* what else an attack by a high rank on a piece that has not moved costs in its eyes */
    bool is_stale;             /* `chance` and what follows from it must be worked out anew */
    float worth[RANKS], enemy_worth[RANKS];
    float payoff[RANKS][KINDS]; /* what an attack by a rank on a kind brings, on average */
    float wins[RANKS][KINDS];   /* how likely the attacker is left and the defender is not */
    float loss[RANKS][KINDS];   /* what a piece of this rank loses if that kind attacks it, on average */
};

/* All that is needed to score the actions of the side to move in one position. */
struct position {
    const struct game *game;
    const struct mind *mind;
    int side;
    uint8_t mine[SQUARES], kind[SQUARES]; /* own ranks and enemy kinds; 0: none. The search moves them */
    bool seen[SQUARES];                   /* whether the own piece there is known to the enemy */
    bool fresh[SQUARES];                  /* whether it has not moved either: for all that the enemy knows it may be a bomb */
    bool wary[KINDS];                     /* known enemies that would rather not run onto a bomb */
    int8_t hunters[ARMY];                 /* where known enemies are that can move */
    int hunter_count;
    bool still[KINDS];                    /* whether a kind has not moved or cannot */
    float eager[RANKS];                   /* what is added where an attack is on an unknown piece */
    float guard[SQUARES];                 /* what it is worth to remove an enemy there, for it is near the own flag */
    float menace[SQUARES];                /* what own pieces an enemy there may hunt: worth staying near it for */
    float field[RANKS][SQUARES];          /* what the best target is worth from a square, for each rank */
    bool has_field[RANKS];
    float caution, patience;
    int8_t zone[SQUARES]; /* where the sides may meet soon */
    int zone_size, budget;
};

struct random { uint64_t state; };

/* board.c */
extern int8_t neighbours[SQUARES][4];
extern int neighbour_count[SQUARES];
void board_prepare(void);
void rules_prepare(struct rules *rules, bool attacker_wins_ties, bool bombs_explode);
int row_of(int side, int square); /* 0: the side's own back row */
int side_of(int piece);
void game_clear(struct game *game, const struct rules *rules);
void game_place(struct game *game, int piece, int square, int rank);
void game_remove(struct game *game, int piece);
void game_move(struct game *game, int piece, int square);
void game_note_run(struct game *game, int piece, int from, int to); /* for the two-squares rule */
int game_actions(const struct game *game, struct action *actions);
/* Play an action in a game in which all ranks are there. True if the game is over; then *winner is a side or NOBODY. */
bool game_play(struct game *game, struct mind minds[2], struct action action, int *winner);

uint64_t random_next(struct random *random);
float random_unit(struct random *random); /* from 0 to below 1 */
int random_below(struct random *random, int limit);

/* belief.c */
void mind_clear(struct mind *mind, const struct game *game, int side);
void mind_note_start(struct mind *mind, int piece);
void mind_watch(struct mind *mind, const struct game *game, int from, int to);
void mind_exclude(struct mind *mind, int piece, int rank);
void mind_refresh(struct mind *mind, const struct game *game);
void worths(const struct game *game, int side, float worth[RANKS]);
void sample_world(const struct mind *mind, struct game *world, struct random *random);

/* score.c */
void position_make(struct position *position, const struct game *game, const struct mind *mind);
float position_score(struct position *position, struct action action);
float position_plain_gain(const struct position *position, int rank, int kind);
float position_gain(const struct position *position, int rank, int kind, int square);
float position_loss(const struct position *position, int square, int rank, int kind);
float position_exposure(const struct position *position, int rank, bool seen);
float position_danger(const struct position *position, int square, int rank, bool seen);
const float *position_field(struct position *position, int rank);

/* tactics.c */
void tactics_prepare(struct position *position);
float tactics_prospects(struct position *position, struct action action);

/* search.c */
/* The index of the action to play. `extra` is what each action brings besides, such as a piece that comes back. */
int search_choose(const struct game *game, const struct mind minds[2], const struct action *actions, const float *extra,
                  int count, double seconds, struct random *random, char *note, int note_size);
double now(void);

/* setup.c */
void setup_choose(const struct rules *rules, struct random *random, char rows[ARMY]);
extern const char rank_letters[RANKS + 1];
int rank_of(char letter);

#endif
