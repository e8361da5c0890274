"""Official state dicts and our parameters hold the same numbers; without PyTorch."""

import functools
import math
from typing import Any

import chex
import numpy as np
import pytest

from anchorjax import config
from anchorjax.errors import UserError
from anchorjax.official import weights
from tests.support import cases
from tests.support.networks.official_cases import P3, to_state_dict

# Structure, dtypes and numbers.
assert_same_bits = functools.partial(chex.assert_trees_all_equal, strict=True)
ATTENTION = 'decoder.layers.1.dec_self_attn.'
ZEROS = np.zeros((2, 3), np.float32)


@functools.lru_cache
def make_state(**fields: Any) -> dict[str, np.ndarray]:
    """State dict of a tiny member."""
    _, params = cases.draw_member(**fields)
    return to_state_dict(params)


@pytest.mark.parametrize('layout', [{}, P3], ids=['P1', 'P3'])
@pytest.mark.parametrize('heads', [1, 2])
def test_there_and_back_changes_no_bit_and_finds_every_size(layout, heads):
    experiment, params = cases.draw_member(model__heads=heads, model__depth=3, **layout)
    state = to_state_dict(params)
    read = weights.from_state_dict(state, heads=heads)
    assert read.config == experiment.model
    assert read.vocab == experiment.task.vocab
    assert_same_bits(read.params, params)
    assert_same_bits(to_state_dict(read.params), state)


def test_names_and_shapes_are_the_printed_ones():
    """Of a P1 model of 2 layers, as its module tree prints them (PAPERS 1.2)."""
    params = cases.random_params(config.resolve(config.default()))
    shapes = {}
    for name, array in to_state_dict(params).items():
        shapes[name] = array.shape
    expected = {
        'embedding.tgt_emb.weight': (201, 400),
        'embedding.pos_emb.weight': (20, 400),
        'projection.weight': (201, 400),
        'projection.bias': (201,),
    }
    for layer in (0, 1):
        attention = f'decoder.layers.{layer}.dec_self_attn'
        mlp = f'decoder.layers.{layer}.pos_ffn'
        expected |= {
            f'{attention}.W_Q.weight': (200, 400),
            f'{attention}.W_K.weight': (200, 400),
            f'{attention}.W_V.weight': (200, 400),
            f'{attention}.fc.weight': (400, 200),
            f'{attention}.layernorm.weight': (400,),
            f'{attention}.layernorm.bias': (400,),
            f'{mlp}.fc.0.weight': (1200, 400),
            f'{mlp}.fc.2.weight': (400, 1200),
            f'{mlp}.layernorm.weight': (400,),
            f'{mlp}.layernorm.bias': (400,),
        }
    assert shapes == expected
    assert sum(map(math.prod, shapes.values())) == 2_732_201


def test_the_prefix_of_data_parallel_training_is_removed():
    state = make_state()
    wrapped = {}
    for name, array in state.items():
        wrapped[f'module.{name}'] = array
    read = weights.from_state_dict(wrapped)
    assert_same_bits(read.params, weights.from_state_dict(state).params)


def test_a_state_of_another_model_is_refused_by_the_name_of_the_entry():
    state = make_state()
    without = {n: a for n, a in state.items() if n != f'{ATTENTION}fc.weight'}
    for refused, line in [
        ({}, r'not a state dict of the official model: embedding\.tgt_emb'),
        (
            without,
            r'1 missing, e\.g\. decoder\.layers\.1\.dec_self_attn\.fc\.',
        ),
        (
            state | {'epoch': ZEROS, 'best': ZEROS},
            r'2 unexpected, e\.g\. best$',
        ),
        (
            state | {'projection.weight': ZEROS},
            r'projection\.weight has shape \(2, 3\), expected \(20, 6\)',
        ),
    ]:
        with pytest.raises(UserError, match=line):
            weights.from_state_dict(refused)
    with pytest.raises(UserError, match='heads = 3: must be a divisor of the 4 query'):
        weights.from_state_dict(state, heads=3)
