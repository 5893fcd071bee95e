/* What the bot's judgement is made of. All were tuned together, by letting slightly different ones play one another. */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "veteran.h"

/* What a piece is worth by rank, from the flag on; of sergeants and above while the enemy has all that is above them. */
static const float VALUE[RANKS] = {0.0F, 120.0F, 25.2F, 27.5F, 2.04F, 20.7F, 8.0F, 11.0F, 12.5F, 11.6F, 20.6F, 31.4F, 58.8F, 10.0F};
static const float LAST_MINERS[5] = {20.7F, 39.3F, 26.5F, 22.8F, 20.7F}; /* a miner, by how many there are; with five or more the first */
static const float SPY_WITHOUT_MARSHAL = 2.42F;

/* An attack on a piece that is not known. */
static const float CURIOSITY = 0.623F; /* what learning a rank is worth */
static const float EAGERNESS = 0.0616F; /* by how much that grows with each ply without an attack, for cheap pieces */
static const float EAGER_BELOW = 22.2F; /* the worth from which on it does not grow */
static const float HIDING = 0.0602F; /* what keeping a rank hidden is worth, by the worth of the piece */

/* Targets that are further off. */
static const float DECAY = 0.759F; /* how much less a target is worth with each step on the way to it */
static const float MOVING_TARGET = 0.43F; /* the same for a target that can run away */
static const float IN_THE_WAY = 0.367F; /* the same for a square with an own piece on it */
static const float FIRST_MOVE = 0.319F; /* the price of moving a piece for the first time: it cannot be a bomb any more */

/* Danger. */
static const float CAUTION = 0.862F; /* how surely the enemy attacks what it does not know */
static const float RELIEF = 0.801F; /* what leaving a place in danger counts */
static const float RECAPTURE = 1.43F; /* what the danger on the square of an attack counts */
static const float PATIENCE = 100.0F; /* so many plies without an attack, and caution ends */
static const float LEAST_PATIENCE = 0.2F;
static const float GUARD = 88.5F; /* what it is worth to remove an enemy that stands beside the own flag */
static const float GUARD_DECAY = 0.337F; /* how much less with each step away from it */

/* What the conduct of a piece says: by how much its odds are multiplied. */
static const float DARES = 7.07F; /* for ranks that beat a known piece, when it comes to stand beside that piece */
static const float ABSTAINS = 0.654F; /* the same, when it stands there already and does not attack */
static const float FLEES = 0.481F; /* the same, when it leaves that place */
static const float FEARS = 3.92F; /* for ranks that lose against the piece that it leaves */
static const float WALLED = 2.5F; /* for the flag, of a piece that has not moved: for each bomb that was seen beside its place */
static const float OPEN = 0.2F; /* the same for each piece there that is no bomb */
static const float STAYS = 0.512F; /* by how much a bomb gets likelier in a hundred plies, of a piece that has not moved */

/* The search. */
static const float TRUST = 1.33F; /* how much the small search counts beside the score of an action by itself */
static const float WORTHWHILE = 0.817F; /* what a capture must bring for the small search to look at it */
static const float UNANSWERED = 0.392F; /* what a capture counts at its last ply, where nobody looks at the answer */
enum { CANDIDATES = 8, DEPTH = 3 };

#endif
