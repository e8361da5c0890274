"""The Emb-MLP and the one-layer transformer are P2's formulas (PAPERS 2.2)."""

import functools
from typing import Any

import jax
import numpy as np
import pytest
from flax.traverse_util import flatten_dict

from anchorjax.grid import HParams
from anchorjax.models import Activations
from anchorjax.models.transformer import ACTIVATIONS
from anchorjax.training.step import init_member
from tests.support import cases
from tests.support.networks import reference
from tests.support.p2_tasks import make_experiment
from tests.support.rounding import assert_same_but_rounding

REFERENCES = {
    'emb_mlp': reference.apply_emb_mlp,
    'one_layer': reference.apply_one_layer,
}
SHAPES = {
    'emb_mlp': {'W_embed': (20, 6), 'W_1': (6, 9), 'W_2': (9, 20)},
    'one_layer': {
        'W_embed': (20, 20),
        'block_0/W_Q': (20, 5),
        'block_0/W_K': (20, 5),
        'block_0/W_V': (20, 5),
        'block_0/W_O': (5, 20),
        'block_0/W_in': (20, 9),
        'block_0/W_out': (9, 20),
    },
}
TOKENS_BT = np.array([[6, 1, 4, 9, 9], [7, 3, 3, 12, 0], [11, 5, 2, 2, 19]], np.int32)
of_both = pytest.mark.parametrize('name', REFERENCES)


@of_both
@pytest.mark.parametrize('activation', ACTIVATIONS)
def test_every_position_is_the_references_of_what_came_before(name, activation):
    experiment = make_experiment(name, model__activation=activation)
    params = cases.random_params(experiment)
    exact = reference.to_float64(params)
    out = cases.run_forward(experiment, params, TOKENS_BT, last_only=False)
    last = cases.run_forward(experiment, params, TOKENS_BT)
    for b, tokens_T in enumerate(TOKENS_BT):
        for t in range(5):
            past = tokens_T[: t + 1]
            expected = REFERENCES[name](exact, past, activation)
            np.testing.assert_allclose(out.logits[b, t], expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(last.logits[b, 0], expected, rtol=1e-4, atol=1e-4)


@of_both
def test_its_parameters_are_these_and_start_at_d_in_to_the_minus_gamma(name):
    experiment = make_experiment(name, model__mlp_dim=300)
    hparams = HParams(gamma=0.8, learning_rate=1e-3, weight_decay=0.0, seed=3)
    init = jax.jit(functools.partial(init_member, experiment))
    params = flatten_dict(init(hparams).params, sep='/')
    shapes = {path: leaf.shape for path, leaf in params.items()}
    large = {}
    for path, shape in SHAPES[name].items():
        large[path] = tuple(300 if size == 9 else size for size in shape)
    assert shapes == large
    for path, leaf in params.items():
        d_in = leaf.shape[-1] if path == 'W_embed' else leaf.shape[0]
        error = (2 * leaf.size) ** -0.5
        ratio = np.std(leaf) / d_in**-0.8
        assert abs(ratio - 1) < 4 * error, path


def test_the_one_layers_activations_and_interventions():
    experiment = make_experiment('one_layer')
    params = cases.random_params(experiment)
    module = experiment.model.module(20, gamma=0.0)
    offers = []

    def keep(field: str, block: int, value: jax.Array) -> jax.Array:
        offers.append((field, block, value.shape))
        return value

    @jax.jit
    def run(params: Any) -> Activations:
        return module.apply({'params': params}, TOKENS_BT, edit=keep)

    kept = run(params)
    plain = cases.run_forward(experiment, params, TOKENS_BT, last_only=False)
    assert_same_but_rounding(kept, plain)
    assert offers == [
        ('Attn', 0, (3, 1, 5, 5)),
        ('X_ao', 0, (3, 5, 20)),
        ('X_do', 0, (3, 5, 20)),
    ]
    np.testing.assert_allclose(plain.blocks[0].Attn.sum(-1), 1, rtol=1e-5)
