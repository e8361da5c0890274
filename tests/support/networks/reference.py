"""The models, their loss and AdamW again: NumPy, float64 and loops, from the papers.

Written from PAPERS 1.2, 1.6, 2.2, 3.2 and PyTorch's documentation, to be plain and not
to be fast. It shares no code with anchorjax, only the names of its parameters and the
fields of its config: scores are computed for the positions that a query may see, and
never masked.
"""

from typing import Any

import jax
import numpy as np
from scipy import special

from anchorjax.models.gpt2 import GPT2Config
from anchorjax.models.transformer import TransformerConfig

Params = Any  # a tree of float64 arrays
Config = TransformerConfig | GPT2Config


def to_float64(params: Any) -> Params:
    def convert(leaf: np.ndarray) -> np.ndarray:
        return np.array(leaf, np.float64)

    return jax.tree.map(convert, params)


def forward(params: Params, tokens_BT: np.ndarray, config: Config) -> np.ndarray:
    """Logits [B, T, V]; those of GPT-2 by its embedding, the others by W_U."""
    length = tokens_BT.shape[1]
    x = params['W_embed'][tokens_BT] + params['W_pos'][:length]
    for layer in range(config.depth):
        x = _apply_block(params[f'block_{layer}'], x, config)
    if 'LN_final' in params:
        x = _layer_norm(x, params['LN_final'], config.eps)
    if isinstance(config, GPT2Config):
        return x @ params['W_embed'].T
    return x @ params['W_U'] + params['b_U']


def apply_emb_mlp(params: Params, tokens_T: np.ndarray, activation: str) -> np.ndarray:
    """P2's G(X) = act(sum_s w_s W1) W2 of one sequence, [V]."""
    total = np.zeros(params['W_1'].shape[0])
    for token in tokens_T:
        total = total + params['W_embed'][token]
    return activate(activation, total @ params['W_1']) @ params['W_2']


def apply_one_layer(
    params: Params, tokens_T: np.ndarray, activation: str
) -> np.ndarray:
    """P2's f(X) = act((A X W_V W_O + X) W_f1) W_f2 + A X W_V W_O + X, [V].

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


def loss(
    params: Params,
    tokens_BT: np.ndarray,
    targets_BQ: np.ndarray,
    weights_BQ: np.ndarray | None,
    config: Config,
) -> float:
    """Weighted mean of -log softmax(logits)[target] over the last Q positions."""
    if weights_BQ is None:
        weights_BQ = np.ones(targets_BQ.shape)
    num_asked = targets_BQ.shape[1]
    logits = forward(params, tokens_BT, config)[:, -num_asked:]
    normalizer = np.exp(logits).sum(-1)
    total = 0.0
    for b, q in np.ndindex(targets_BQ.shape):
        target = targets_BQ[b, q]
        log_p = logits[b, q, target] - np.log(normalizer[b, q])
        total -= weights_BQ[b, q] * log_p
    return total / weights_BQ.sum()


def gradient(
    params: Params,
    tokens_BT: np.ndarray,
    targets_BQ: np.ndarray,
    weights_BQ: np.ndarray | None,
    config: Config,
) -> Params:
    """Central differences of the loss, one coordinate at a time."""
    h = 1e-5
    params = to_float64(params)
    grads = jax.tree.map(np.zeros_like, params)
    leaves = zip(jax.tree.leaves(params), jax.tree.leaves(grads), strict=True)
    for leaf, grad in leaves:
        for i in range(leaf.size):
            value = leaf.flat[i]
            leaf.flat[i] = value + h
            above = loss(params, tokens_BT, targets_BQ, weights_BQ, config)
            leaf.flat[i] = value - h
            below = loss(params, tokens_BT, targets_BQ, weights_BQ, config)
            leaf.flat[i] = value
            grad.flat[i] = (above - below) / (2 * h)
    return grads


def norm(tree: Any) -> float:
    """Euclidean norm over all leaves."""
    total = 0.0
    for leaf in jax.tree.leaves(tree):
        total += (leaf**2).sum()
    return np.sqrt(total)


class AdamW:
    """torch.optim.AdamW after torch.nn.utils.clip_grad_norm_, as documented."""

    def __init__(
        self,
        params: Params,
        b1: float,
        b2: float,
        eps: float,
        weight_decay: float,
        max_norm: float,
    ):
        self.m = jax.tree.map(np.zeros_like, params)
        self.v = jax.tree.map(np.zeros_like, params)
        self.b1 = b1
        self.b2 = b2
        self.eps = eps
        self.weight_decay = weight_decay
        self.max_norm = max_norm
        self.t = 0

    def step(self, params: Params, grads: Params, rate: float) -> Params:
        """New parameters; the moments are updated in place."""
        self.t += 1
        clip = min(1.0, self.max_norm / norm(grads))

        def update(
            p: np.ndarray, g: np.ndarray, m: np.ndarray, v: np.ndarray
        ) -> np.ndarray:
            g = g * clip
            m[...] = self.b1 * m + (1 - self.b1) * g
            v[...] = self.b2 * v + (1 - self.b2) * g**2
            m_hat = m / (1 - self.b1**self.t)
            v_hat = v / (1 - self.b2**self.t)
            decayed = p - rate * self.weight_decay * p
            direction = m_hat / (np.sqrt(v_hat) + self.eps)
            return decayed - rate * direction

        return jax.tree.map(update, params, grads, self.m, self.v)


def _apply_block(p: Params, x: np.ndarray, config: Config) -> np.ndarray:
    eps = config.eps
    norm = 'pre' if isinstance(config, GPT2Config) else config.norm
    if norm == 'post':
        x = x + _attend(p, x, x, config)
        x = _layer_norm(x, p['LN_attn'], eps)
        x = x + _apply_mlp(p, x, config)
        return _layer_norm(x, p['LN_mlp'], eps)
    if norm == 'none':
        x = x + _attend(p, x, x, config)
        return x + _apply_mlp(p, x, config)
    query = _layer_norm(x, p['LN_attn'], eps)
    source = query
    if norm == 'pre_query':
        source = x  # P3's quirk: only the queries are normalized (PAPERS 3.2).
    x = x + _attend(p, query, source, config)
    return x + _apply_mlp(p, _layer_norm(x, p['LN_mlp'], eps), config)


def _attend(
    p: Params, query: np.ndarray, source: np.ndarray, config: Config
) -> np.ndarray:
    """Causal softmax attention, one head and one query position at a time."""
    Q = _apply_linear(p, 'Q', query)
    K = _apply_linear(p, 'K', source)
    V = _apply_linear(p, 'V', source)
    mixed = np.zeros_like(Q)
    for head in range(config.heads):
        start = head * config.head_dim
        part = slice(start, start + config.head_dim)
        for t in range(Q.shape[1]):
            q_BK = Q[:, t, part]
            K_past = K[:, : t + 1, part]
            V_past = V[:, : t + 1, part]
            scores = np.einsum('btk,bk->bt', K_past, q_BK)
            scores = scores / np.sqrt(config.head_dim)
            weights = np.exp(scores)
            weights = weights / weights.sum(-1, keepdims=True)
            mixed[:, t, part] = np.einsum('bt,btk->bk', weights, V_past)
    return _apply_linear(p, 'O', mixed)


def _apply_mlp(p: Params, x: np.ndarray, config: Config) -> np.ndarray:
    activation = 'gelu_tanh'
    if isinstance(config, TransformerConfig):
        activation = config.activation
    h = activate(activation, _apply_linear(p, 'in', x))
    return _apply_linear(p, 'out', h)


def activate(name: str, h: np.ndarray) -> np.ndarray:
    if name == 'relu':
        return np.where(h > 0, h, 0.0)
    if name == 'gelu':
        return h * (1 + special.erf(h / np.sqrt(2))) / 2
    if name == 'gelu_tanh':  # GPT-2's
        return h * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3))) / 2
    if name == 'tanh':
        return (np.exp(h) - np.exp(-h)) / (np.exp(h) + np.exp(-h))
    return h


def _apply_linear(p: Params, name: str, x: np.ndarray) -> np.ndarray:
    bias = p.get(f'b_{name}', 0.0)
    return x @ p[f'W_{name}'] + bias


def _layer_norm(x: np.ndarray, p: Params, eps: float) -> np.ndarray:
    mean = x.mean(-1, keepdims=True)
    variance = x.var(-1, keepdims=True)
    normed = (x - mean) / np.sqrt(variance + eps)
    return normed * p['scale'] + p['bias']
