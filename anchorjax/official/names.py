"""What the official model calls our parameters, and which way round it keeps them.

The names are those of P1's model (PAPERS 1.2), with biases and a final LayerNorm P3's (3.2). A
torch Linear keeps [out, in], ours are [d_in, d_out].
"""

import re

import numpy as np

from anchorjax.errors import UserError


def _table(linear: dict[str, str], norm: dict[str, str]) -> dict[str, str]:
    """Official name by ours, weights and biases."""
    names = {f'W_{n}': f'{o}.weight' for n, o in linear.items()}
    names |= {f'b_{n}': f'{o}.bias' for n, o in linear.items()}
    names |= {f'{n}/scale': f'{o}.weight' for n, o in norm.items()}
    return names | {f'{n}/bias': f'{o}.bias' for n, o in norm.items()}


_EMBEDDINGS = {
    'W_embed': 'embedding.tgt_emb.weight',
    'W_pos': 'embedding.pos_emb.weight',
}
_TOP = _EMBEDDINGS | _table({'U': 'projection'}, {'LN_final': 'layernorm'})
_ATTENTION = {name: f'dec_self_attn.W_{name}' for name in 'QKV'} | {
    'O': 'dec_self_attn.fc'
}
_BLOCK = _table(
    _ATTENTION | {'in': 'pos_ffn.fc.0', 'out': 'pos_ffn.fc.2'},
    {'LN_attn': 'dec_self_attn.layernorm', 'LN_mlp': 'pos_ffn.layernorm'},
)


def official_name(name: str) -> str:
    """'block_0/W_Q' -> 'decoder.layers.0.dec_self_attn.W_Q.weight'.

    Raises:
      UserError: a parameter without an official counterpart.
    """
    block = re.fullmatch(r'block_(\d+)/(.+)', name)
    table, inner = (_BLOCK, block[2]) if block else (_TOP, name)
    if inner not in table:
        raise UserError(f'parameter {name!r} has no counterpart in the official model')
    return f'decoder.layers.{block[1]}.{table[inner]}' if block else table[inner]


def depth(names) -> int:
    """Blocks among official names."""
    return len(
        {m[1] for m in (re.match(r'decoder\.layers\.(\d+)\.', n) for n in names) if m}
    )


def turned_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Of a parameter of ours, the shape in the other's layout."""
    return shape[::-1] if _is_linear(name) else shape


def turned(name: str, array: np.ndarray) -> np.ndarray:
    """Of a parameter of ours, a copy in the other's layout, from either."""
    return np.array(array.T if _is_linear(name) else array, order='C')


def _is_linear(name: str) -> bool:
    """A matrix that torch keeps as [out, in]; a table of embeddings is the same in both."""
    return name.split('/')[-1].startswith('W_') and name not in _EMBEDDINGS
