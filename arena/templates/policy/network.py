"""The network: what the weights of policy.npz mean. Training imports the same file, so what is trained plays."""

import numpy as np


def scores(weights, planes, facts, codes):
    """Your bot's thinking goes here: return a score for each of `codes`, the legal moves; the higher, the likelier.

    `weights` are the arrays of policy.npz by name. `planes` (48 x 10 x 10) and `facts` (54) are those of
    `arena.learn.observation`, in which PLANES and FACTS describe them; a code is one of `arena.learn.action_codes`.

    Here it is a network with one hidden layer and the arrays hidden (4854 x H), hidden_bias (H), score (H x C) and
    score_bias (C). C is 1800, or 2600 for rules under which captains may turn.
    """
    seen = np.concatenate([planes.ravel(), facts]).astype(np.float32)
    hidden = np.maximum(seen @ weights["hidden"] + weights["hidden_bias"], 0)
    return hidden @ weights["score"][:, codes] + weights["score_bias"][codes]
