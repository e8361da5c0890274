"""Checkpoints of the authors' PyTorch code: state dicts to our parameters.

The official names are those of P1's model (PAPERS 1.2); biases on every linear map and
a final LayerNorm are P3's (PAPERS 3.2). torch.nn.Linear stores its matrix as [out, in];
ours are [d_in, d_out]. Embedding tables have the same layout in both. The official
attention also masks token 0 as padding; ours does not. No sequence of the anchor task
contains token 0.
"""

import pathlib
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from flax.traverse_util import flatten_dict, unflatten_dict

from anchorjax import models
from anchorjax.errors import UserError, require, require_names
from anchorjax.models.transformer import Activation, Norm, TransformerConfig
from anchorjax.official import torch_files

State = Mapping[str, np.ndarray]  # a state dict, its tensors as arrays
_EMBEDDINGS = {
    'W_embed': 'embedding.tgt_emb.weight',
    'W_pos': 'embedding.pos_emb.weight',
}
_OUTSIDE_BLOCKS = {
    **_EMBEDDINGS,
    'W_U': 'projection.weight',
    'b_U': 'projection.bias',
    'LN_final/scale': 'layernorm.weight',
    'LN_final/bias': 'layernorm.bias',
}
_INSIDE_BLOCK = {
    'W_Q': 'dec_self_attn.W_Q.weight',
    'W_K': 'dec_self_attn.W_K.weight',
    'W_V': 'dec_self_attn.W_V.weight',
    'W_O': 'dec_self_attn.fc.weight',
    'W_in': 'pos_ffn.fc.0.weight',
    'W_out': 'pos_ffn.fc.2.weight',
    'b_Q': 'dec_self_attn.W_Q.bias',
    'b_K': 'dec_self_attn.W_K.bias',
    'b_V': 'dec_self_attn.W_V.bias',
    'b_O': 'dec_self_attn.fc.bias',
    'b_in': 'pos_ffn.fc.0.bias',
    'b_out': 'pos_ffn.fc.2.bias',
    'LN_attn/scale': 'dec_self_attn.layernorm.weight',
    'LN_attn/bias': 'dec_self_attn.layernorm.bias',
    'LN_mlp/scale': 'pos_ffn.layernorm.weight',
    'LN_mlp/bias': 'pos_ffn.layernorm.bias',
}


class OfficialModel(NamedTuple):
    """A model of the authors, in our terms."""

    config: TransformerConfig
    vocab: int
    params: Any  # nested dict of float32 arrays


def load_weights(
    path: str | pathlib.Path,
    heads: int = 1,
    norm: Norm | None = None,
    activation: Activation | None = None,
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
    norm: Norm | None = None,
    activation: Activation | None = None,
) -> OfficialModel:
    """The model of a state dict; its sizes are inferred from the shapes.

    Args:
      state: arrays by official name.
      heads, norm, activation: a state dict does not contain them. By default a final
        LayerNorm means P3's model ('pre_query', 'gelu'), otherwise it is P1's
        ('post', 'relu').

    Raises:
      UserError: a name or shape is missing, unexpected or wrong.
    """
    state = _strip_data_parallel(state)
    config = _infer_config(state, heads, norm, activation)
    vocab, _ = _matrix_shape(state, 'W_embed')
    abstract = flatten_dict(models.abstract_params(config, vocab), sep='/')
    _check_shapes(state, abstract)
    leaves = {}
    for name in abstract:
        official_name = to_official_name(name)
        array = models.as_parameter(state[official_name], official_name)
        leaves[name] = convert_layout(name, array)
    return OfficialModel(config, vocab, unflatten_dict(leaves, sep='/'))


def _infer_config(
    state: State, heads: int, norm: Norm | None, activation: Activation | None
) -> TransformerConfig:
    """Config from the shapes of the four matrices that together show every size."""
    width = _matrix_shape(state, 'W_embed')[1]
    query_rows = _matrix_shape(state, 'block_0/W_Q')[0]
    mlp_dim = _matrix_shape(state, 'block_0/W_in')[0]
    max_len = _matrix_shape(state, 'W_pos')[0]
    divides = heads >= 1 and query_rows % heads == 0
    require(divides, 'heads', heads, f'a divisor of the {query_rows} query rows')
    default_norm, default_activation = 'post', 'relu'
    if to_official_name('LN_final/scale') in state:
        default_norm, default_activation = 'pre_query', 'gelu'
    return TransformerConfig(
        depth=_count_blocks(state),
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
    stripped = {}
    for name, array in state.items():
        stripped[name.removeprefix('module.')] = array
    return stripped


def to_official_name(name: str) -> str:
    """'block_0/LN_mlp/bias' -> 'decoder.layers.0.pos_ffn.layernorm.bias'."""
    match = re.fullmatch(r'block_(\d+)/(.+)', name)
    if match and match[2] in _INSIDE_BLOCK:
        return f'decoder.layers.{match[1]}.{_INSIDE_BLOCK[match[2]]}'
    if name in _OUTSIDE_BLOCKS:
        return _OUTSIDE_BLOCKS[name]
    raise UserError(f'parameter {name!r} has no counterpart in the official model')


def _count_blocks(state: State) -> int:
    """Number of different blocks that the official names mention."""
    blocks = set()
    for name in state:
        match = re.match(r'decoder\.layers\.(\d+)\.', name)
        if match:
            blocks.add(match[1])
    return len(blocks)


def convert_layout(name: str, array: np.ndarray) -> np.ndarray:
    """Copy of the parameter that we call `name`, from our layout to torch's or back."""
    if _is_transposed(name):
        array = array.T
    return np.array(array, order='C')


def _is_transposed(name: str) -> bool:
    """Whether torch stores this parameter transposed: the matrix of a linear map."""
    inner = name.split('/')[-1]
    return inner.startswith('W_') and inner not in _EMBEDDINGS


def _check_shapes(state: State, abstract: Mapping[str, Any]) -> None:
    """Raises UserError unless names and shapes are those of our abstract parameters."""
    expected = {}
    for name, leaf in abstract.items():
        expected[to_official_name(name)] = leaf.shape
        if _is_transposed(name):
            expected[to_official_name(name)] = leaf.shape[::-1]
    require_names(state, expected)
    for name, shape in expected.items():
        if state[name].shape != shape:
            raise UserError(f'{name} has shape {state[name].shape}, expected {shape}')
