"""P2's two small models again: NumPy, float64 and loops, from PAPERS 2.2.

They share no code with anchorjax; a sequence and a position at a time.
"""

from typing import Any

import numpy as np
from scipy import special

Params = dict[str, Any]


def apply_emb_mlp(params: Params, tokens_T: np.ndarray, activation: str) -> np.ndarray:
    """G(X) = act(sum_s w_s W1) W2 of one sequence, [V]."""
    total = np.zeros(params['W_1'].shape[0])
    for token in tokens_T:
        total = total + params['W_embed'][token]
    return activate(activation, total @ params['W_1']) @ params['W_2']


def apply_one_layer(
    params: Params, tokens_T: np.ndarray, activation: str
) -> np.ndarray:
    """f(X) = act((A X W_V W_O + X) W_f1) W_f2 + A X W_V W_O + X, [V].

    Of the last token: A is the last row of the attention, which sees every token.
    """
    block = params['block_0']
    X_TD = params['W_embed'][tokens_T]
    last_D = X_TD[-1]
    query = last_D @ block['W_Q']
    scores = []
    for row in X_TD:
        key = row @ block['W_K']
        scores.append(query @ key / np.sqrt(len(query)))
    weights = np.exp(scores) / np.exp(scores).sum()
    mean_D = np.zeros_like(last_D)
    for weight, row in zip(weights, X_TD, strict=True):
        mean_D = mean_D + weight * row
    stream = mean_D @ block['W_V'] @ block['W_O'] + last_D
    return activate(activation, stream @ block['W_in']) @ block['W_out'] + stream


def activate(name: str, h: np.ndarray) -> np.ndarray:
    if name == 'relu':
        return np.where(h > 0, h, 0.0)
    if name == 'gelu':
        return h * (1 + special.erf(h / np.sqrt(2))) / 2
    if name == 'tanh':
        return (np.exp(h) - np.exp(-h)) / (np.exp(h) + np.exp(-h))
    return h
