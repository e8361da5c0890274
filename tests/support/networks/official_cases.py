"""What the tests of official checkpoints share."""

import pathlib
from typing import Any

import numpy as np
from flax.traverse_util import flatten_dict

from anchorjax.official.weights import convert_layout, to_official_name

# Changes to the tiny experiment that make its model P3's.
P3 = {'model__norm': 'pre_query', 'model__activation': 'gelu', 'model__biases': True}


def to_state_dict(params: Any) -> dict[str, np.ndarray]:
    """Our parameters under their official names and in torch's layout."""
    state = {}
    for name, leaf in flatten_dict(params, sep='/').items():
        state[to_official_name(name)] = convert_layout(name, np.asarray(leaf))
    return state


def save_weights(path: pathlib.Path, params: Any) -> None:
    """A file of the authors' model with these parameters."""
    import torch  # optional

    state = {}
    for name, array in to_state_dict(params).items():
        state[name] = torch.from_numpy(array)
    torch.save(state, path)
