"""The authors' parameters: under their names and ours the same numbers; PyTorch is not needed."""

import functools
import math

import ml_dtypes
import numpy as np
import pytest

from anchorjax import config
from anchorjax.errors import UserError
from anchorjax.official import weights
from tests.support import cases
from tests.support.official_cases import P3, assert_same_bits, ours

ATTENTION = 'decoder.layers.1.dec_self_attn.'


@functools.lru_cache
def state_dict(**fields):
    return weights.to_state_dict(ours(**fields)[1])


@pytest.mark.parametrize('layout', [{}, P3], ids=['P1', 'P3'])
@pytest.mark.parametrize('heads', [1, 2])
def test_there_and_back_changes_no_bit_and_finds_every_size(layout, heads):
    experiment, params = ours(model__heads=heads, model__depth=3, **layout)
    state = weights.to_state_dict(params)
    model, vocab, again = weights.from_state_dict(state, heads=heads)
    assert (model, vocab) == (experiment.model, experiment.task.vocab)
    assert_same_bits(again, params)
    assert_same_bits(weights.to_state_dict(again), state)


def test_names_and_shapes_are_the_printed_ones():
    """Of a P1 model of 2 layers, as its module tree prints them (PAPERS 1.2)."""
    params = cases.random_params(config.resolve(config.default()))
    shapes = {
        name: array.shape for name, array in weights.to_state_dict(params).items()
    }
    expected = {
        'embedding.tgt_emb.weight': (201, 400),
        'embedding.pos_emb.weight': (20, 400),
        'projection.weight': (201, 400),
        'projection.bias': (201,),
    }
    for layer in range(2):
        attention, mlp = (
            f'decoder.layers.{layer}.{m}' for m in ('dec_self_attn', 'pos_ffn')
        )
        expected |= {f'{attention}.W_{name}.weight': (200, 400) for name in 'QKV'}
        expected |= {f'{attention}.fc.weight': (400, 200)}
        expected |= {
            f'{mlp}.fc.0.weight': (1200, 400),
            f'{mlp}.fc.2.weight': (400, 1200),
        }
        for module in (attention, mlp):
            expected |= {
                f'{module}.layernorm.{part}': (400,) for part in ('weight', 'bias')
            }
    assert shapes == expected
    assert sum(map(math.prod, shapes.values())) == 2_732_201


def test_what_a_state_dict_cannot_say_is_said():
    model, _, _ = weights.from_state_dict(
        state_dict(**P3), norm='pre', activation='relu'
    )
    assert (model.norm, model.activation, model.heads) == ('pre', 'relu', 1)
    model, _, _ = weights.from_state_dict(state_dict(), heads=4)
    assert (model.heads, model.head_dim) == (4, 1)


def test_the_prefix_of_data_parallel_training_goes():
    state = state_dict()
    wrapped = {f'module.{name}': array for name, array in state.items()}
    assert_same_bits(
        weights.from_state_dict(wrapped)[2], weights.from_state_dict(state)[2]
    )


@pytest.mark.parametrize('dtype', [np.float16, ml_dtypes.bfloat16, np.float64])
def test_other_precisions_become_float32(dtype):
    state = {name: array.astype(dtype) for name, array in state_dict().items()}
    params = weights.from_state_dict(state)[2]
    expected = {name: array.astype(np.float32) for name, array in state.items()}
    assert_same_bits(weights.to_state_dict(params), expected)


def edited(remove=(), **added):
    state = {n: a for n, a in state_dict().items() if n not in remove}
    return state | {name.replace('__', '.'): value for name, value in added.items()}


ZEROS = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    ('state', 'heads', 'complaint'),
    [
        (
            edited(['embedding.pos_emb.weight']),
            1,
            r'embedding\.pos_emb\.weight is missing',
        ),
        (
            edited([f'{ATTENTION}fc.weight']),
            1,
            r'missing in .*: decoder\.layers\.1.*attn\.fc\.wei',
        ),
        (edited(epoch=ZEROS), 1, 'unexpected in the state dict: epoch$'),
        (
            edited(layernorm__weight=ZEROS[0]),
            1,
            r'missing in the state dict: layernorm\.bias',
        ),
        (
            edited(projection__weight=ZEROS),
            1,
            r'projection.weight has .*\(2, 3\).*\(20, 6\)',
        ),
        (
            edited(**{'embedding__tgt_emb__weight': ZEROS[0]}),
            1,
            r'\(3,\), not that of a matrix',
        ),
        (edited(epoch=7), 1, "'epoch' is a int: must be a dense tensor"),
        (
            edited(epoch=np.zeros(3, int)),
            1,
            "'epoch' is a ndarray of int64: must be a dense ten",
        ),
        (
            {'model': state_dict()},
            1,
            r"'model' is a dict: .* as in model\.state_dict\(\)",
        ),
        ({}, 1, 'not a state dict of the official model'),
        (state_dict(), 3, 'heads = 3: must be a divisor of the 4 query rows'),
        (state_dict(), 0, 'heads = 0: must be a divisor'),
    ],
)
def test_another_state_dict_is_one_clear_line(state, heads, complaint):
    with pytest.raises(UserError, match=complaint) as caught:
        weights.from_state_dict(state, heads=heads)
    assert '\n' not in str(caught.value)


def test_parameters_of_another_model_are_refused():
    with pytest.raises(UserError, match="'block_0/W_gate' has no counterpart"):
        weights.to_state_dict({'block_0': {'W_gate': ZEROS}})
