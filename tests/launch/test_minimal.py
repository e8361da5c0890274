"""The one-file version of the idea computes what the package computes."""

from typing import Any

import chex
import jax
import numpy as np
import optax
import pytest

from anchorjax import config
from anchorjax.grid import DATA, ORDER, HParams, random_key
from anchorjax.permutation import draw_epoch_batch
from anchorjax.training.step import TrainState, init_member, train_step
from launch import minimal


def load_experiment() -> config.Experiment:
    """The package's config of what minimal.py trains."""
    c = config.load('configs/phase.py:unseen')
    c.train.num_steps = minimal.STEPS
    c.train.batch_size = minimal.BATCH
    c.optimizer.schedule_steps = minimal.STEPS
    c.optimizer.warmup_steps = minimal.WARMUP
    return config.resolve(c)


def test_a_sequence_asks_for_the_composition():
    pairs = minimal.list_trained_pairs()
    assert len(pairs) == 14
    draw_batch = jax.jit(minimal.draw_batch, static_argnums=2)
    tokens, answers = draw_batch(jax.random.key(0), pairs, 512)
    for row, answer in zip(np.asarray(tokens), np.asarray(answers), strict=True):
        place = int(np.argmax(row <= 4)) - 1  # anchors are the only small tokens
        x, first, second = row[place : place + 3]
        assert answer == x + minimal.SHIFTS[first] + minimal.SHIFTS[second]
        assert (first, second) not in minimal.UNSEEN


@pytest.mark.slow
def test_losses_are_those_of_the_package_on_the_same_draws():
    """From the same weights, on the same batches: twenty steps of warm-up."""
    experiment = load_experiment()
    hparams = HParams(
        gamma=np.float32(1.0),
        learning_rate=np.float32(minimal.RATE),
        weight_decay=np.float32(minimal.DECAY),
        seed=np.int32(0),
    )
    task = experiment.task.make()
    optimizer = minimal.make_optimizer()

    @jax.jit
    def start() -> tuple[Any, TrainState, optax.OptState]:
        data = task.make_data(random_key(hparams.seed, DATA))
        state = init_member(experiment, hparams)
        return data, state, optimizer.init(state.params)

    @jax.jit
    def take_step(
        data: Any, step: int, state: TrainState, params: Any, opt_state: optax.OptState
    ) -> tuple[TrainState, Any, optax.OptState, jax.Array, jax.Array]:
        """The package's step and that of minimal.py, and the loss of each."""
        order = random_key(hparams.seed, ORDER)
        index_B = draw_epoch_batch(order, step, minimal.BATCH, task.num_train)
        batch = task.batch(data, index_B)
        state, expected, _ = train_step(experiment, task, data, state, hparams)
        differentiate = jax.value_and_grad(minimal.loss_of)
        loss, grads = differentiate(params, batch.tokens_BT, batch.targets_BQ[:, 0])
        updates, opt_state = optimizer.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        return state, params, opt_state, expected, loss

    data, state, opt_state = start()
    params = state.params
    for step in range(20):
        state, params, opt_state, expected, loss = take_step(
            data, step, state, params, opt_state
        )
        assert float(loss) == pytest.approx(float(expected), rel=2e-5), step
    chex.assert_trees_all_close(params, state.params, atol=2e-4)


@pytest.mark.slow
def test_it_trains_a_grid_of_networks(monkeypatch, capsys):
    """A short run: every network learns, and the reader sees how far it is."""
    monkeypatch.setattr(minimal, 'STEPS', 100)
    monkeypatch.setattr(minimal, 'EVERY', 50)
    monkeypatch.setattr(minimal, 'WARMUP', 10)
    monkeypatch.setattr(minimal, 'BATCH', 64)
    monkeypatch.setattr(minimal, 'SEEDS', (0, 1))
    loss, composed = minimal.train_grid()
    assert loss.shape == composed.shape == (2, 2, 2)
    assert (loss[..., -1] < loss[..., 0]).all()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ['50', '100']
