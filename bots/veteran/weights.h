/*
 * What the bot's judgement is made of. What things are worth was tuned, all together, by letting slightly different ones
 * play one another; what conduct says was fitted to the ranks of pieces in stored games.
 */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "veteran.h"

/* What a piece is worth by rank, from the flag on; of sergeants and above while the enemy has all that is above them. */
static const float VALUE[RANKS] = {0.0F, 96.8F, 27.3F, 37.9F, 1.49F, 22.8F, 5.68F, 9.82F, 10.4F, 10.9F, 17.4F, 31.3F, 89.4F, 10.0F};
static const float LAST_MINERS[5] = {22.8F, 50.6F, 25.9F, 23.4F, 16.1F}; /* a miner, by how many there are; with five or more the first */
static const float SPY_WITHOUT_MARSHAL = 2.65F;

/* An attack on a piece that is not known. */
static const float CURIOSITY = 0.769F; /* what learning a rank is worth */
static const float EAGERNESS = 0.0544F; /* by how much that grows with each ply without an attack, for cheap pieces */
static const float EAGER_BELOW = 21.0F; /* the worth from which on it does not grow */
static const float HIDING = 0.0466F; /* what keeping a rank hidden is worth, by the worth of the piece */

/* Targets that are further off. */
static const float DECAY = 0.733F; /* how much less a target is worth with each step on the way to it */
static const float MOVING_TARGET = 0.277F; /* the same for a target that can run away */
static const float IN_THE_WAY = 0.4F; /* the same for a square with an own piece on it */
static const float FIRST_MOVE = 0.275F; /* the price of moving a piece for the first time: it cannot be a bomb any more */
static const float HUNTED = 0.3F; /* and where a known enemy that beats it stands beside it, as a share of its worth */
static const float HUNTED_DECAY = 0.63F; /* how much less of that with each step between them (of several enemies the worst counts) */
static const float HUNTED_LEAST = 0.05F; /* but never less than this */

/* Danger. */
static const float CAUTION = 0.85F; /* how surely the enemy attacks what it does not know */
static const float EXPOSED = 1.35F; /* what the danger of a known piece counts: others come for it, too */
static const float RELIEF = 0.859F; /* what leaving a place in danger counts */
static const float DARING_SHARE = 0.3F; /* what the danger counts of a piece that may be a bomb for all that the enemy knows */
static const float MENACE = 0.4F; /* what a known enemy is worth staying near, by the worth of the pieces that it may hunt */
static const float MENACE_DECAY = 0.65F; /* how much less with each step between it and them */
static const float RECAPTURE = 2.3F; /* what the danger on the square of an attack counts */
static const float PATIENCE = 183.0F; /* so many plies without an attack, and caution ends */
static const float LEAST_PATIENCE = 0.2F;
static const float GUARD = 67.8F; /* what it is worth to remove an enemy that stands beside the own flag */
static const float GUARD_DECAY = 0.407F; /* how much less with each step away from it */

/*
 * What the conduct of a piece says of its rank: if it has done this towards a known piece n times, its odds are multiplied
 * by n + 1 to this power, for ranks that beat that piece and for ranks that lose to it. It comes to stand beside it; it
 * stands there already and does not attack; it leaves that place.
 */
static const float BEATS[SIGNS] = {[DARING] = 0.62F, [ABSTAINING] = -0.36F, [FLEEING] = -0.74F};
static const float LOSES[SIGNS] = {[DARING] = -1.09F, [ABSTAINING] = -0.09F, [FLEEING] = 0.69F};
/* By what the odds of flag and bomb are multiplied, of a piece that has not moved, for what was seen beside its place: */
static const float FLAG_BY_BOMB = 2.7F, BOMB_BY_BOMB = 0.44F;    /* for each bomb */
static const float FLAG_BY_OTHER = 0.35F, BOMB_BY_OTHER = 1.34F; /* for each piece that is none */

/* The search. */
static const float TRUST = 1.76F; /* how much the small search counts beside the score of an action by itself */
static const float WORTHWHILE = 0.948F; /* what a capture must bring for the small search to look at it */
static const float UNANSWERED = 0.8F; /* what a capture counts at its last ply, where nobody looks at the answer */
enum { CANDIDATES = 8, DEPTH = 3 };

#endif
