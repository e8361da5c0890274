"""The transformer of P1 (App A; PAPERS 1.2) and, by options, of P1 Fig 2 (c) and P3.

This file is the model as the papers write it: its settings, how it is drawn, and the
forward pass. `shortcuts.py` has two ways to compute the same numbers, up to rounding,
with less work: in the first block, and in the last one where only the last position is
scored.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal, get_args

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax.typing import DTypeLike

from anchorjax.errors import require
from anchorjax.limits import above, at_least, check_fields
from anchorjax.models import (
    Activations,
    BlockActivations,
    BlockEdit,
    Edit,
    ModelConfig,
    require_positions,
    restrict_edit,
    shortcuts,
)
from anchorjax.models.edges import CUT
from anchorjax.models.gradients import mix_rows, normalize, relu, score_keys
from anchorjax.models.initializers import Initializer, gamma_normal, torch_uniform
from anchorjax.models.shortcuts import Embedded, project

# 'gelu' is exact, not the tanh approximation. P2's theory assumes a smooth activation
# with value 0 and derivative 1 at 0, like 'tanh' and 'identity' (PAPERS 2.2).
Activation = Literal['relu', 'gelu', 'tanh', 'identity']
ACTIVATIONS = get_args(Activation)
Norm = Literal['post', 'pre', 'pre_query', 'none']
NORMS = get_args(Norm)
Part = Literal['embed', 'qk', 'vo', 'mlp']
PARTS = get_args(Part)
Size = Annotated[int, at_least(1)]
Array = jax.Array
Attended = tuple[Array, Array, Array, Array, Array, Array]  # Q to X_qkv of a block


@dataclasses.dataclass(frozen=True)
class TransformerConfig(ModelConfig):
    """Defaults are P1's (PAPERS 1.2): post-norm, one head, ReLU, output bias only.

    Sizes left at 0 follow the width, so that `width` alone makes a smaller model.
    """

    has_mixed_precision = True
    name: str = 'transformer'
    depth: Size = 2  # blocks
    width: Size = 400  # of the stream and the embedding
    heads: Size = 1  # of attention in a block
    # 0: width / heads or, of a single head, P1's width / 2.
    head_dim: Annotated[int, at_least(0)] = 0
    mlp_dim: Annotated[int, at_least(0)] = 0  # 0: P1's 3 * width
    max_len: Size = 20  # rows of the position table
    norm: Norm = 'post'  # 'post': P1; 'pre': GPT-2; 'pre_query': P3; 'none': P2
    activation: Activation = 'relu'  # of the MLP
    biases: bool = False  # in every linear map, not only the output projection
    # What gamma acts on; see `initializers`.
    init: Literal['d_in', 'd_model', 'scale'] = 'd_in'
    # Std of W_O and W_out times 1/sqrt(2 depth), as in P3.
    residual_scale: bool = False
    # (part, gamma) of the parts that have a gamma of their own, e.g. (('vo', 0.8),), as
    # in P3's code (PAPERS 3.1, 3.2): both embeddings and W_U; W_Q and W_K; W_V and W_O;
    # the MLP. All others have that of the member.
    gamma_overrides: tuple[tuple[Part, float], ...] = ()
    # What weight decay shrinks: everything (PAPERS 1.3), or not the tables of tokens
    # and positions (PAPERS 4.1).
    decayed: Literal['all', 'all_but_embeddings'] = 'all'
    eps: Annotated[float, above(0)] = 1e-5  # of LayerNorm
    # (layer from 0, source role, target role) that attention may not read, by the roles
    # of the task: ((1, 'key', 'last'),). See `models.edges`.
    cut_edges: tuple[tuple[int, str, str], ...] = ()

    def __post_init__(self) -> None:
        check_fields(self, 'model')
        if self.head_dim == 0:
            head_dim = max(1, self.width // max(2, self.heads))
            object.__setattr__(self, 'head_dim', head_dim)
        if self.mlp_dim == 0:
            object.__setattr__(self, 'mlp_dim', 3 * self.width)
        parts = [part for part, _ in self.gamma_overrides]
        is_distinct = len(set(parts)) == len(parts)
        require(
            is_distinct, 'model.gamma_overrides', self.gamma_overrides, 'distinct parts'
        )
        is_plain = self.init != 'scale' or not parts
        allowed = "(), with model.init = 'scale'"
        require(is_plain, 'model.gamma_overrides', self.gamma_overrides, allowed)
        is_plain = self.init != 'scale' or not self.residual_scale
        allowed = "False, with model.init = 'scale'"
        require(is_plain, 'model.residual_scale', self.residual_scale, allowed)

    @property
    def is_pre_norm(self) -> bool:
        """Whether LayerNorms stand before attention, MLP and output projection."""
        return self.norm in ('pre', 'pre_query')

    def score(self, Q_BQHK: jax.Array, K_BTHK: jax.Array) -> jax.Array:
        """Scores [B, H, Q, T] of the last Q positions; a subclass may have its own."""
        return score_past(Q_BQHK, K_BTHK)

    @property
    def has_own_score(self) -> bool:
        return type(self).score is not TransformerConfig.score

    def module(self, vocab: int, gamma: float | jax.Array) -> 'Transformer':
        return Transformer(self, vocab, initializers(self, gamma))

    def module_for_logits(self, vocab: int, dtype: DTypeLike) -> 'Transformer':
        inits = initializers(self, gamma=0.0)  # not used: nothing is drawn
        return Transformer(self, vocab, inits, dtype)

    def is_decayed(self, name: str) -> bool:
        is_embedding = name in ('W_embed', 'W_pos')
        return self.decayed == 'all' or not is_embedding

    def require_fit(self, seq_len: int, vocab: int) -> None:
        require_positions(seq_len, self.max_len)


def initializers(
    config: TransformerConfig, gamma: float | jax.Array
) -> dict[str, Initializer]:
    """The initializer of every kind of matrix, for each value of `model.init`.

    'd_in'     std = d_in^-gamma for every matrix, width^-gamma for the embeddings (P1;
               PAPERS 1.2)
    'd_model'  std = width^-gamma for every matrix and the embeddings (P3; PAPERS 3.2)
    'scale'    P4's gamma, a factor: std = gamma * d_in^-1/2 for every matrix, gamma *
               width^-1/2 for the embeddings, biases zero (PAPERS 4.1; what it says of
               embeddings and biases is not known). Here a LARGE gamma is LARGE weights.

    With `model.gamma_overrides` a part of the network has a gamma of its own (PAPERS
    3.1).
    """
    if config.init == 'scale':
        return _scale(config, gamma)
    gammas = dict.fromkeys(PARTS, gamma) | dict(config.gamma_overrides)
    d = config.width if config.init == 'd_model' else None
    draw = functools.partial(gamma_normal, d=d)
    residual_scale = (2 * config.depth) ** -0.5 if config.residual_scale else 1.0
    return {
        'embed': gamma_normal(gammas['embed'], d=config.width),
        'qk': draw(gammas['qk']),
        'v': draw(gammas['vo']),
        'attn_out': draw(gammas['vo'], scale=residual_scale),
        'mlp_in': draw(gammas['mlp']),
        'mlp_out': draw(gammas['mlp'], scale=residual_scale),
        'unembed': draw(gammas['embed']),
    }


def _scale(
    config: TransformerConfig, gamma: float | jax.Array
) -> dict[str, Initializer]:
    """gamma is a factor of the usual d_in^-1/2."""
    matrix = gamma_normal(0.5, scale=gamma)
    kinds = ('qk', 'v', 'attn_out', 'mlp_in', 'mlp_out', 'unembed')
    matrices: dict[str, Initializer] = dict.fromkeys(kinds, matrix)
    matrices['embed'] = gamma_normal(0.5, d=config.width, scale=gamma)
    return matrices


def init_bias(config: TransformerConfig, d_in: int) -> Initializer:
    """The initializer of the bias of a matrix with d_in inputs."""
    return nn.initializers.zeros if config.init == 'scale' else torch_uniform(d_in)


class Transformer(nn.Module):
    """tokens [B, T] -> Activations.

    Attributes:
      config: sizes and options.
      vocab: number of tokens, V.
      inits: the initializer of every kind of matrix, from `initializers`.
      dtype: of activations and factors of products; parameters, softmax, logits and the
        statistics of LayerNorm are float32.
      mark_readable: tokens_BT -> of every layer, which positions each may read, bool
        [B, T, T]; None: all before it (`edges.give_mask`).
    """

    config: TransformerConfig
    vocab: int
    inits: Mapping[str, Initializer]
    dtype: DTypeLike = jnp.float32
    mark_readable: Callable[[jax.Array], Sequence[jax.Array]] | None = None

    @nn.compact
    def __call__(
        self, tokens_BT: jax.Array, last_only: bool = True, edit: Edit | None = None
    ) -> Activations:
        """The forward pass, with logits at the last position [B, 1, V] or at all.

        Args:
          last_only: compute the last position only; an intervention turns this off.
          edit: an intervention; see `model.Edit`.
        """
        c = self.config
        length = tokens_BT.shape[1]
        W_embed = self.param('W_embed', self.inits['embed'], (self.vocab, c.width))
        W_pos = self.param('W_pos', self.inits['embed'], (c.max_len, c.width))
        embedded = Embedded(tokens_BT, W_embed, W_pos[:length], self.dtype)
        edit_outside = restrict_edit(edit, None)
        X_em = edit_outside('X_em', embedded.rows())

        readable: Sequence[jax.Array | None] = [None] * c.depth
        if self.mark_readable is not None:
            readable = self.mark_readable(tokens_BT)
        x, stream, blocks = X_em, embedded if edit is None else X_em, []
        for layer in range(c.depth):
            is_last = layer == c.depth - 1
            block = Block(
                c,
                self.inits,
                last_only=is_last and last_only and edit is None,
                name=f'block_{layer}',
            )
            activations = block(x, stream, restrict_edit(edit, layer), readable[layer])
            blocks.append(activations)
            x = stream = activations.X_do

        if c.is_pre_norm:
            x = LayerNorm(c.eps, name='LN_final')(x)
        W_U = self.param('W_U', self.inits['unembed'], (c.width, self.vocab))
        b_U = self.param('b_U', init_bias(c, c.width), (self.vocab,))
        logits = edit_outside('logits', project(x, W_U, jnp.float32) + b_U)
        return Activations(X_em, tuple(blocks), logits)


class Block(nn.Module):
    """Attention, then an MLP, each with a residual: [B, T, D] -> [B, Q, D].

    `config.norm` says where the LayerNorm is:
      post       LN(x + f(x)), as in P1
      pre        x + f(LN(x)), as in GPT-2
      pre_query  as pre, but keys and values read the stream without LayerNorm (P3)
      none       x + f(x): there is none (P2's theory and ablation, PAPERS 2.1, 2.2)
    """

    config: TransformerConfig
    inits: Mapping[str, Initializer]
    last_only: bool  # compute the last position only (Q = 1)

    @nn.compact
    def __call__(
        self,
        x_BTD: jax.Array,
        stream: jax.Array | Embedded,
        edit: BlockEdit,
        readable_BTT: jax.Array | None = None,
    ) -> BlockActivations:
        """`stream` [B, T, D] is x_BTD once more; the first block gets it as tables.

        Args:
          readable_BTT: which positions each may read; None: all before it.
        """
        c = self.config
        ln_attn = LayerNorm(c.eps, name='LN_attn')
        ln_mlp = LayerNorm(c.eps, name='LN_mlp')
        x_BQD = x_BTD[:, -1:] if self.last_only else x_BTD

        query = x_BQD if self.last_only else stream
        source = stream
        if c.is_pre_norm:
            query = ln_attn(x_BQD)
        if c.norm == 'pre':
            source = ln_attn(x_BTD)
        attended = self._attention(query, source, edit, readable_BTT)
        X_qkv = merge_heads(attended[-1])
        attn_out = edit('attn_out', self._linear('W_O', 'attn_out', c.width, X_qkv))
        X_ao = x_BQD + attn_out
        if c.norm == 'post':
            X_ao = ln_attn(X_ao)
        X_ao = edit('X_ao', X_ao)

        mlp_in = ln_mlp(X_ao) if c.is_pre_norm else X_ao
        hidden_in = self._linear('W_in', 'mlp_in', c.mlp_dim, mlp_in)
        hidden_in = edit('hidden_in', hidden_in)
        hidden = edit('hidden', activate(c.activation, hidden_in))
        mlp_out = edit('mlp_out', self._linear('W_out', 'mlp_out', c.width, hidden))
        X_do = X_ao + mlp_out
        if c.norm == 'post':
            X_do = ln_mlp(X_do)
        X_do = edit('X_do', X_do)
        return BlockActivations(
            *attended, attn_out, X_ao, hidden_in, hidden, mlp_out, X_do
        )

    def _attention(
        self,
        query: jax.Array | Embedded,
        source: jax.Array | Embedded,
        edit: BlockEdit,
        readable_BTT: jax.Array | None,
    ) -> Attended:
        """Q, K, V, scores, Attn and X_qkv of BlockActivations."""
        c = self.config
        W_Q, b_Q = self._weights('W_Q', 'qk', c.width, c.heads * c.head_dim)
        W_K, b_K = self._weights('W_K', 'qk', c.width, c.heads * c.head_dim)
        W_V, b_V = self._weights('W_V', 'v', c.width, c.heads * c.head_dim)
        Q = split_heads(add_bias(project(query, W_Q), b_Q), c.heads)
        K = split_heads(add_bias(project(source, W_K), b_K), c.heads)
        V = split_heads(add_bias(project(source, W_V), b_V), c.heads)
        if self.last_only and not c.has_own_score:  # which may need the keys
            scores, Attn, X_qkv = shortcuts.attend_last(
                Q, source, W_K, W_V, readable_BTT
            )
            X_qkv = split_heads(add_bias(X_qkv, b_V), c.heads)
            return Q, K, V, scores, Attn, X_qkv
        return attend(Q, K, V, edit, readable_BTT, c.score)

    def _linear(self, name: str, kind: str, d_out: int, x: jax.Array) -> jax.Array:
        W, b = self._weights(name, kind, x.shape[-1], d_out)
        return add_bias(project(x, W), b)

    def _weights(
        self, name: str, kind: str, d_in: int, d_out: int
    ) -> tuple[jax.Array, jax.Array | float]:
        """Matrix [d_in, d_out] and bias [d_out], or 0 in a model without biases."""
        W = self.param(name, self.inits[kind], (d_in, d_out))
        if not self.config.biases:
            return W, 0.0
        b = self.param(f'b{name[1:]}', init_bias(self.config, d_in), (d_out,))
        return W, b


class LayerNorm(nn.Module):
    """x [..., D] -> (x - mean) / sqrt(var + eps) * scale + bias, over D."""

    eps: float

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        scale = self.param('scale', nn.initializers.ones, (x.shape[-1],))
        bias = self.param('bias', nn.initializers.zeros, (x.shape[-1],))
        return normalize(x, scale, bias, self.eps)


def add_bias(x: jax.Array, bias: jax.Array | float) -> jax.Array:
    """x [..., D] + bias [D] in the dtype of x; the bias is float32."""
    return (x + bias).astype(x.dtype)


def activate(name: Activation, x: jax.Array) -> jax.Array:
    """The activation of every element of x [...]."""
    if name == 'gelu':
        return nn.gelu(x, approximate=False)
    if name == 'identity':
        return x
    return {'relu': relu, 'tanh': jnp.tanh}[name](x)


def attend(
    Q: jax.Array,
    K: jax.Array,
    V: jax.Array,
    edit: BlockEdit,
    readable_BTT: jax.Array | None = None,
    score: Callable[[jax.Array, jax.Array], jax.Array] | None = None,
) -> Attended:
    """Causal attention (P1 App A): Q, K, V, scores, Attn and X_qkv as edited."""
    Q, K, V = edit('Q', Q), edit('K', K), edit('V', V)
    scores = edit('scores', (score or score_past)(Q, K))
    Attn = edit('Attn', attention_weights(scores, readable_BTT))
    return Q, K, V, scores, Attn, edit('X_qkv', mix_values(Attn, V))


def score_past(Q_BQHK: jax.Array, K_BTHK: jax.Array) -> jax.Array:
    """Q K^T / sqrt(d_k), [B, H, Q, T]."""
    batch, num_scored, heads, head_dim = Q_BQHK.shape
    scores = score_keys(_heads_first(Q_BQHK), _heads_first(K_BTHK)) / head_dim**0.5
    return scores.reshape(batch, heads, num_scored, -1)


def attention_weights(
    scores_BHQT: jax.Array, readable_BTT: jax.Array | None = None
) -> jax.Array:
    """softmax(mask(scores)) with a causal mask, [B, H, Q, T] (P1 App A).

    P1's code masks the token 0 as well, which none of its sequences has.
    """
    num_scored, length = scores_BHQT.shape[-2:]
    if readable_BTT is not None:
        readable_BQT = readable_BTT[:, -num_scored:]
        scores_BHQT = jnp.where(readable_BQT[:, None], scores_BHQT, CUT)
    scores = scores_BHQT.reshape(-1, num_scored, length)
    is_past = jnp.tril(jnp.ones((num_scored, length), bool), length - num_scored)
    Attn = nn.softmax(jnp.where(is_past, scores, CUT))
    return Attn.reshape(scores_BHQT.shape)


def mix_values(Attn_BHQT: jax.Array, V_BTHK: jax.Array) -> jax.Array:
    """Attn V of every head, [B, Q, H, K] (P1 App A)."""
    batch, heads, num_scored, length = Attn_BHQT.shape
    Attn = Attn_BHQT.reshape(batch * heads, num_scored, length)
    mixed = mix_rows(Attn, _heads_first(V_BTHK))
    return mixed.reshape(batch, heads, num_scored, -1).swapaxes(1, 2)


def split_heads(x: jax.Array, heads: int) -> jax.Array:
    """[B, T, H * K] -> [B, T, H, K]."""
    return x.reshape(*x.shape[:2], heads, -1)


def merge_heads(x_BQHK: jax.Array) -> jax.Array:
    """[B, Q, H, K] -> [B, Q, H * K]."""
    return x_BQHK.reshape(*x_BQHK.shape[:2], -1)


def _heads_first(x_BTHK: jax.Array) -> jax.Array:
    """[B, T, H, K] -> [B * H, T, K]: XLA's CPU code is faster with one batch axis."""
    batch, length, heads, head_dim = x_BTHK.shape
    return x_BTHK.swapaxes(1, 2).reshape(batch * heads, length, head_dim)
