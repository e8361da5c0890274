"""A task whose answer is a sequence, not a token.

The toy task is added to TASKS, as any new task would be; nothing else in the library
knows about it.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax import config, tasks
from anchorjax.grid import HParams
from anchorjax.training.forward import forward
from anchorjax.training.step import evaluate, new_state, train_step
from tests.support import cases
from tests.support.copy_task import (
    PAD,
    SEPARATOR,
    CopyConfig,
    reverse_answers,
    spell,
)


@pytest.fixture(autouse=True)
def copy_task(monkeypatch):
    monkeypatch.setitem(tasks.TASKS, 'copy', CopyConfig)


def make_experiment(**fields: Any) -> config.Experiment:
    c = config.default(task='copy')
    c.name = 'copy'
    c.model.update(depth=2, width=16, head_dim=16, mlp_dim=32, max_len=6)
    c.optimizer.update(warmup_steps=10, floor=0.0)
    c.train.update(batch_size=16, num_steps=200, eval_every=100)
    c.grid.update(gamma=(0.5,), learning_rate=(1e-2,))
    for path, value in fields.items():
        group, field = path.split('__')
        c[group][field] = value
    return config.resolve(c)


def make_hparams() -> HParams:
    return HParams(
        gamma=jnp.float32(0.5),
        learning_rate=jnp.float32(1e-2),
        weight_decay=jnp.float32(0.01),
        seed=jnp.int32(0),
    )


@functools.partial(jax.jit, static_argnums=(0, 3))
def predict(
    experiment: config.Experiment, params: Any, tokens_BT: Any, last_only: bool = False
) -> jax.Array:
    """The most likely next token after every position, [B, T], or the last, [B, 1]."""
    return forward(experiment, params, tokens_BT, last_only).logits.argmax(-1)


def test_the_toy_task_by_hand():
    words_BT = jnp.array([[2, 3, 4, 5, 5, 5], [4, 3, 5, 5, 5, 5], [5, 3, 3, 3, 3, 3]])
    batch = spell(CopyConfig(), words_BT, jnp.array([3, 2, 1]))
    assert batch.tokens_BT.tolist() == [
        [2, 3, 4, SEPARATOR, 2, 3],
        [4, 3, SEPARATOR, 4, PAD, PAD],
        [5, SEPARATOR, PAD, PAD, PAD, PAD],
    ]
    assert batch.targets_BQ.tolist() == [
        [PAD, PAD, PAD, 2, 3, 4],
        [PAD, PAD, 4, 3, PAD, PAD],
        [PAD, 5, PAD, PAD, PAD, PAD],
    ]
    assert batch.weights_BQ.tolist() == [
        [0, 0, 0, 1, 1, 1],
        [0, 0, 1, 1, 0, 0],
        [0, 1, 0, 0, 0, 0],
    ]
    assert reverse_answers(batch).tolist() == [
        [PAD, PAD, PAD, 4, 3, 2],
        [PAD, PAD, 3, 4, PAD, PAD],
        [PAD, 5, PAD, PAD, PAD, PAD],
    ]


def test_the_loss_is_the_cross_entropy_over_the_asked_positions():
    experiment = make_experiment()
    params = cases.random_params(experiment)
    state = new_state(experiment, params)
    task = experiment.task.make()
    data = task.make_data(jax.random.key(0))
    batch = task.batch(data, jnp.arange(task.num_train))
    whole = make_experiment(train__batch_size=task.num_train)  # an epoch in one batch

    @jax.jit
    def take_step() -> Any:
        return train_step(whole, task, data, state, make_hparams())

    next_state, loss, norm = take_step()
    out = forward(experiment, params, batch.tokens_BT, last_only=False)
    logits = np.asarray(out.logits, np.float64)
    total, num_asked = 0.0, 0
    for b, t in np.argwhere(np.asarray(batch.weights_BQ) > 0):
        log_normalizer = np.log(np.exp(logits[b, t]).sum())
        total += log_normalizer - logits[b, t, batch.targets_BQ[b, t]]
        num_asked += 1
    assert 64 < num_asked < 64 * 3
    np.testing.assert_allclose(loss, total / num_asked, rtol=1e-5)
    assert norm > 0 and next_state.diverged == -1


def test_agreement_is_exact_match_with_each_mapping():
    experiment = make_experiment()
    params = cases.random_params(experiment)
    task = experiment.task.make()
    data = task.make_data(jax.random.key(0))
    probes = task.probes(data)

    # Answer some of the probes as the model does, so that some match.
    predictions = [
        np.asarray(predict(experiment, params, tokens_BT))
        for tokens_BT in probes.tokens_PBT
    ]
    targets_PRBQ = np.array(probes.targets_PRBQ)
    targets_PRBQ[:, 0, ::3] = np.stack(predictions)[:, ::3]
    targets_PRBQ[:, 1, ::4] = np.stack(predictions)[:, ::4]
    task = task._replace(probes=lambda data: probes._replace(targets_PRBQ=targets_PRBQ))
    scores = evaluate(experiment, task, data, jax.tree.map(jnp.asarray, params))
    assert scores.deviation.shape == (0,)
    assert scores.agreement_by_group.shape == (2, 2, 0)

    for p, r in np.ndindex(2, 2):
        num_right, num_counted = 0, 0
        num_right_tokens, num_tokens = 0, 0
        for b in range(task.num_train):
            asked = np.flatnonzero(probes.weights_PBQ[p, b])
            if len(asked) == 0:
                continue
            num_counted += 1
            given = predictions[p][b, asked].tolist()
            expected = targets_PRBQ[p, r, b, asked].tolist()
            num_right += given == expected
            num_right_tokens += np.equal(given, expected).sum()
            num_tokens += len(asked)
        assert num_counted == (64 if p == 0 else 59)
        assert 0 < num_right < num_counted
        expected = num_right / num_counted
        np.testing.assert_allclose(scores.agreement[p, r], expected, rtol=1e-6)
        assert expected < num_right_tokens / num_tokens < 1
        np.testing.assert_allclose(
            scores.token_agreement[p, r], num_right_tokens / num_tokens, rtol=1e-6
        )
