/* Set-ups: a few sound ones, mirrored and with neighbours of like strength exchanged; for other armies, by what each rank likes. */

#include "veteran.h"
#include <stdlib.h>
#include <string.h>

const char rank_letters[RANKS + 1] = ".FBS23456789MI";

/* Own back row first. */
static const char *const SETUPS[] = {
    "3BFB323B32" "45B427B4S5" "2658329627" "62M546B827", "FB3B42323B" "B43425SB35" "24856297B7" "62M7285626",
    "3233BFB3B4" "25B4BS4B52" "8572M76329" "6265248672", "23B3B3BFB3" "542B45SB42" "7285M92746" "2663728562",
    "3FB3243B2B" "B5B24S73B5" "72M8542692" "6228457636",
};
enum { EXCHANGES = 60 };
static const float SOUND_ONES = 0.7F; /* how often one of these, where the army is the usual one */

/* How much a rank likes each row, own back row first. */
static const float LIKING[RANKS][4] = {
    [FLAG] = {9, 0, -9, -9},      [BOMB] = {0, 1, 2, 1},     [SPY] = {1, 3, 2, -3},      [SCOUT] = {1, 1, 1, 3},
    [MINER] = {3, 2, 0, -3},      [SERGEANT] = {1, 2, 2, 2}, [LIEUTENANT] = {0, 1, 2, 3}, [CAPTAIN] = {-1, 1, 2, 3},
    [MAJOR] = {-2, 1, 3, 2},      [COLONEL] = {-3, 1, 3, 1}, [GENERAL] = {-4, 2, 3, 1},  [MARSHAL] = {-4, 2, 3, 1},
    [INFILTRATOR] = {0, 0, 1, 2},
};

int rank_of(char letter)
{
    const char *found = letter ? strchr(rank_letters, letter) : NULL;
    return found ? (int)(found - rank_letters) : NO_RANK;
}

static bool is_the_army(const char *rows, const int army[RANKS])
{
    int counts[RANKS] = {0};
    for (int square = 0; square < ARMY; square++)
        counts[rank_of(rows[square])]++;
    return counts[NO_RANK] == 0 && memcmp(counts + 1, army + 1, sizeof counts - sizeof counts[0]) == 0;
}

/* Whether two pieces may stand for one another: one rank apart, miners apart from what is meant to stay away. */
static bool are_alike(char one, char other)
{
    static const char *const ALIKE[] = {"24", "45", "56", "67", "78", "89", "9M"};
    for (size_t pair = 0; pair < sizeof ALIKE / sizeof ALIKE[0]; pair++)
        if ((one == ALIKE[pair][0] && other == ALIKE[pair][1]) || (one == ALIKE[pair][1] && other == ALIKE[pair][0]))
            return true;
    return false;
}

static void sound_setup(struct random *random, char rows[ARMY])
{
    const char *chosen = SETUPS[random_below(random, sizeof SETUPS / sizeof SETUPS[0])];
    bool is_mirrored = random_below(random, 2);
    for (int square = 0; square < ARMY; square++)
        rows[square] = chosen[is_mirrored ? square / SIDE * SIDE + SIDE - 1 - square % SIDE : square];
    for (int exchange = 0; exchange < EXCHANGES; exchange++) {
        int one = random_below(random, ARMY), other = random_below(random, ARMY);
        if (abs(one / SIDE - other / SIDE) <= 1 && are_alike(rows[one], rows[other])) {
            char letter = rows[one];
            rows[one] = rows[other];
            rows[other] = letter;
        }
    }
}

/* The flag at the back, bombs around it, then rank by rank on the rows each likes, with some chance. */
static void liked_setup(const struct rules *rules, struct random *random, char rows[ARMY])
{
    int flag = 0;
    memset(rows, rank_letters[NO_RANK], ARMY);
    for (int rank = FLAG; rank < RANKS; rank++) {
        for (int piece = 0; piece < rules->army[rank]; piece++) {
            int best = NOBODY;
            float most = 0;
            for (int square = 0; square < ARMY; square++) {
                if (rows[square] != rank_letters[NO_RANK])
                    continue;
                bool is_beside = abs(square / SIDE - flag / SIDE) + abs(square % SIDE - flag % SIDE) == 1;
                float liking = LIKING[rank][square / SIDE] + (rank == BOMB && is_beside ? 6 : 0) + 3 * random_unit(random);
                if (best == NOBODY || liking > most) {
                    best = square;
                    most = liking;
                }
            }
            if (best == NOBODY)
                return;
            rows[best] = rank_letters[rank];
            if (rank == FLAG)
                flag = best;
        }
    }
}

void setup_choose(const struct rules *rules, struct random *random, char rows[ARMY])
{
    if (is_the_army(SETUPS[0], rules->army) && random_unit(random) < SOUND_ONES)
        sound_setup(random, rows);
    else
        liked_setup(rules, random, rows);
}
