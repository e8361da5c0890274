"""The authors' own checkpoints: a PyTorch state dict of P1's model as our parameters, and back.

The names are those of the official model (PAPERS 1.2, and 3.2 with biases and a final LayerNorm).
A torch Linear keeps [out, in], ours are [d_in, d_out]. Official attention also masks token 0 as
padding; ours does not, and no sequence of the anchor task holds it.
"""

import io
import pathlib
import pickle
import re
import warnings
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from flax.traverse_util import flatten_dict, unflatten_dict

from anchorjax import files, models
from anchorjax.errors import StoreError, UserError, require


def _table(linear: dict[str, str], norm: dict[str, str]) -> dict[str, str]:
    """Official name by ours, weights and biases."""
    names = {f'W_{n}': f'{o}.weight' for n, o in linear.items()}
    names |= {f'b_{n}': f'{o}.bias' for n, o in linear.items()}
    names |= {f'{n}/scale': f'{o}.weight' for n, o in norm.items()}
    return names | {f'{n}/bias': f'{o}.bias' for n, o in norm.items()}


_TABLES = {'W_embed': 'embedding.tgt_emb.weight', 'W_pos': 'embedding.pos_emb.weight'}
_TOP = _TABLES | _table({'U': 'projection'}, {'LN_final': 'layernorm'})
_ATTENTION = {name: f'dec_self_attn.W_{name}' for name in 'QKV'} | {'O': 'dec_self_attn.fc'}
_BLOCK = _table(
    _ATTENTION | {'in': 'pos_ffn.fc.0', 'out': 'pos_ffn.fc.2'},
    {'LN_attn': 'dec_self_attn.layernorm', 'LN_mlp': 'pos_ffn.layernorm'},
)
_SAFE_TORCH = (2, 10)  # before, weights_only had holes: CVE-2025-32434, CVE-2026-24747


def load(
    path: str | pathlib.Path, heads: int = 1, norm: str | None = None, activation: str | None = None
) -> tuple[models.TransformerConfig, int, Any]:
    """`from_state_dict` of a file that torch.save wrote; no object but tensors is made from it.

    Raises:
      StoreError: no such file, not one of torch.save, or refused because it holds more than
        tensors; UserError: no PyTorch, or not the official model.
    """
    state = _read(pathlib.Path(path))
    try:
        return from_state_dict(state, heads, norm, activation)
    except UserError as e:
        raise UserError(f'{path}: {e}') from None


def save(path: str | pathlib.Path, params: Any) -> None:
    """Writes `to_state_dict(params)` for torch.load and load_state_dict."""
    torch = _torch()
    state = {name: torch.from_numpy(array) for name, array in to_state_dict(params).items()}

    def write(temporary: pathlib.Path) -> None:
        with open(temporary, 'wb') as f:  # a path would put the temporary name into the file
            torch.save(state, f)

    files.write_atomic(pathlib.Path(path), write)


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
    shapes = {n: leaf.shape[::-1] if _is_linear(n) else leaf.shape for n, leaf in ours.items()}
    _check_shapes(state, {official_name(n): shape for n, shape in shapes.items()})
    leaves = {n: _turned(n, state[official_name(n)].astype(np.float32)) for n in ours}
    return config, vocab, unflatten_dict(leaves, sep='/')


def to_state_dict(params: Any) -> dict[str, np.ndarray]:
    """Our parameters under the official names, in torch's layout.

    Raises:
      UserError: a parameter has no official counterpart.
    """
    leaves = flatten_dict(params, sep='/')
    return {official_name(n): _turned(n, np.asarray(leaf)) for n, leaf in leaves.items()}


def official_name(name: str) -> str:
    """'block_0/W_Q' -> 'decoder.layers.0.dec_self_attn.W_Q.weight'."""
    block = re.fullmatch(r'block_(\d+)/(.+)', name)
    table, inner = (_BLOCK, block[2]) if block else (_TOP, name)
    if inner not in table:
        raise UserError(f'parameter {name!r} has no counterpart in the official model')
    return f'decoder.layers.{block[1]}.{table[inner]}' if block else table[inner]


def _is_linear(name: str) -> bool:
    """A matrix that torch keeps as [out, in]; a table of embeddings is the same in both."""
    return name.split('/')[-1].startswith('W_') and name not in _TABLES


def _turned(name: str, array: np.ndarray) -> np.ndarray:
    """A copy in the other's layout."""
    return np.array(array.T if _is_linear(name) else array, order='C')


def _read(path: pathlib.Path) -> dict[str, Any]:
    """What a file holds, its tensors as arrays."""
    torch = _torch()
    if tuple(map(int, torch.__version__.split('.')[:2])) < _SAFE_TORCH:
        least = '.'.join(map(str, _SAFE_TORCH))
        raise UserError(f'PyTorch {torch.__version__} does not read files safely: needs {least}')
    with files.one_line('read', path):
        content = io.BytesIO(path.read_bytes())
    try:
        with warnings.catch_warnings(action='ignore'):  # on foreign files; an error is one line
            state = torch.load(content, map_location='cpu', weights_only=True)
    except pickle.UnpicklingError as e:  # its own text advises to switch the protection off
        found = re.search(r'GLOBAL ([\w.]+)', str(e))
        what = f'it holds {found[1]}' if found else 'it holds something else than tensors'
        raise StoreError(
            f'{path} is refused: {what}, and reading that could run code; '
            'give a file of torch.save(model.state_dict(), ...)'
        ) from None
    except Exception as e:  # whatever a parser makes of foreign bytes
        kind = type(e).__name__
        raise StoreError(f'{path} is damaged or no file of torch.save ({kind})') from None
    if not isinstance(state, Mapping):
        raise UserError(f'{path} holds a {type(state).__name__}, not a state dict')
    return {name: _array(torch, value) for name, value in state.items()}


def _array(torch, value: Any) -> Any:
    """A float32 (also of float16 and bfloat16) tensor's numbers; anything else as it is."""
    dense = isinstance(value, torch.Tensor) and value.layout == torch.strided and not value.is_meta
    return value.detach().float().numpy() if dense and value.is_floating_point() else value


def _torch():
    try:
        import torch
    except ImportError:
        raise UserError("files of PyTorch need PyTorch: pip install -e '.[torch]'") from None
    return torch


def _infer(state: Mapping[str, np.ndarray], heads: int, norm, activation):
    """(config, vocab) by the shapes of the four matrices that show every size."""
    layers = {m[1] for m in (re.match(r'decoder\.layers\.(\d+)\.', n) for n in state) if m}
    vocab, width = _matrix_shape(state, _TABLES['W_embed'])
    rows = _matrix_shape(state, official_name('block_0/W_Q'))[0]
    require(heads >= 1 and rows % heads == 0, 'heads', heads, f'a divisor of the {rows} query rows')
    final = 'layernorm.weight' in state
    config = models.TransformerConfig(
        depth=len(layers),
        width=width,
        heads=heads,
        head_dim=rows // heads,
        mlp_dim=_matrix_shape(state, official_name('block_0/W_in'))[0],
        max_len=_matrix_shape(state, _TABLES['W_pos'])[0],
        norm=norm or ('pre_query' if final else 'post'),
        activation=activation or ('gelu' if final else 'relu'),
        biases=official_name('block_0/b_Q') in state,
    )
    return config, vocab


def _matrix_shape(state: Mapping[str, np.ndarray], name: str) -> tuple[int, int]:
    if name not in state:
        raise UserError(f'not a state dict of the official model: {name} is missing')
    if state[name].ndim != 2:
        raise UserError(f'{name} has shape {state[name].shape}, not that of a matrix')
    return state[name].shape


def _check_values(state: Mapping[str, Any]) -> None:
    """Names to arrays of floating-point numbers (NumPy itself does not know bfloat16 for one)."""
    for name, value in state.items():
        array = isinstance(value, np.ndarray) and jnp.issubdtype(value.dtype, jnp.floating)
        if not isinstance(name, str) or not array:
            dtype = f' of {value.dtype}' if hasattr(value, 'dtype') else ''
            raise UserError(
                f'{name!r} is a {type(value).__name__}{dtype}: must be a dense tensor of '
                'floating-point numbers, as in model.state_dict()'
            )


def _check_shapes(state: Mapping[str, np.ndarray], expected: dict[str, tuple[int, ...]]) -> None:
    missing, unexpected = expected.keys() - state.keys(), state.keys() - expected.keys()
    for word, names in (('missing', missing), ('unexpected', unexpected)):
        if names:
            more = f' and {len(names) - 1} more' if len(names) > 1 else ''
            raise UserError(f'{word} in the state dict: {min(names)}{more}')
    for name, shape in expected.items():
        if state[name].shape != shape:
            raise UserError(f'{name} has shape {state[name].shape}, expected {shape}')
