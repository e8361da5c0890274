"""Our parameters as GPT-2 of the package transformers has them."""

from typing import Any

import numpy as np

# Ours, then theirs: the layers of a block that have a matrix and a bias.
_LAYERS = {'O': 'attn.c_proj', 'in': 'mlp.c_fc', 'out': 'mlp.c_proj'}
_NORMS = {'LN_attn': 'ln_1', 'LN_mlp': 'ln_2'}


def to_state_dict(params: Any) -> dict[str, np.ndarray]:
    """Their names and layout, without the tied head.

    Their Conv1D stores [d_in, d_out], as we do, and Q, K and V are one layer.
    """
    state = {
        'transformer.wte.weight': np.array(params['W_embed']),
        'transformer.wpe.weight': np.array(params['W_pos']),
    }
    state |= _convert_norm('transformer.ln_f', params['LN_final'])
    depth = sum(name.startswith('block_') for name in params)
    for layer in range(depth):
        block = params[f'block_{layer}']
        prefix = f'transformer.h.{layer}'
        for ours, theirs in _NORMS.items():
            state |= _convert_norm(f'{prefix}.{theirs}', block[ours])
        for ours, theirs in _LAYERS.items():
            state[f'{prefix}.{theirs}.weight'] = np.array(block[f'W_{ours}'])
            state[f'{prefix}.{theirs}.bias'] = np.array(block[f'b_{ours}'])
        matrices = [block['W_Q'], block['W_K'], block['W_V']]
        biases = [block['b_Q'], block['b_K'], block['b_V']]
        state[f'{prefix}.attn.c_attn.weight'] = np.concatenate(matrices, axis=1)
        state[f'{prefix}.attn.c_attn.bias'] = np.concatenate(biases)
    return state


def _convert_norm(name: str, norm: Any) -> dict[str, np.ndarray]:
    return {
        f'{name}.weight': np.array(norm['scale']),
        f'{name}.bias': np.array(norm['bias']),
    }
