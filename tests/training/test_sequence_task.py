"""A task whose answer is a text, not a token: loss and agreement by NumPy."""

from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np

from anchorjax import config
from anchorjax.training.evaluation import evaluate
from anchorjax.training.step import new_state
from tests.support import cases
from tests.support.first_steps import HPARAMS, make_step
from tests.tasks.draws import draw_batch, draw_eval_sets

SIZE = 64  # training examples, of 'a+b=c' with a and b from 0 to 9


def make_experiment() -> config.Experiment:
    c = config.default(task='addition')
    c.task.update(largest=9, square=(3, 5), num_examples=SIZE, eval_examples=40)
    c.model.update(depth=1, width=16, head_dim=16, mlp_dim=32, max_len=6)
    c.optimizer.update(warmup_steps=10, floor=0.0)
    c.train.update(batch_size=SIZE, num_steps=200, eval_every=100)  # a step an epoch
    c.grid.update(gamma=(0.5,), learning_rate=(1e-2,))
    return config.resolve(c)


def test_the_loss_is_the_cross_entropy_over_the_asked_positions():
    experiment = make_experiment()
    params = cases.random_params(experiment)
    state = new_state(experiment, params)
    next_state, loss, norm = make_step(experiment)(state, HPARAMS)
    batch = draw_batch(experiment.task, SIZE)
    out = cases.run_forward(experiment, params, batch.tokens_BT, last_only=False)
    logits = np.float64(out.logits)
    total, num_asked = 0.0, 0
    for b, t in np.argwhere(np.asarray(batch.weights_BQ) > 0):
        log_normalizer = np.log(np.exp(logits[b, t]).sum())
        total += log_normalizer - logits[b, t, batch.targets_BQ[b, t]]
        num_asked += 1
    assert 2 * SIZE < num_asked < 3 * SIZE  # one or two digits, and END
    np.testing.assert_allclose(loss, total / num_asked, rtol=1e-5)
    assert norm > 0 and next_state.diverged == -1


def test_agreement_and_loss_of_eval_sets_are_of_the_asked_positions():
    experiment = make_experiment()
    params = cases.random_params(experiment)
    task = experiment.task.make()
    data = jax.jit(task.make_data)(jax.random.key(0))
    eval_sets = draw_eval_sets(experiment.task)

    # Some sequences ask for what the model says there, so that some match.
    predictions_PBT, logits_PBTV = [], []
    for tokens_BT in eval_sets.tokens_PBT:
        out = cases.run_forward(experiment, params, tokens_BT, last_only=False)
        logits_PBTV.append(np.float64(out.logits))
        predictions_PBT.append(logits_PBTV[-1].argmax(-1))
    targets_PRBT = np.array(eval_sets.targets_PRBQ)
    is_asked_PBT = eval_sets.weights_PBQ > 0
    said_PBT = np.where(is_asked_PBT, predictions_PBT, targets_PRBT[:, 0])
    targets_PRBT[:, 0, ::3] = said_PBT[:, ::3]
    planted = eval_sets._replace(targets_PRBQ=targets_PRBT)
    planted = jax.tree.map(jnp.asarray, planted)
    task = task._replace(eval_sets=lambda data: planted)

    @jax.jit
    def score(params: Any) -> dict[str, jax.Array]:
        return evaluate(experiment, task, data, params)

    scores = jax.device_get(score(params))
    chex.assert_shape(scores['deviation'], (0,))

    for p in range(len(task.eval_set_names)):
        num_right, num_counted, num_right_tokens, num_tokens = 0, 0, 0, 0
        log_V = logits_PBTV[p] - np.log(np.exp(logits_PBTV[p]).sum(-1, keepdims=True))
        log_p = np.take_along_axis(log_V, targets_PRBT[p, 0, ..., None], -1)[..., 0]
        loss = -log_p[is_asked_PBT[p]].mean()
        np.testing.assert_allclose(scores['eval_set_loss'][p], loss, rtol=1e-5)
        for b in range(40):
            asked = np.flatnonzero(eval_sets.weights_PBQ[p, b])
            if len(asked) == 0:  # padding of the eval set
                continue
            is_right = predictions_PBT[p][b, asked] == targets_PRBT[p, 0, b, asked]
            num_counted += 1
            num_right += is_right.all()
            num_tokens += len(asked)
            num_right_tokens += is_right.sum()
        assert 0 < num_right < num_counted
        expected = num_right / num_counted
        np.testing.assert_allclose(scores['agreement'][p, 0], expected, rtol=1e-6)
        expected = num_right_tokens / num_tokens
        np.testing.assert_allclose(scores['token_agreement'][p, 0], expected, rtol=1e-6)
