/* What the bot's judgement is made of. All were tuned together, by letting slightly different ones play one another. */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "veteran.h"

/* What a piece is worth by rank, from the flag on; of sergeants and above while the enemy has all that is above them. */
static const float VALUE[RANKS] = {0.0F, 150.0F, 27.6F, 15.4F, 1.86F, 17.7F, 8.69F, 10.5F, 12.8F, 10.5F, 22.9F, 30.7F, 55.8F, 10.0F};
static const float LAST_MINERS[5] = {17.7F, 28.2F, 24.7F, 27.8F, 26.5F}; /* a miner, by how many there are; with five or more the first */
static const float SPY_WITHOUT_MARSHAL = 2.64F;

/* An attack on a piece that is not known. */
static const float CURIOSITY = 0.981F;   /* what learning a rank is worth */
static const float EAGERNESS = 0.0461F;       /* by how much that grows with each ply without an attack, for cheap pieces */
static const float EAGER_BELOW = 29.0F;  /* the worth from which on it does not grow */
static const float HIDING = 0.0624F;           /* what keeping a rank hidden is worth, by the worth of the piece */

/* Targets that are further off. */
static const float DECAY = 0.758F;           /* how much less a target is worth with each step on the way to it */
static const float MOVING_TARGET = 0.371F;  /* the same for a target that can run away */
static const float IN_THE_WAY = 0.372F;      /* the same for a square with an own piece on it */
static const float FIRST_MOVE = 0.427F;         /* the price of moving a piece for the first time: it cannot be a bomb any more */

/* Danger. */
static const float CAUTION = 0.846F;       /* how surely the enemy attacks what it does not know */
static const float RELIEF = 0.856F;         /* what leaving a place in danger counts */
static const float RECAPTURE = 1.81F;   /* what the danger on the square of an attack counts */
static const float PATIENCE = 85.3F;     /* so many plies without an attack, and caution ends */
static const float LEAST_PATIENCE = 0.2F;
static const float GUARD = 63.9F;           /* what it is worth to remove an enemy that stands beside the own flag */
static const float GUARD_DECAY = 0.375F;    /* how much less with each step away from it */

/* What the conduct of a piece says: by how much its odds are multiplied. */
static const float DARES = 5.06F;      /* for ranks that beat a known piece, when it comes to stand beside that piece */
static const float ABSTAINS = 0.899F; /* the same, when it stands there already and does not attack */
static const float FLEES = 0.577F;     /* the same, when it leaves that place */
static const float FEARS = 3.51F;    /* for ranks that lose against the piece that it leaves */
static const float STAYS = 0.504F;       /* by how much a bomb gets likelier in a hundred plies, of a piece that has not moved */

/* The search. */
static const float TRUST = 1.06F;           /* how much the small search counts beside the score of an action by itself */
static const float WORTHWHILE = 1.34F; /* what a capture must bring for the small search to look at it */
static const float UNANSWERED = 0.52F;   /* what a capture counts at its last ply, where nobody looks at the answer */
enum { CANDIDATES = 8, DEPTH = 3 };

#endif
