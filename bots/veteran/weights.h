/* What the bot's judgement is made of. All were tuned together, by letting slightly different ones play one another. */
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

/* Danger. */
static const float CAUTION = 0.85F; /* how surely the enemy attacks what it does not know */
static const float EXPOSED = 1.35F; /* what the danger of a known piece counts: others come for it, too */
static const float RELIEF = 0.859F; /* what leaving a place in danger counts */
static const float RECAPTURE = 2.3F; /* what the danger on the square of an attack counts */
static const float PATIENCE = 183.0F; /* so many plies without an attack, and caution ends */
static const float LEAST_PATIENCE = 0.2F;
static const float GUARD = 67.8F; /* what it is worth to remove an enemy that stands beside the own flag */
static const float GUARD_DECAY = 0.407F; /* how much less with each step away from it */

/* What the conduct of a piece says: by how much its odds are multiplied. */
static const float DARES = 8.0F; /* for ranks that beat a known piece, when it comes to stand beside that piece */
static const float ABSTAINS = 0.479F; /* the same, when it stands there already and does not attack */
static const float FLEES = 0.253F; /* the same, when it leaves that place */
static const float FEARS = 4.46F; /* for ranks that lose against the piece that it leaves */
static const float WALLED = 2.5F; /* for the flag, of a piece that has not moved: for each bomb that was seen beside its place */
static const float OPEN = 0.2F; /* the same for each piece there that is no bomb */
static const float STAYS = 0.337F; /* by how much a bomb gets likelier in a hundred plies, of a piece that has not moved */

/* The search. */
static const float TRUST = 1.76F; /* how much the small search counts beside the score of an action by itself */
static const float WORTHWHILE = 0.948F; /* what a capture must bring for the small search to look at it */
static const float UNANSWERED = 0.8F; /* what a capture counts at its last ply, where nobody looks at the answer */
enum { CANDIDATES = 8, DEPTH = 3 };

#endif
