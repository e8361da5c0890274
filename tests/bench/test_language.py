"""The benchmark of GPT-2 runs, and its baselines compute the same network."""

import numpy as np
import pytest

from anchorjax import tasks
from anchorjax.bench import language, next_token
from anchorjax.training.forward import forward
from tests.support import cases

SHRUNK = language.Workload(batch_size=2, length=8, width=8, num_steps=1, rounds=2)


def test_the_next_token_of_random_text():
    config = next_token.NextTokenConfig(seq_len=5, vocab=7)
    task = next_token.make_next_token(config)
    texts = np.arange(20).reshape(4, 5) % 7
    batch = task.batch(texts, np.array([2, 0]))
    assert batch.tokens_BT.tolist() == [[3, 4, 5, 6, 0], [0, 1, 2, 3, 4]]
    assert batch.targets_BQ[:, :-1].tolist() == [[4, 5, 6, 0], [1, 2, 3, 4]]
    assert batch.weights_BQ.tolist() == [[1, 1, 1, 1, 0]] * 2


@pytest.mark.slow
def test_every_row_is_measured_and_the_task_is_gone_afterwards():
    before = dict(tasks.TASKS)
    rows = dict(language.compare_gpt2(SHRUNK))
    assert before == tasks.TASKS
    assert float(rows['GPT-2 tiny: anchorjax'].split()[0].replace(',', '')) > 0
    assert 'GFLOP/s' in rows['GPT-2 tiny: share of matmul rate']
    for name in ('transformers', 'plain PyTorch'):
        value = rows[f'GPT-2 tiny: relative to {name}']
        if value.startswith('skipped'):
            continue
        ratio, floor = value.split('x its speed; the floor is ')
        assert 0 < float(ratio) < float(floor.rstrip('x'))


def test_the_baseline_written_by_hand_has_our_logits():
    torch = pytest.importorskip('torch')
    from anchorjax.bench.torch_gpt2 import PlainGPT2
    from tests.support.networks.hugging_face import to_state_dict

    experiment = cases.tiny_gpt2()
    params = cases.random_params(experiment, scale=0.3)
    network = PlainGPT2(experiment.model, 20)
    state = {}
    for name, array in to_state_dict(params).items():
        name = name.removeprefix('transformer.')
        if name.split('.')[-2].startswith('c_') and array.ndim == 2:
            array = array.T  # nn.Linear stores [d_out, d_in]
        state[name] = torch.tensor(array)
    network.load_state_dict(state)
    tokens_BT = np.random.default_rng(0).integers(0, 20, (8, 5))
    expected = network(torch.tensor(tokens_BT)).detach().numpy()
    logits = forward(experiment, params, tokens_BT, last_only=False).logits
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=2e-5)
