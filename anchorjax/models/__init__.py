"""What a model is: a config that builds a module, and what the module returns.

A new model is a new file of this folder, and its config a row of MODELS.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from jax.typing import DTypeLike

from anchorjax import numerics
from anchorjax.caching import cache
from anchorjax.errors import UserError, require

# {name: 'MODULE:CLASS' of its config}, imported when a config names it; or the class.
MODELS: dict[str, 'str | type[ModelConfig]'] = {
    'transformer': 'anchorjax.models.transformer:TransformerConfig',
    'gpt2': 'anchorjax.models.gpt2:GPT2Config',
    'emb_mlp': 'anchorjax.models.emb_mlp:EmbMLPConfig',
    'one_layer': 'anchorjax.models.one_layer:OneLayerConfig',
}

# An intervention: (field, block, value) -> the value that replaces it. A model calls it
# with every activation, by the names below, as soon as each is computed; blocks count
# from 0, and what is of no block has None.
Edit = Callable[[str, int | None, jax.Array], jax.Array]
# (field, value) -> the value that replaces it: an Edit of one block, or outside of all.
BlockEdit = Callable[[str, jax.Array], jax.Array]


class BlockActivations(NamedTuple):
    """One block (P1 App A). Q is T, or 1 in a last block that computes one position.

    `network.AXES` has the names that TransformerLens gives them.
    """

    Q: jax.Array  # [B, Q, H, K]
    K: jax.Array  # [B, T, H, K]
    V: jax.Array  # [B, T, H, K]
    scores: jax.Array  # [B, H, Q, T]: Q K^T / sqrt(d_k), before the mask
    Attn: jax.Array  # [B, H, Q, T]; rows sum to 1
    X_qkv: jax.Array  # [B, Q, H, K]: Attn V, the output of every head before W_O
    attn_out: jax.Array  # [B, Q, D]: what attention adds to the stream
    X_ao: jax.Array  # [B, Q, D]: the stream after attention
    hidden_in: jax.Array  # [B, Q, F]: the neurons of the MLP, before the activation
    hidden: jax.Array  # [B, Q, F]: after it
    mlp_out: jax.Array  # [B, Q, D]: what the MLP adds to the stream
    X_do: jax.Array  # [B, Q, D]: the stream after the block


class Activations(NamedTuple):
    """Everything a forward pass computes; the compiler drops what is not used."""

    X_em: jax.Array  # [B, T, D]: token plus position embedding
    blocks: tuple[BlockActivations, ...]
    logits: jax.Array  # [B, Q, V]
    own: Mapping[str, jax.Array] = {}  # others, by the model's own names


class ModelConfig:
    """A model: a frozen, hashable dataclass whose fields are its settings."""

    name: str  # its name in MODELS
    has_mixed_precision: ClassVar[bool] = False  # whether it can train in bfloat16
    # Edges of attention that it does not have; a field of the models that can leave
    # some out. See `models.edges`.
    cut_edges: ClassVar[tuple[tuple[int, str, str], ...]] = ()
    # Fields of its named sizes, for config.default(model=..., size=...).
    sizes: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})

    def module(self, vocab: int, gamma: float | jax.Array) -> nn.Module:
        """The network, tokens [B, T] -> Activations.

        Args:
          gamma: the initialization rate; matters to `init` alone and may be traced.
        """
        raise NotImplementedError

    def module_for_logits(self, vocab: int, dtype: DTypeLike) -> nn.Module:
        """The network for training: only its logits, float32, are used.

        Args:
          dtype: of activations and factors of products. It is float32 unless the model
            `has_mixed_precision`.
        """
        return self.module(vocab, gamma=0.0)

    def is_decayed(self, name: str) -> bool:
        """Whether weight decay shrinks the parameters of this name: 'W_Q', 'scale'.

        By default it shrinks all, as in P1 (PAPERS 1.3).
        """
        return True

    @property
    def is_drawn(self) -> bool:
        """Whether a new member's weights are drawn, and not read by `read_start`."""
        return type(self).read_start is ModelConfig.read_start

    def read_start(self, vocab: int) -> Any | None:
        """Parameters that were trained before; None: new ones are drawn."""
        return None

    def digest_start(self) -> dict[str, str]:
        """{path: SHA-256} of the file that `read_start` reads; {}: there is none."""
        return {}

    def require_fit(self, seq_len: int, vocab: int) -> None:
        """Raises ConfigError if the model cannot read this task's sequences."""


def init_params(
    config: ModelConfig, vocab: int, gamma: float | jax.Array, key: jax.Array
) -> Any:
    """The parameters a member starts with: drawn, or read from the config's file.

    Gamma scales the noise, which depends on the key alone.

    Raises:
      UserError: the file cannot be read, or is of another model.
    """
    params = config.read_start(vocab)
    if params is None:
        params = draw_params(config, vocab, gamma, key)
    return params


def draw_params(
    config: ModelConfig, vocab: int, gamma: float | jax.Array, key: jax.Array
) -> Any:
    """New parameters, whatever file the config names; ConfigError if there are none."""
    # Their shapes do not depend on the length of the sequences.
    tokens_BT = jnp.zeros((1, 1), jnp.int32)
    variables = config.module(vocab, gamma).init(key, tokens_BT)
    require('params' in variables, 'model.name', config.name, 'a model with parameters')
    return variables['params']


@cache()  # called for every member that is read; tracing takes 0.1 s
@numerics.pin()
def abstract_params(config: ModelConfig, vocab: int) -> Any:
    """The parameter tree, of ShapeDtypeStructs; nothing is computed."""

    def init() -> Any:
        return draw_params(config, vocab, 0.0, jax.random.key(0))

    return jax.eval_shape(init)


def as_parameter(array: np.ndarray, name: str) -> np.ndarray:
    """An array of a file as float32.

    Raises:
      UserError: it is of another kind (quantized weights are integers), or not finite.
    """
    kind = array.dtype.name
    if not jnp.issubdtype(array.dtype, jnp.floating):
        raise UserError(f'{name} is {kind}: must be of a floating type')
    with np.errstate(over='ignore'):
        parameter = np.asarray(array, np.float32)
    if not np.isfinite(parameter).all():
        raise UserError(f'{name} has numbers that are not finite in float32')
    return parameter


def mask_decay(config: ModelConfig, params: Any) -> Any:
    """Which leaves weight decay shrinks: a tree of bools, like `params`."""

    def is_decayed(path: Any, leaf: jax.Array) -> bool:
        return config.is_decayed(path[-1].key)

    return jax.tree_util.tree_map_with_path(is_decayed, params)


def restrict_edit(edit: Edit | None, layer: int | None) -> BlockEdit:
    """The intervention in one block, or outside; without one, values stay."""

    def edit_block(field: str, value: jax.Array) -> jax.Array:
        return value if edit is None else edit(field, layer, value)

    return edit_block


def require_positions(seq_len: int, max_len: int) -> None:
    """Raises ConfigError if the position table is shorter than a sequence."""
    allowed = f'at most model.max_len, {max_len}'
    require(seq_len <= max_len, 'task.seq_len', seq_len, allowed)
