/* What the bot has been told of a game, and what it makes of each line about it. */
#ifndef TOLD_H
#define TOLD_H

#include "veteran.h"

struct clock {
    bool has_move, has_bank;
    double increment_ms;
};

struct table {
    struct rules rules;
    struct game game;
    struct mind minds[2];
    struct random random;
    struct clock clock;
    int side, from, to; /* the own side; the last action that was told */
    bool is_begun, is_silent, attacker_wins_ties, bombs_explode;
    char *texts[MOST_ACTIONS];
    struct action actions[MOST_ACTIONS];
    float extra[MOST_ACTIONS];
    int count;
    int16_t place[SQUARES][SQUARES]; /* 1 + which of the actions goes from a square to another */
    char any[64];                    /* some legal action, for the case that none is understood */
};

/* Each takes the rest of its line, as strtok_r has left it. */
void told_moved(struct table *table, char **rest);
void told_battle(struct table *table, char **rest);
void told_reveal(struct table *table, char **rest);
void told_rescued(struct table *table, char **rest);
void told_guess(struct table *table, char **rest);
void told_enemy(struct table *table, char **rest);

/* Where an action begins and ends, and the piece that it brings back. False for a guess or what is not understood. */
bool parse_action(const char *text, int *from, int *to, int *rescued);
/* Put the own army on the board, from the letters of a set-up line without its slashes. */
void place_own(struct table *table, const char *letters);
/* If the enemy has not been placed yet, all of its home squares are occupied. */
void begin_with_all(struct table *table);

#endif
