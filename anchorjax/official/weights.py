"""The authors' own checkpoints: a PyTorch state dict of P1's model as our parameters, and back.

Official attention also masks token 0 as padding; ours does not, and no sequence of the anchor task
holds it.
"""

import pathlib
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from flax.traverse_util import flatten_dict, unflatten_dict

from anchorjax import models
from anchorjax.errors import UserError, require
from anchorjax.official import torch_files
from anchorjax.official.names import depth, official_name, turned, turned_shape


def load_weights(
    path: str | pathlib.Path,
    heads: int = 1,
    norm: str | None = None,
    activation: str | None = None,
) -> tuple[models.TransformerConfig, int, Any]:
    """`from_state_dict` of a file that torch.save wrote; no object but tensors is made from it.

    Raises:
      StoreError: a file that cannot or must not be read; UserError: no PyTorch, or not the
        official model.
    """
    state = torch_files.read(pathlib.Path(path))
    try:
        return from_state_dict(state, heads, norm, activation)
    except UserError as e:
        raise UserError(f'{path}: {e}') from None


def save_weights(path: str | pathlib.Path, params: Any) -> None:
    """Writes `to_state_dict(params)` for torch.load and load_state_dict."""
    torch_files.write(pathlib.Path(path), to_state_dict(params))


def from_state_dict(
    state: Mapping[str, np.ndarray],
    heads: int = 1,
    norm: str | None = None,
    activation: str | None = None,
) -> tuple[models.TransformerConfig, int, Any]:
    """(model config, vocab, float32 parameters) of a state dict; sizes are read off the shapes.

    Args:
      heads, norm, activation: what a state dict cannot say. By default a final LayerNorm means
        P3's model ('pre_query', 'gelu'), none means P1's ('post', 'relu').

    Raises:
      UserError: not the official model: a name or shape is missing, unexpected or wrong.
    """
    _check_values(state)
    if state and all(name.startswith('module.') for name in state):  # nn.DataParallel
        state = {name.removeprefix('module.'): value for name, value in state.items()}
    config, vocab = _infer(state, heads, norm, activation)
    ours = flatten_dict(models.abstract_params(config, vocab), sep='/')
    _check_shapes(
        state, {official_name(n): turned_shape(n, a.shape) for n, a in ours.items()}
    )
    leaves = {n: turned(n, state[official_name(n)].astype(np.float32)) for n in ours}
    return config, vocab, unflatten_dict(leaves, sep='/')


def to_state_dict(params: Any) -> dict[str, np.ndarray]:
    """Our parameters under the official names, in torch's layout.

    Raises:
      UserError: a parameter has no official counterpart.
    """
    leaves = flatten_dict(params, sep='/')
    return {official_name(n): turned(n, np.asarray(leaf)) for n, leaf in leaves.items()}


def _infer(state: Mapping[str, np.ndarray], heads: int, norm, activation):
    """(config, vocab) by the shapes of the four matrices that show every size."""
    vocab, width = _matrix_shape(state, 'W_embed')
    rows = _matrix_shape(state, 'block_0/W_Q')[0]
    require(
        heads >= 1 and rows % heads == 0,
        'heads',
        heads,
        f'a divisor of the {rows} query rows',
    )
    final = official_name('LN_final/scale') in state
    config = models.TransformerConfig(
        depth=depth(state),
        width=width,
        heads=heads,
        head_dim=rows // heads,
        mlp_dim=_matrix_shape(state, 'block_0/W_in')[0],
        max_len=_matrix_shape(state, 'W_pos')[0],
        norm=norm or ('pre_query' if final else 'post'),
        activation=activation or ('gelu' if final else 'relu'),
        biases=official_name('block_0/b_Q') in state,
    )
    return config, vocab


def _matrix_shape(state: Mapping[str, np.ndarray], ours: str) -> tuple[int, int]:
    """As torch keeps it."""
    name = official_name(ours)
    if name not in state:
        raise UserError(f'not a state dict of the official model: {name} is missing')
    if state[name].ndim != 2:
        raise UserError(f'{name} has shape {state[name].shape}, not that of a matrix')
    return state[name].shape


def _check_values(state: Mapping[str, Any]) -> None:
    """Names to arrays of floating-point numbers (NumPy itself does not know bfloat16 for one)."""
    for name, value in state.items():
        array = isinstance(value, np.ndarray) and jnp.issubdtype(
            value.dtype, jnp.floating
        )
        if not isinstance(name, str) or not array:
            dtype = f' of {value.dtype}' if hasattr(value, 'dtype') else ''
            raise UserError(
                f'{name!r} is a {type(value).__name__}{dtype}: must be a dense tensor of '
                'floating-point numbers, as in model.state_dict()'
            )


def _check_shapes(
    state: Mapping[str, np.ndarray], expected: dict[str, tuple[int, ...]]
) -> None:
    missing, unexpected = expected.keys() - state.keys(), state.keys() - expected.keys()
    for word, names in (('missing', missing), ('unexpected', unexpected)):
        if names:
            more = f' and {len(names) - 1} more' if len(names) > 1 else ''
            raise UserError(f'{word} in the state dict: {min(names)}{more}')
    for name, shape in expected.items():
        if state[name].shape != shape:
            raise UserError(f'{name} has shape {state[name].shape}, expected {shape}')
