"""Checkpoints of the authors' PyTorch code: state dicts to our parameters.

The official attention also masks token 0 as padding; ours does not. No sequence of the
anchor task contains token 0.
"""

import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from flax.traverse_util import flatten_dict, unflatten_dict

from anchorjax import models
from anchorjax.errors import UserError, require
from anchorjax.official import torch_files
from anchorjax.official.names import (
    convert_layout,
    convert_shape,
    count_blocks,
    to_official_name,
)

State = Mapping[str, np.ndarray]  # a state dict, its tensors as arrays


class OfficialModel(NamedTuple):
    """A model of the authors, in our terms."""

    config: models.TransformerConfig
    vocab: int
    params: Any  # nested dict of float32 arrays


def load_weights(
    path: str | pathlib.Path,
    heads: int = 1,
    norm: str | None = None,
    activation: str | None = None,
) -> OfficialModel:
    """`from_state_dict` of a file written by torch.save; code in the file is never run.

    Raises:
      StoreError: the file cannot be read, or reading it would not be safe.
      UserError: PyTorch is missing, or the file is not of the official model.
    """
    state = torch_files.read(pathlib.Path(path))
    try:
        return from_state_dict(state, heads, norm, activation)
    except UserError as e:
        raise UserError(f'{path}: {e}') from None


def from_state_dict(
    state: State,
    heads: int = 1,
    norm: str | None = None,
    activation: str | None = None,
) -> OfficialModel:
    """The model of a state dict; its sizes are inferred from the shapes.

    Args:
      state: arrays by official name, each of a floating-point dtype.
      heads, norm, activation: a state dict does not contain them. By default a final
        LayerNorm means P3's model ('pre_query', 'gelu'), otherwise it is P1's
        ('post', 'relu').

    Raises:
      UserError: a name or shape is missing, unexpected or wrong.
    """
    _check_values(state)
    state = _strip_data_parallel(state)
    config = _infer_config(state, heads, norm, activation)
    vocab, _ = _matrix_shape(state, 'W_embed')
    abstract = flatten_dict(models.abstract_params(config, vocab), sep='/')
    _check_shapes(state, abstract)
    leaves = {}
    for name in abstract:
        array = state[to_official_name(name)]
        leaves[name] = convert_layout(name, array.astype(np.float32))
    return OfficialModel(config, vocab, unflatten_dict(leaves, sep='/'))


def _infer_config(
    state: State, heads: int, norm: str | None, activation: str | None
) -> models.TransformerConfig:
    """Config from the shapes of the four matrices that together show every size."""
    width = _matrix_shape(state, 'W_embed')[1]
    query_rows = _matrix_shape(state, 'block_0/W_Q')[0]
    mlp_dim = _matrix_shape(state, 'block_0/W_in')[0]
    max_len = _matrix_shape(state, 'W_pos')[0]
    divides = heads >= 1 and query_rows % heads == 0
    require(divides, 'heads', heads, f'a divisor of the {query_rows} query rows')
    is_p3 = to_official_name('LN_final/scale') in state
    default_norm, default_activation = ('post', 'relu')
    if is_p3:
        default_norm, default_activation = ('pre_query', 'gelu')
    return models.TransformerConfig(
        depth=count_blocks(state),
        width=width,
        heads=heads,
        head_dim=query_rows // heads,
        mlp_dim=mlp_dim,
        max_len=max_len,
        norm=norm or default_norm,
        activation=activation or default_activation,
        biases=to_official_name('block_0/b_Q') in state,
    )


def _matrix_shape(state: State, name: str) -> tuple[int, int]:
    """Shape, in torch's layout, of the matrix that we call `name`."""
    official_name = to_official_name(name)
    if official_name not in state:
        raise UserError(
            f'not a state dict of the official model: {official_name} is missing'
        )
    shape = state[official_name].shape
    if len(shape) != 2:
        raise UserError(f'{official_name} has shape {shape}, expected a matrix')
    return shape


def _strip_data_parallel(state: State) -> State:
    """Removes the prefix that nn.DataParallel puts before every name."""
    prefix = 'module.'
    for name in state:
        if not name.startswith(prefix):
            return state
    stripped = {}
    for name, array in state.items():
        stripped[name.removeprefix(prefix)] = array
    return stripped


def _check_values(state: Mapping[Any, Any]) -> None:
    """Raises UserError unless all entries are named arrays of floating-point dtype."""
    for name, value in state.items():
        if not isinstance(name, str):
            raise UserError(f'not a state dict: its key {name!r} is not a string')
        kind = type(value).__name__
        if hasattr(value, 'dtype'):
            kind = f'{kind} of {value.dtype}'
        is_floating = False
        if isinstance(value, np.ndarray):
            # NumPy's own issubdtype does not know bfloat16.
            is_floating = jnp.issubdtype(value.dtype, jnp.floating)
        if not is_floating:
            raise UserError(
                f'entry {name!r} is of type {kind}, expected a dense tensor of '
                'floating-point numbers, as in model.state_dict()'
            )


def _check_shapes(state: State, abstract: Mapping[str, Any]) -> None:
    """Raises UserError unless names and shapes are those of our abstract parameters."""
    expected = {}
    for name, leaf in abstract.items():
        expected[to_official_name(name)] = convert_shape(name, leaf.shape)
    _refuse_names('missing', expected.keys() - state.keys())
    _refuse_names('unexpected', state.keys() - expected.keys())
    for name, shape in expected.items():
        if state[name].shape != shape:
            raise UserError(f'{name} has shape {state[name].shape}, expected {shape}')


def _refuse_names(problem: str, names: set[str]) -> None:
    """Raises UserError if there are any such names; the line shows the first one."""
    if not names:
        return
    more = ''
    if len(names) > 1:
        more = f' and {len(names) - 1} more'
    raise UserError(f'{problem} in the state dict: {min(names)}{more}')
