"""The transformer, its loss and AdamW once more: NumPy, float64, loops; from the papers' text.

Written from PAPERS 1.2, 3.2 and PyTorch's documentation, without looking for speed and without
sharing a line with anchorjax: scores are only ever formed for the positions a query may see.
"""

import jax
import numpy as np
from scipy import special


def to_float64(params):
    return jax.tree.map(lambda leaf: np.array(leaf, np.float64), params)


def forward(params, tokens_BT, model):
    """Logits [B, T, V]; `model` is a TransformerConfig."""
    x = params['W_embed'][tokens_BT] + params['W_pos'][: tokens_BT.shape[1]]
    for layer in range(model.depth):
        x = _block(params[f'block_{layer}'], x, model)
    if model.norm != 'post':
        x = _layer_norm(x, params['LN_final'], model.eps)
    return x @ params['W_U'] + params['b_U']


def loss(params, tokens_BT, labels_B, model):
    """Mean of -log softmax(logits at the last position)[label]."""
    logits = forward(params, tokens_BT, model)[:, -1]
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return -np.mean([log_p[b, label] for b, label in enumerate(labels_B)])


def gradient(params, tokens_BT, labels_B, model, h=1e-5):
    """Central differences, one coordinate at a time."""
    params = to_float64(params)
    result = jax.tree.map(np.zeros_like, params)
    leaves = zip(jax.tree.leaves(params), jax.tree.leaves(result), strict=True)
    for leaf, out in leaves:
        for i in range(leaf.size):
            middle, sides = leaf.flat[i], []
            for side in (middle + h, middle - h):
                leaf.flat[i] = side
                sides.append(loss(params, tokens_BT, labels_B, model))
            leaf.flat[i] = middle
            out.flat[i] = (sides[0] - sides[1]) / (2 * h)
    return result


def norm(tree):
    return np.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(tree)))


class AdamW:
    """torch.optim.AdamW after torch.nn.utils.clip_grad_norm_, as documented."""

    def __init__(self, params, b1, b2, eps, weight_decay, max_norm):
        self.m = jax.tree.map(np.zeros_like, params)
        self.v = jax.tree.map(np.zeros_like, params)
        self.b1, self.b2, self.eps = b1, b2, eps
        self.weight_decay, self.max_norm, self.t = weight_decay, max_norm, 0

    def step(self, params, grads, rate):
        """New parameters; the moments are updated in place."""
        self.t += 1
        clip = min(1.0, self.max_norm / norm(grads))

        def one(p, g, m, v):
            g = g * clip
            m[...] = self.b1 * m + (1 - self.b1) * g
            v[...] = self.b2 * v + (1 - self.b2) * g**2
            m_hat, v_hat = m / (1 - self.b1**self.t), v / (1 - self.b2**self.t)
            decayed = p - rate * self.weight_decay * p
            return decayed - rate * m_hat / (np.sqrt(v_hat) + self.eps)

        return jax.tree.map(one, params, grads, self.m, self.v)


def _block(p, x, model):
    eps = model.eps
    if model.norm == 'post':
        x = _layer_norm(x + _attention(p, x, x, model), p['LN_attn'], eps)
        return _layer_norm(x + _mlp(p, x, model), p['LN_mlp'], eps)
    normed = _layer_norm(x, p['LN_attn'], eps)
    # P3's quirk: only the queries read the normalized stream (PAPERS 3.2).
    x = x + _attention(p, normed, x if model.norm == 'pre_query' else normed, model)
    return x + _mlp(p, _layer_norm(x, p['LN_mlp'], eps), model)


def _attention(p, query, source, model):
    Q = _linear(p, 'Q', query)
    K, V = _linear(p, 'K', source), _linear(p, 'V', source)
    mixed = np.zeros_like(Q)
    for head in range(model.heads):
        part = slice(head * model.head_dim, (head + 1) * model.head_dim)
        for t in range(Q.shape[1]):
            scores = (K[:, : t + 1, part] @ Q[:, t, part, None])[..., 0]
            weights = np.exp(scores / np.sqrt(model.head_dim))
            weights /= weights.sum(-1, keepdims=True)
            mixed[:, t, part] = (weights[..., None] * V[:, : t + 1, part]).sum(1)
    return _linear(p, 'O', mixed)


def _mlp(p, x, model):
    h = _linear(p, 'in', x)
    if model.activation == 'relu':
        h = np.maximum(h, 0)
    else:
        h = h * 0.5 * (1 + special.erf(h / np.sqrt(2)))
    return _linear(p, 'out', h)


def _linear(p, name, x):
    return x @ p[f'W_{name}'] + p.get(f'b_{name}', 0.0)


def _layer_norm(x, p, eps):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(x.var(-1, keepdims=True) + eps) * p['scale'] + p['bias']
