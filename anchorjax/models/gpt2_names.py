"""GPT-2's parameters under Hugging Face's names and in their layout, and back.

Their Conv1D stores [d_in, d_out], as we do, and keeps Q, K and V in one layer. Their
head is tied to the embedding, as ours is.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from anchorjax.errors import UserError, brief
from anchorjax.models.gpt2_config import GPT2Config

State = Mapping[str, np.ndarray]  # arrays by Hugging Face's names

_PREFIX = 'transformer.'  # files of the bare model lack it
_HEAD = 'lm_head.weight'
_BUFFERS = ('.attn.bias', '.attn.masked_bias')  # masks that old files hold
# Ours, then theirs: a matrix and a bias each, then the LayerNorms.
_LAYERS = {'O': 'attn.c_proj', 'in': 'mlp.c_fc', 'out': 'mlp.c_proj'}
_NORMS = {'LN_attn': 'ln_1', 'LN_mlp': 'ln_2'}
_QKV = 'QKV'
_ATTENTION = 'attn.c_attn'  # Q, K and V in one layer


def to_hugging_face(params: Any) -> dict[str, np.ndarray]:
    """Our parameters under their names, without the tied head."""
    state = {
        f'{_PREFIX}wte.weight': np.asarray(params['W_embed']),
        f'{_PREFIX}wpe.weight': np.asarray(params['W_pos']),
    }
    _put_norm(state, f'{_PREFIX}ln_f', params['LN_final'])
    blocks = [name for name in params if name.startswith('block_')]
    for layer in range(len(blocks)):
        _put_block(state, f'{_PREFIX}h.{layer}', params[f'block_{layer}'])
    return state


def from_hugging_face(state: State, config: GPT2Config) -> dict[str, Any]:
    """Our parameters, float32, of their state.

    Raises:
      UserError: a name is missing or unexpected, a shape is not that of the config, or
        the head is not tied to the embedding.
    """
    state = _strip(state)
    expected = list_shapes(config, vocab=_count_tokens(state))
    _require_names(state, expected)
    for name, shape in expected.items():
        if state[name].shape != shape:
            raise UserError(
                f'{name} has shape {state[name].shape}, the config expects {shape}'
            )
    arrays = {name: np.asarray(state[name], np.float32) for name in expected}
    params: dict[str, Any] = {
        'W_embed': arrays['wte.weight'],
        'W_pos': arrays['wpe.weight'],
        'LN_final': _get_norm(arrays, 'ln_f'),
    }
    for layer in range(config.depth):
        params[f'block_{layer}'] = _get_block(arrays, f'h.{layer}')
    return params


def infer_sizes(state: State) -> dict[str, int]:
    """depth, width, max_len and vocab of a state; it does not show the heads.

    Raises:
      UserError: it is not of GPT-2.
    """
    state = _strip(state)
    layers = {name.split('.')[1] for name in state if name.startswith('h.')}
    vocab = _count_tokens(state)
    width = state['wte.weight'].shape[1]
    if 'wpe.weight' not in state:
        raise UserError("not GPT-2's state: wpe.weight is missing")
    max_len = state['wpe.weight'].shape[0]
    return {'depth': len(layers), 'width': width, 'max_len': max_len, 'vocab': vocab}


def list_shapes(config: GPT2Config, vocab: int) -> dict[str, tuple[int, ...]]:
    """The shape of every array by their name, without prefix and head."""
    width, neurons = config.width, config.mlp_dim
    shapes: dict[str, tuple[int, ...]] = {
        'wte.weight': (vocab, width),
        'wpe.weight': (config.max_len, width),
    }
    layers = {
        _ATTENTION: (width, 3 * width),
        'attn.c_proj': (width, width),
        'mlp.c_fc': (width, neurons),
        'mlp.c_proj': (neurons, width),
    }
    norms = ['ln_f']
    for layer in range(config.depth):
        for name, shape in layers.items():
            shapes[f'h.{layer}.{name}.weight'] = shape
            shapes[f'h.{layer}.{name}.bias'] = shape[1:]
        for name in _NORMS.values():
            norms.append(f'h.{layer}.{name}')
    for norm in norms:
        shapes[f'{norm}.weight'] = shapes[f'{norm}.bias'] = (width,)
    return shapes


def _strip(state: State) -> dict[str, np.ndarray]:
    """The state without prefixes, masks and the head, which must be the embedding."""
    stripped = {}
    for name, array in state.items():
        short = name.removeprefix(_PREFIX)
        if not short.endswith(_BUFFERS):
            stripped[short] = array
    head = stripped.pop(_HEAD, None)
    embedding = stripped.get('wte.weight')
    if head is not None and not np.array_equal(head, embedding):
        raise UserError(f'{_HEAD} is not the embedding: this head is not tied')
    return stripped


def _count_tokens(state: State) -> int:
    if 'wte.weight' not in state or state['wte.weight'].ndim != 2:
        raise UserError("not GPT-2's state: wte.weight is missing or no matrix")
    return state['wte.weight'].shape[0]


def _require_names(state: State, expected: Mapping[str, Any]) -> None:
    for problem, names in (
        ('missing', expected.keys() - state.keys()),
        ('unexpected', state.keys() - expected.keys()),
    ):
        if names:
            raise UserError(f'{len(names)} arrays {problem}, e.g. {brief(min(names))}')


def _put_block(state: dict[str, np.ndarray], prefix: str, block: Any) -> None:
    for ours, theirs in _NORMS.items():
        _put_norm(state, f'{prefix}.{theirs}', block[ours])
    for ours, theirs in _LAYERS.items():
        _put_pair(state, f'{prefix}.{theirs}', block[f'W_{ours}'], block[f'b_{ours}'])
    matrices = []
    biases = []
    for letter in _QKV:
        matrices.append(block[f'W_{letter}'])
        biases.append(block[f'b_{letter}'])
    matrix = np.concatenate(matrices, axis=1)
    bias = np.concatenate(biases)
    _put_pair(state, f'{prefix}.{_ATTENTION}', matrix, bias)


def _get_block(arrays: State, prefix: str) -> dict[str, Any]:
    block: dict[str, Any] = {}
    for ours, theirs in _NORMS.items():
        block[ours] = _get_norm(arrays, f'{prefix}.{theirs}')
    for ours, theirs in _LAYERS.items():
        block[f'W_{ours}'] = arrays[f'{prefix}.{theirs}.weight']
        block[f'b_{ours}'] = arrays[f'{prefix}.{theirs}.bias']
    joint = f'{prefix}.{_ATTENTION}'
    matrices = np.split(arrays[f'{joint}.weight'], 3, axis=1)
    biases = np.split(arrays[f'{joint}.bias'], 3)
    for letter, matrix, bias in zip(_QKV, matrices, biases, strict=True):
        block[f'W_{letter}'] = np.ascontiguousarray(matrix)
        block[f'b_{letter}'] = np.ascontiguousarray(bias)
    return block


def _get_norm(arrays: State, name: str) -> dict[str, np.ndarray]:
    return {'scale': arrays[f'{name}.weight'], 'bias': arrays[f'{name}.bias']}


def _put_norm(state: dict[str, np.ndarray], name: str, norm: Any) -> None:
    _put_pair(state, name, norm['scale'], norm['bias'])


def _put_pair(state: dict[str, np.ndarray], name: str, weight: Any, bias: Any) -> None:
    state[f'{name}.weight'] = np.asarray(weight)
    state[f'{name}.bias'] = np.asarray(bias)
