"""The models, their loss and their steps are those of NumPy in float64."""

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest
from flax.traverse_util import flatten_dict

from anchorjax import tasks
from anchorjax.experiment import Experiment
from anchorjax.grid import HParams
from anchorjax.models.transformer import ACTIVATIONS
from anchorjax.training.step import TrainState, init_member, new_state
from tests.support import cases
from tests.support.cases import assert_same_but_rounding
from tests.support.first_steps import HPARAMS, make_step
from tests.support.networks import reference
from tests.support.p2_tasks import make_experiment

# Large eps of LayerNorm and Adam: an eps in the wrong place shows.
BASE = {'model__eps': 0.05, 'optimizer__eps': 1e-2}
OPTIONS = {
    'post': {},
    'post_heads': {'model__heads': 2, 'model__biases': True},
    'pre_gelu': {'model__norm': 'pre', 'model__activation': 'gelu', 'model__heads': 2},
    'pre_query': {
        'model__norm': 'pre_query',
        'model__activation': 'gelu',
        'model__biases': True,
    },
    'none': {'model__norm': 'none', 'model__activation': 'tanh'},
    'none_heads': {'model__norm': 'none', 'model__heads': 2, 'model__biases': True},
    'deep': {'model__depth': 3, 'model__heads': 2, 'model__norm': 'pre_query'},
}
GPT2_OPTIONS = {
    'default': {},
    'remat': {'model__remat': True},
    'one_head': {'model__heads': 1},
    'deep': {'model__depth': 4, 'model__heads': 4},
}
PEAK, DECAY = 0.1, 0.3


class Start(NamedTuple):
    """A member before its first step; every step of it sees the same batch."""

    state: TrainState
    step: Callable[[TrainState], tuple[TrainState, jax.Array, jax.Array]]
    batch: tasks.Batch
    params: Any  # in float64


def draw_batch(
    experiment: Experiment, size: int, last_only: bool = True
) -> tasks.Batch:
    """Random tokens: the model must not care what the task is.

    Either the last position is asked, or a random half of all positions.
    """
    rng = np.random.default_rng(1)
    vocab = experiment.task.vocab
    length = experiment.task.seq_len
    num_asked = 1 if last_only else length
    tokens_BT = rng.integers(0, vocab, (size, length), np.int32)
    targets_BQ = rng.integers(0, vocab, (size, num_asked), np.int32)
    weights_BQ = None
    if not last_only:
        weights_BQ = rng.integers(0, 2, (size, length)).astype(np.float32)
    return tasks.Batch(tokens_BT, targets_BQ, weights_BQ)


def start_member(
    experiment: Experiment, params: Any, last_only: bool = True, slices: int = 1
) -> Start:
    batch = draw_batch(experiment, experiment.train.batch_size, last_only)

    def get_batch(data: Any, index_B: jax.Array) -> tasks.Batch:
        return batch

    task = experiment.task.make()
    task = task._replace(batch=get_batch, last_only=last_only)
    hparams = HPARAMS.replace(learning_rate=PEAK, weight_decay=DECAY)
    step = functools.partial(make_step(experiment, task, slices), hparams=hparams)
    state = new_state(experiment, params)
    return Start(state, step, batch, reference.to_float64(params))


def assert_trees_close(ours: Any, theirs: Any) -> None:
    def check(path: Any, a: np.ndarray, b: np.ndarray) -> None:
        name = jax.tree_util.keystr(path)
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6, err_msg=name)

    jax.tree_util.tree_map_with_path(check, ours, theirs)


def require_reference_logits(experiment: Experiment, params: Any) -> None:
    tokens_BT = draw_batch(experiment, size=16).tokens_BT
    exact = reference.to_float64(params)
    expected = reference.forward(exact, tokens_BT, experiment.model)
    assert np.abs(expected).max() > 1
    out, last = cases.run_both(experiment, params, tokens_BT)
    assert_same_but_rounding(out.logits, expected)
    assert_same_but_rounding(last.logits[:, 0], expected[:, -1])


def mark_more(options: Iterable[str], *more: str) -> list[Any]:
    """The names of options; those that are more of others are slow to try, too."""
    slow = pytest.mark.slow
    return [pytest.param(name, marks=slow if name in more else ()) for name in options]


@pytest.mark.parametrize('option', mark_more(OPTIONS, 'deep', 'none_heads'))
def test_forward_is_the_references(option):
    require_reference_logits(*cases.draw_member(**BASE, **OPTIONS[option]))


@pytest.mark.parametrize('option', mark_more(GPT2_OPTIONS, 'deep', 'one_head'))
def test_gpt2s_forward_is_the_references(option):
    require_reference_logits(*cases.draw_gpt2(**BASE, **GPT2_OPTIONS[option]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ('option', 'last_only', 'slices'),
    [
        ('post_heads', True, 1),
        ('pre_gelu', True, 1),
        ('pre_query', True, 1),
        ('none', True, 1),
        ('post_heads', False, 1),
        ('post', True, 4),
        ('post_heads', False, 4),
    ],
)
def test_loss_gradient_and_adamw_steps_are_the_references(option, last_only, slices):
    experiment, drawn = cases.draw_member(
        **BASE, **OPTIONS[option], optimizer__clip_norm=0.2
    )
    state, step, batch, params = start_member(experiment, drawn, last_only, slices)
    config = experiment.optimizer
    adamw = reference.AdamW(
        params, config.b1, config.b2, config.eps, DECAY, config.clip_norm
    )
    # Of the first step the moments are the gradient's; that they add up is shown once.
    for i in range(2 if option == 'post_heads' else 1):
        state, loss, norm = step(state)
        expected = reference.loss(params, *batch, experiment.model)
        grads = reference.gradient(params, *batch, experiment.model)
        np.testing.assert_allclose(loss, expected, rtol=1e-5)
        np.testing.assert_allclose(norm, reference.norm(grads), rtol=1e-4)
        assert reference.norm(grads) > config.clip_norm  # so it is clipped
        rate = config.floor + (PEAK - config.floor) * i / 4  # warming up
        params = adamw.step(params, grads, rate)
    adam = state.opt_state[1][0]
    assert_trees_close([state.params, adam.mu, adam.nu], [params, adamw.m, adamw.v])


def test_a_gradient_below_the_limit_is_not_clipped():
    constant = {'optimizer__clip_norm': 50.0, 'optimizer__shape': 'constant'}
    experiment, drawn = cases.draw_member(**BASE, **constant, model__depth=1)
    state, step, batch, params = start_member(experiment, drawn)
    state, _, norm = step(state)
    assert norm < 50
    grads = reference.gradient(params, *batch, experiment.model)
    adamw = reference.AdamW(params, 0.9, 0.999, 1e-2, DECAY, max_norm=50.0)
    assert_trees_close(state.params, adamw.step(params, grads, PEAK))


REFERENCES = {
    'emb_mlp': reference.apply_emb_mlp,
    'one_layer': reference.apply_one_layer,
}
TOKENS_BT = np.array([[6, 1, 4, 9, 9], [7, 3, 3, 12, 0], [11, 5, 2, 2, 19]], np.int32)
of_both = pytest.mark.parametrize('name', REFERENCES)


@of_both
@pytest.mark.parametrize('activation', mark_more(ACTIVATIONS, 'tanh', 'identity'))
def test_every_position_is_the_references_of_what_came_before(name, activation):
    experiment = make_experiment(name, model__activation=activation)
    params = cases.random_params(experiment)
    exact = reference.to_float64(params)
    out, last = cases.run_both(experiment, params, TOKENS_BT)
    for b, tokens_T in enumerate(TOKENS_BT):
        for t in range(5):
            past = tokens_T[: t + 1]
            expected = REFERENCES[name](exact, past, activation)
            np.testing.assert_allclose(out.logits[b, t], expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(last.logits[b, 0], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@of_both
def test_its_parameters_start_at_d_in_to_the_minus_gamma(name):
    experiment = make_experiment(name, model__mlp_dim=300)
    hparams = HParams(gamma=0.8, learning_rate=1e-3, weight_decay=0.0, seed=3)
    init = jax.jit(functools.partial(init_member, experiment))
    params = flatten_dict(init(hparams).params, sep='/')

    for path, leaf in params.items():
        d_in = leaf.shape[-1] if path == 'W_embed' else leaf.shape[0]
        error = (2 * leaf.size) ** -0.5
        ratio = np.std(leaf) / d_in**-0.8
        assert abs(ratio - 1) < 4 * error, path
