"""GPT-2: pre-norm, tanh GELU, biases, learned positions, head tied to the embedding.

The names of parameters and activations are those of transformer.py. There is no
dropout, as in P1's experiments (PAPERS 1.6). Equal to Hugging Face's GPT2LMHeadModel on
the same weights (tests/models/test_gpt2_weights.py).
"""

import contextlib
import dataclasses
import functools
import pathlib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax.typing import DTypeLike

from anchorjax.errors import UserError, require
from anchorjax.limits import above, at_least, check_fields, require_default
from anchorjax.models import (
    Activations,
    BlockActivations,
    BlockEdit,
    Edit,
    ModelConfig,
    abstract_params,
    gpt2_weights,
    require_positions,
    restrict_edit,
    shortcuts,
)
from anchorjax.models.gradients import multiply
from anchorjax.models.initializers import Initializer, gamma_normal
from anchorjax.models.transformer import (
    Attended,
    LayerNorm,
    Size,
    attend,
    merge_heads,
    split_heads,
)

_STD = 0.02  # of what does not depend on gamma, in P1's code


@dataclasses.dataclass(frozen=True)
class GPT2Config(ModelConfig):
    """Defaults are GPT-2 small (PAPERS 1.6); every matrix is drawn by its true fan-in.

    residual_init = 'scaled' has GPT-2's own factor, 'plain' is the text of P1 and P2.
    The options of the official code of P1 (PAPERS 1.6, quirk 11) are fan = 'out',
    residual_init = 'overwritten' and embed_init = 'fixed'; see `initializers`.
    """

    has_mixed_precision = True
    name: str = 'gpt2'
    depth: Size = 12  # blocks
    width: Size = 768  # of the stream and the embedding
    heads: Size = 12  # of width / heads each
    max_len: Size = 1024  # rows of the position table
    fan: Literal['in', 'out'] = 'in'  # which side of a matrix is d in d^-gamma
    # W_O and W_out: see above.
    residual_init: Literal['scaled', 'plain', 'overwritten'] = 'scaled'
    # Embeddings by gamma, or with GPT-2's std of 0.02.
    embed_init: Literal['gamma', 'fixed'] = 'gamma'
    # Of matrix products and what is between them. Parameters, the residual stream,
    # LayerNorm, softmax and logits are float32.
    dtype: Literal['float32', 'bfloat16'] = 'float32'
    # Compute blocks again in the backward pass, to save memory. (XLA's scheduler for
    # CPUs computes them again too early to save much.)
    remat: bool = False
    eps: Annotated[float, above(0)] = 1e-5  # of LayerNorm
    # Weights to start from: a safetensors file of Hugging Face's GPT-2, or its folder.
    # '': weights are drawn. gamma has no effect then.
    start: str = ''
    # The SHA-256 of that file; '': any.
    start_sha256: str = ''
    # The row of its embedding for each token of the task; (): all rows, in order.
    start_rows: tuple[Annotated[int, at_least(0)], ...] = ()

    # 'small' and 'medium' are official: 124,439,808 and 354,823,168 parameters with
    # 50,257 tokens. 'tiny' has the 2 layers and 1 head of P1's smallest model (PAPERS
    # 1.6); its width is ours, chosen for a CPU.
    sizes: ClassVar[dict[str, dict[str, int]]] = {
        'tiny': {'depth': 2, 'width': 128, 'heads': 1, 'max_len': 256},
        'small': {},
        'medium': {'depth': 24, 'width': 1024, 'heads': 16},
    }

    def __post_init__(self) -> None:
        check_fields(self, 'model')
        allowed = f'a divisor of model.width, {self.width}'
        require(self.width % self.heads == 0, 'model.heads', self.heads, allowed)
        if not self.start:
            for field in ('start_sha256', 'start_rows'):
                require_default(self, 'model', field, 'model.start is not')

    @property
    def head_dim(self) -> int:
        """Width of a head, K."""
        return self.width // self.heads

    @property
    def mlp_dim(self) -> int:
        """Neurons of the MLP, F."""
        return 4 * self.width

    def module(self, vocab: int, gamma: float | jax.Array) -> 'GPT2':
        return GPT2(self, vocab, initializers(self, gamma))

    def module_for_logits(self, vocab: int, dtype: DTypeLike) -> 'GPT2':
        inits = initializers(self, gamma=0.0)  # not used: nothing is drawn
        config = self
        if dtype == jnp.bfloat16:
            config = dataclasses.replace(self, dtype='bfloat16')
        return GPT2(config, vocab, inits, logits_only=True)

    def is_decayed(self, name: str) -> bool:
        """All but biases, as in P1's GPT-2 code (PAPERS 1.6)."""
        return name != 'bias' and not name.startswith('b_')

    @property
    def is_drawn(self) -> bool:
        return not self.start

    def read_start(self, vocab: int) -> Any | None:
        """The parameters of `start`; None if a member is to be drawn.

        Raises:
          UserError: the file is missing, damaged, or of another model.
        """
        if not self.start:
            return None
        (digest,) = self.digest_start().values()
        return _read_start(self, vocab, digest)

    def digest_start(self) -> dict[str, str]:
        """{path of `start`: SHA-256}; UserError if it cannot be read."""
        if not self.start:
            return {}
        with _name_start(self):
            path = gpt2_weights.find_weights(pathlib.Path(self.start))
            return {str(path): gpt2_weights.digest_weights(path)}

    def require_fit(self, seq_len: int, vocab: int) -> None:
        require_positions(seq_len, self.max_len)
        number = len(self.start_rows)
        allowed = f'() or {vocab}, one for each token of the task'
        require(number in (0, vocab), 'rows in model.start_rows', number, allowed)


@functools.lru_cache(maxsize=1)  # the cohorts of a sweep start from the same weights
def _read_start(config: GPT2Config, vocab: int, digest: str) -> Any:
    """Of the file with this digest: another file may stand in its place later."""
    expected = abstract_params(config, vocab)
    path = pathlib.Path(config.start)
    with _name_start(config):
        gpt2_weights.require_described(path, config.heads, config.eps)
        return gpt2_weights.read_params(
            path, expected, config.start_sha256, config.start_rows
        )


@contextlib.contextmanager
def _name_start(config: GPT2Config) -> Iterator[None]:
    """Begins the line of an error with the field."""
    try:
        yield
    except UserError as e:
        raise UserError(f'model.start = {config.start!r}: {e}') from None


def initializers(
    config: GPT2Config, gamma: float | jax.Array
) -> dict[str, Initializer]:
    """The initializer of every kind of parameter (PAPERS 1.6, quirk 11).

    By default std = d_in^-gamma for every matrix and width^-gamma for both embeddings;
    the outputs of attention and MLP, which add to the residual stream, get another
    factor 1/sqrt(2 depth). Biases are zero. P1's code differs in three ways, each an
    option:

    fan = 'out'
        takes d_out for d_in, because Hugging Face's Conv1D stores a matrix [d_in,
        d_out] where PyTorch's Linear stores it transposed. Q, K and V are one layer
        there, of d_out = 3 * width.
    residual_init = 'overwritten'
        both residual outputs have std = 0.02/sqrt(2 depth) at every gamma. (In a second
        file of that code the line is a comment: 'plain' is d^-gamma without a factor.)
    embed_init = 'fixed'
        both embeddings, and with them the tied head, have std = 0.02 at every gamma.
    """
    qkv = gamma_normal(gamma)
    if config.fan == 'out':
        qkv = gamma_normal(gamma, d=3 * config.width)
    embed = gamma_normal(gamma, d=config.width)
    if config.embed_init == 'fixed':
        embed = nn.initializers.normal(_STD)
    factor = (2 * config.depth) ** -0.5
    if config.residual_init == 'plain':
        factor = 1.0
    residual = gamma_normal(gamma, fan=config.fan, scale=factor)
    if config.residual_init == 'overwritten':
        residual = nn.initializers.normal(_STD * factor)
    return {
        'embed': embed,
        'qkv': qkv,
        'mlp_in': gamma_normal(gamma, fan=config.fan),
        'residual': residual,
        'bias': nn.initializers.zeros,
    }


class GPT2(nn.Module):
    """tokens [B, T] -> Activations.

    Attributes:
      config: sizes and options.
      vocab: number of tokens, V.
      inits: the initializer of every kind of parameter, from `initializers`.
      logits_only: return no activations of blocks; with `remat` the blocks then run in
        one loop, which no compiler can unroll into more memory.
    """

    config: GPT2Config
    vocab: int
    inits: Mapping[str, Initializer]
    logits_only: bool = False

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
        edit_outside = restrict_edit(edit, None)
        X_em = edit_outside('X_em', W_embed[tokens_BT] + W_pos[:length])

        is_loop = c.remat and self.logits_only and edit is None
        if is_loop and not self.is_initializing():
            x, blocks = self._run_loop(X_em), ()
            x = x[:, -1:] if last_only else x
        else:
            blocks = self._run_blocks(X_em, last_only, edit)
            x = blocks[-1].X_do
        x = LayerNorm(c.eps, name='LN_final')(x)
        logits = multiply_rows(x, W_embed.T, c.dtype, jnp.float32)
        return Activations(X_em, blocks, edit_outside('logits', logits))

    def _run_blocks(
        self, x_BTD: jax.Array, last_only: bool, edit: Edit | None
    ) -> tuple[BlockActivations, ...]:
        """The activations of all blocks."""
        c = self.config
        block_class = Block
        if c.remat and not self.is_initializing():  # or it would change random keys
            block_class = nn.remat(Block)
        blocks = []
        for layer in range(c.depth):
            is_last = layer == c.depth - 1
            block = block_class(
                c,
                self.inits,
                layer,
                last_only=is_last and last_only and edit is None,
                edit=edit,
                name=f'block_{layer}',
            )
            activations = block(x_BTD)
            blocks.append(activations)
            x_BTD = activations.X_do
        return tuple(blocks)

    def _run_loop(self, x_BTD: jax.Array) -> jax.Array:
        """The stream after the last block; the backward pass keeps that before each."""
        block = Block(self.config, self.inits, 0, False, None, parent=None)
        params = self.variables['params']

        @jax.checkpoint
        def run_block(x_BTD: jax.Array, params: Any) -> tuple[jax.Array, None]:
            activations: Any = block.apply({'params': params}, x_BTD)
            return activations.X_do, None

        def stack(*leaves: jax.Array) -> jax.Array:
            return jnp.stack(leaves)

        layers = range(self.config.depth)
        of_blocks = [params[f'block_{layer}'] for layer in layers]
        x_BTD, _ = jax.lax.scan(run_block, x_BTD, jax.tree.map(stack, *of_blocks))
        return x_BTD


class Linear(NamedTuple):
    """A linear map with bias; its parameters are float32 at any dtype."""

    W: jax.Array  # [d_in, d_out]
    b: jax.Array  # [d_out]

    def apply(self, x: jax.Array, dtype: str) -> jax.Array:
        """x W + b in `dtype`, [B, T, d_in] -> [B, T, d_out]."""
        product = multiply_rows(x, self.W, dtype, dtype)
        return product + self.b.astype(dtype)


class Block(nn.Module):
    """x + attention(LN(x)), then x + MLP(LN(x)): [B, T, D] -> [B, Q, D]."""

    config: GPT2Config
    inits: Mapping[str, Initializer]
    layer: int  # from 0
    last_only: bool  # compute the last position only (Q = 1)
    edit: Edit | None

    @nn.compact
    def __call__(self, x_BTD: jax.Array) -> BlockActivations:
        c = self.config
        edit = restrict_edit(self.edit, self.layer)
        x_BQD = x_BTD[:, -1:] if self.last_only else x_BTD
        attn_in = LayerNorm(c.eps, name='LN_attn')(x_BTD)
        attended = self._attention(attn_in, edit)
        to_stream = self._layer('O', 'residual', c.width, c.width)
        attn_out = to_stream.apply(merge_heads(attended[-1]), c.dtype)
        attn_out = edit('attn_out', attn_out)
        X_ao = edit('X_ao', x_BQD + attn_out)

        mlp_in = LayerNorm(c.eps, name='LN_mlp')(X_ao)
        to_neurons = self._layer('in', 'mlp_in', c.width, c.mlp_dim)
        hidden_in = edit('hidden_in', to_neurons.apply(mlp_in, c.dtype))
        hidden = edit('hidden', nn.gelu(hidden_in, approximate=True))
        from_neurons = self._layer('out', 'residual', c.mlp_dim, c.width)
        mlp_out = edit('mlp_out', from_neurons.apply(hidden, c.dtype))
        X_do = edit('X_do', X_ao + mlp_out)
        return BlockActivations(
            *attended, attn_out, X_ao, hidden_in, hidden, mlp_out, X_do
        )

    def _attention(self, source_BTD: jax.Array, edit: BlockEdit) -> Attended:
        """Q, K, V, scores, Attn and X_qkv of BlockActivations.

        jax.nn has the kernel, but for interventions, which need the formula. Nothing
        then depends on Attn, and the compiler drops it where nobody reads it.
        """
        c = self.config
        to_query = self._layer('Q', 'qkv', c.width, c.width)
        to_key = self._layer('K', 'qkv', c.width, c.width)
        to_value = self._layer('V', 'qkv', c.width, c.width)
        query_BQD = source_BTD[:, -1:] if self.last_only else source_BTD
        Q = split_heads(to_query.apply(query_BQD, c.dtype), c.heads)
        K = split_heads(to_key.apply(source_BTD, c.dtype), c.heads)
        V = split_heads(to_value.apply(source_BTD, c.dtype), c.heads)
        if self.last_only:  # one position: float32 at any dtype
            scores, Attn, X_qkv = shortcuts.attend_last(
                Q.astype(jnp.float32), source_BTD, to_key.W, to_value.W
            )
            X_qkv = split_heads(X_qkv + to_value.b, c.heads)
            return Q, K, V, scores, Attn, X_qkv
        by_formula = attend(Q, K, V, edit)
        if self.edit is not None:
            return by_formula
        return *by_formula[:-1], attend_fused(Q, K, V)

    def _layer(self, name: str, kind: str, d_in: int, d_out: int) -> Linear:
        """The linear map of the parameters W_name and b_name."""
        W = self.param(f'W_{name}', self.inits[kind], (d_in, d_out))
        b = self.param(f'b_{name}', self.inits['bias'], (d_out,))
        return Linear(W, b)


def multiply_rows(
    x: jax.Array, W: jax.Array, dtype: str, result: jax.typing.DTypeLike
) -> jax.Array:
    """x [B, T, D] @ W [D, d_out] of factors in `dtype`; see `shortcuts.project`."""
    batch, length, width = x.shape
    rows = x.astype(dtype).reshape(batch * length, width)
    product = multiply(rows, W, result)
    return product.reshape(batch, length, -1)


def attend_fused(Q_BTHK: jax.Array, K_BTHK: jax.Array, V_BTHK: jax.Array) -> jax.Array:
    """Causal attention by jax.nn.dot_product_attention, [B, T, H, K]."""
    return jax.nn.dot_product_attention(Q_BTHK, K_BTHK, V_BTHK, is_causal=True)
