"""GPT-2 again: NumPy, float64 and loops, from its description.

Written from PAPERS 1.6, the text of "Language Models are Unsupervised Multitask
Learners" (pre-norm, a last LayerNorm, learned positions, the embedding as the head) and
the tanh formula of GELU. It shares no code with anchorjax, only the names of its
parameters and the sizes of its config: scores are computed for the positions that a
query may see, and never masked.
"""

import math

import numpy as np

from anchorjax.models import GPT2Config
from tests.support.networks.reference import Params


def forward(params: Params, tokens_BT: np.ndarray, config: GPT2Config) -> np.ndarray:
    """Logits [B, T, V]."""
    rows = []
    for tokens_T in tokens_BT:
        rows.append(_read_sequence(params, tokens_T, config))
    return np.stack(rows)


def loss(
    params: Params, tokens_BT: np.ndarray, targets_BT: np.ndarray, config: GPT2Config
) -> float:
    """Mean of -log softmax(logits)[target] over all positions."""
    logits = forward(params, tokens_BT, config)
    total = 0.0
    for b, t in np.ndindex(targets_BT.shape):
        log_normalizer = math.log(np.exp(logits[b, t]).sum())
        total += log_normalizer - logits[b, t, targets_BT[b, t]]
    return total / targets_BT.size


def _read_sequence(
    params: Params, tokens_T: np.ndarray, config: GPT2Config
) -> np.ndarray:
    x = np.zeros((len(tokens_T), config.width))
    for t, token in enumerate(tokens_T):
        x[t] = params['W_embed'][token] + params['W_pos'][t]
    for layer in range(config.depth):
        block = params[f'block_{layer}']
        x = x + _attend(block, _normalize(x, block['LN_attn'], config.eps), config)
        x = x + _apply_mlp(block, _normalize(x, block['LN_mlp'], config.eps))
    x = _normalize(x, params['LN_final'], config.eps)
    return np.einsum('td,vd->tv', x, params['W_embed'])


def _attend(p: Params, x: np.ndarray, config: GPT2Config) -> np.ndarray:
    """One head and one query at a time, over the positions up to it."""
    queries = x @ p['W_Q'] + p['b_Q']
    keys = x @ p['W_K'] + p['b_K']
    values = x @ p['W_V'] + p['b_V']
    head_dim = config.width // config.heads
    mixed = np.zeros_like(queries)
    for head in range(config.heads):
        part = slice(head * head_dim, (head + 1) * head_dim)
        for t in range(len(x)):
            scores = keys[: t + 1, part] @ queries[t, part] / math.sqrt(head_dim)
            weights = np.exp(scores) / np.exp(scores).sum()
            mixed[t, part] = weights @ values[: t + 1, part]
    return mixed @ p['W_O'] + p['b_O']


def _apply_mlp(p: Params, x: np.ndarray) -> np.ndarray:
    h = x @ p['W_in'] + p['b_in']
    inner = math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)
    h = 0.5 * h * (1 + np.tanh(inner))
    return h @ p['W_out'] + p['b_out']


def _normalize(x: np.ndarray, p: Params, eps: float) -> np.ndarray:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps) * p['scale'] + p['bias']
