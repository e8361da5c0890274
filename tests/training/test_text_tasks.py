"""Texts of the real tasks: exact match by one pass is that of greedy decoding."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax import config
from anchorjax.grid import DATA, HParams, random_key
from anchorjax.training import losses
from anchorjax.training.forward import forward
from anchorjax.training.step import init_member, train_segment

STEPS = {'addition': 300, 'scan': 60}


def make_experiment(task: str, **fields: Any) -> config.Experiment:
    c = config.default(task=task)
    c.task.update(eval_examples=64, **fields)
    c.model.update(depth=1, width=32, head_dim=32, mlp_dim=64, max_len=64)
    c.optimizer.update(warmup_steps=5, floor=0.0)
    c.train.update(batch_size=64, num_steps=STEPS[task], eval_every=STEPS[task])
    c.grid.update(gamma=(0.5,), learning_rate=(1e-2,))
    return config.resolve(c)


def train(experiment: config.Experiment) -> tuple[Any, Any]:
    """(parameters, record) of a member after its training."""
    hparams = HParams(
        gamma=jnp.float32(0.5),
        learning_rate=jnp.float32(1e-2),
        weight_decay=jnp.float32(0.01),
        seed=jnp.int32(0),
    )
    num_steps = experiment.train.num_steps

    @jax.jit
    def run() -> Any:
        state = init_member(experiment, hparams)
        return train_segment(experiment, state, hparams, jnp.int32(num_steps))

    state, record = run()
    return state.params, record


def decode_greedily(
    experiment: config.Experiment, params: Any, tokens_BT: np.ndarray, begin_B: Any
) -> np.ndarray:
    """The prompts, each continued by the most likely token to the end, [B, T + 1]."""

    @jax.jit
    def predict(tokens_BT: jax.Array) -> jax.Array:
        return forward(experiment, params, tokens_BT, last_only=False).logits.argmax(-1)

    size, length = tokens_BT.shape
    written_BL = np.zeros((size, length + 1), int)
    written_BL[:, :-1] = tokens_BT
    is_prompt_BL = np.arange(length + 1) < np.asarray(begin_B)[:, None]
    written_BL[~is_prompt_BL] = 0
    for t in range(length):
        next_BT = np.asarray(predict(written_BL[:, :-1]))
        is_open_B = ~is_prompt_BL[:, t + 1]
        written_BL[is_open_B, t + 1] = next_BT[is_open_B, t]
    return written_BL


@pytest.mark.slow
@pytest.mark.parametrize(
    ('task_name', 'fields'),
    [
        ('addition', {'largest': 9, 'square': (3, 5), 'num_examples': 64}),
        ('scan', {'num_examples': 64}),
    ],
)
def test_one_pass_scores_as_greedy_decoding_does(task_name, fields):
    experiment = make_experiment(task_name, **fields)
    params, record = train(experiment)
    task = experiment.task.make()
    eval_sets = task.eval_sets(task.make_data(random_key(0, DATA)))
    shares = []
    for p in range(len(task.eval_set_names)):
        is_scored_BT = np.asarray(eval_sets.weights_PBQ[p]) > 0
        is_real_B = is_scored_BT.any(-1)
        begin_B = is_scored_BT.argmax(-1) + 1
        tokens_BT = np.asarray(eval_sets.tokens_PBT[p])
        written_BL = decode_greedily(experiment, params, tokens_BT, begin_B)
        targets_BT = np.asarray(eval_sets.targets_PRBQ[p, 0])
        is_same_BT = (written_BL[:, 1:] == targets_BT) | ~is_scored_BT
        decoded_B = is_same_BT.all(-1)

        logits_BTV = forward(experiment, params, tokens_BT, last_only=False).logits
        forced_RB = losses.exact_match(
            logits_BTV.argmax(-1), targets_BT[None], eval_sets.weights_PBQ[p]
        )
        np.testing.assert_array_equal(forced_RB[0], decoded_B)
        share = decoded_B[is_real_B].mean()
        np.testing.assert_allclose(record.agreement[p, 0], share, atol=1e-6)
        assert record.token_agreement[p, 0] >= record.agreement[p, 0]
        shares.append(share)
    # Some answers are right and some are wrong, or the comparison would be empty.
    assert shares[0] > 0.1 and min(shares) < 1
