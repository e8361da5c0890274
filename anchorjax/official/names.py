"""Names and layouts of parameters: ours, and those of the authors' PyTorch code.

The official names are those of P1's model (PAPERS 1.2); biases on every linear map and
a final LayerNorm are P3's (PAPERS 3.2). torch.nn.Linear stores its matrix as [out, in];
ours are [d_in, d_out]. Embedding tables have the same layout in both.
"""

import re
from collections.abc import Iterable

import numpy as np

from anchorjax.errors import UserError

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


def to_official_name(name: str) -> str:
    """'block_0/W_Q' -> 'decoder.layers.0.dec_self_attn.W_Q.weight'.

    Raises:
      UserError: the official model has no such parameter.
    """
    match = re.fullmatch(r'block_(\d+)/(.+)', name)
    if match and match[2] in _INSIDE_BLOCK:
        return f'decoder.layers.{match[1]}.{_INSIDE_BLOCK[match[2]]}'
    if name in _OUTSIDE_BLOCKS:
        return _OUTSIDE_BLOCKS[name]
    raise UserError(f'parameter {name!r} has no counterpart in the official model')


def count_blocks(official_names: Iterable[str]) -> int:
    """Number of different blocks that the official names mention."""
    blocks = set()
    for name in official_names:
        match = re.match(r'decoder\.layers\.(\d+)\.', name)
        if match:
            blocks.add(match[1])
    return len(blocks)


def convert_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the parameter that we call `name` in torch's layout, or back in ours."""
    if _is_linear(name):
        return shape[::-1]
    return shape


def convert_layout(name: str, array: np.ndarray) -> np.ndarray:
    """Copy of the parameter that we call `name`, from our layout to torch's or back."""
    if _is_linear(name):
        array = array.T
    return np.array(array, order='C')


def _is_linear(name: str) -> bool:
    """Whether torch stores this parameter transposed."""
    inner = name.split('/')[-1]
    return inner.startswith('W_') and inner not in _EMBEDDINGS
