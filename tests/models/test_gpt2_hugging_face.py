"""The same weights give the logits and the training steps of Hugging Face's GPT-2.

PAPERS 1.6: P1's code trains GPT2LMHeadModel. Skipped where transformers or PyTorch is
not installed.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax import tasks
from anchorjax.grid import HParams
from anchorjax.training.forward import forward
from anchorjax.training.step import new_state, train_step
from tests.support import cases
from tests.support.networks import hugging_face

torch = pytest.importorskip('torch')
pytest.importorskip('transformers')

RATE, DECAY = 0.01, 0.5


@pytest.mark.parametrize(
    'sizes',
    [
        {'model__heads': 1},
        {'model__heads': 4, 'model__width': 32, 'model__depth': 4},
        {'model__eps': 0.05},
    ],
    ids=['one_head', 'deep', 'large_eps'],
)
@pytest.mark.parametrize('attention', ['fused', 'explicit'])
def test_logits(sizes, attention):
    experiment = cases.tiny_gpt2(**sizes, model__attention=attention)
    params = cases.random_params(experiment, scale=0.3)
    tokens_BT = np.random.default_rng(0).integers(0, 20, (16, 5))
    network = hugging_face.make_network(experiment.model, 20, params)
    with torch.no_grad():
        expected = network(torch.tensor(tokens_BT)).logits.numpy()
    assert np.abs(expected).max() > 1
    logits = forward(experiment, params, tokens_BT, last_only=False).logits
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=2e-5)
    last = forward(experiment, params, tokens_BT).logits
    np.testing.assert_allclose(last[:, 0], expected[:, -1], rtol=1e-4, atol=2e-5)


def test_three_steps_of_adamw_without_decay_of_biases():
    experiment = cases.tiny_gpt2(optimizer__shape='constant')
    params = cases.random_params(experiment, scale=0.3)
    rng = np.random.default_rng(0)
    tokens_BT = rng.integers(0, 20, (8, 4))
    targets_BT = rng.integers(0, 20, (8, 4))

    def get_batch(data: Any, index_B: jax.Array) -> tasks.Batch:
        return tasks.Batch(jnp.asarray(tokens_BT), jnp.asarray(targets_BT))

    task = experiment.task.make()._replace(batch=get_batch, last_only=False)
    hparams = HParams(
        jnp.float32(0.5), jnp.float32(RATE), jnp.float32(DECAY), jnp.int32(0)
    )

    @jax.jit
    def take_step(state: Any) -> Any:
        return train_step(experiment, task, None, state, hparams)

    network = hugging_face.make_network(experiment.model, 20, params)
    decayed, others = [], []
    for name, parameter in network.named_parameters():
        group = others if name.endswith('bias') else decayed
        group.append(parameter)
    groups = [{'params': decayed}, {'params': others, 'weight_decay': 0.0}]
    adamw = torch.optim.AdamW(groups, lr=RATE, weight_decay=DECAY)

    state = new_state(experiment, params)
    for _ in range(3):
        logits = network(torch.tensor(tokens_BT)).logits
        expected = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), torch.tensor(targets_BT).flatten()
        )
        adamw.zero_grad()
        expected.backward()
        norm = torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        adamw.step()
        state, loss, our_norm = take_step(state)
        np.testing.assert_allclose(loss, expected.item(), rtol=1e-4)
        np.testing.assert_allclose(our_norm, norm, rtol=1e-3)

    # The softmax ignores a bias of keys, so its gradient is rounding, which Adam
    # magnifies to a full step.
    trained = hugging_face.to_state_dict(state.params)
    theirs = network.state_dict()
    width = experiment.model.width
    for name, array in trained.items():
        difference = np.abs(array - theirs[name].numpy())
        if name.endswith('c_attn.bias'):
            difference = np.delete(difference, np.s_[width : 2 * width])
        assert difference.max() < 0.01 * RATE, name
