"""The benchmark runs, and its baselines compute the networks that we train."""

import numpy as np
import pytest
from flax.traverse_util import flatten_dict

from anchorjax.extras.bench import compare
from tests.support import cases
from tests.support.networks.hugging_face import to_state_dict

P1 = compare.Size(width=8, head_dim=8, mlp_dim=8, num_steps=1)
TEXTS = compare.Texts(batch_size=2, length=8, width=8, num_steps=1)
TOKENS = np.random.default_rng(0).integers(0, 20, (8, 4))


@pytest.mark.slow
@pytest.mark.parametrize(
    ('measure', 'size'), [(compare.compare_p1, P1), (compare.compare_gpt2, TEXTS)]
)
def test_every_row_is_measured(measure, size):
    rows = dict(measure(size, rounds=2))
    label = next(iter(rows)).partition(':')[0]
    assert float(rows[f'{label}: anchorjax'].split()[0].replace(',', '')) > 0
    assert 'GFLOP/s' in rows[f'{label}: share of matmul rate']
    for name, value in rows.items():
        if 'relative to' in name:
            ratio, limit = value.split('x its speed; at most ')
            assert 0 < float(ratio) < float(limit.rstrip('x'))


@pytest.mark.slow
@pytest.mark.parametrize('fused', [False, True])
def test_p1s_model_in_pytorch_has_our_logits(fused):
    torch = pytest.importorskip('torch')
    torch_loops = pytest.importorskip('anchorjax.extras.bench.torch_loops')
    experiment = cases.tiny(model__heads=2)
    params = cases.random_params(experiment)
    names = {'W_embed': 'embed.weight', 'W_pos': 'pos.weight', 'b_U': 'unembed.bias'}
    state = {'unembed.weight': torch.tensor(params['W_U'].T)}
    for name, array in flatten_dict(params, sep='.').items():
        theirs = name.replace('block_', 'blocks.').replace('scale', 'weight')
        if name in names:
            state[names[name]] = torch.tensor(array)
        elif '.W_' in name:
            state[f'{theirs}.weight'] = torch.tensor(array.T)
        elif '.LN_' in name:
            state[theirs] = torch.tensor(array)
    network = torch_loops.P1Transformer(experiment.model, 20, 4, fused)
    network.load_state_dict(state)
    expected = network(torch.tensor(TOKENS)).detach().numpy()
    logits = cases.run_forward(experiment, params, TOKENS).logits[:, 0]
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=2e-5)


def test_gpt2_as_written_by_hand_has_our_logits():
    torch = pytest.importorskip('torch')
    torch_loops = pytest.importorskip('anchorjax.extras.bench.torch_loops')
    experiment = cases.tiny_gpt2()
    params = cases.random_params(experiment, scale=0.3)
    state = {}
    for name, array in to_state_dict(params).items():
        name = name.removeprefix('transformer.')
        if name.split('.')[-2].startswith('c_') and array.ndim == 2:
            array = array.T  # nn.Linear stores [d_out, d_in]
        state[name] = torch.tensor(array)
    network = torch_loops.PlainGPT2(experiment.model, 20)
    network.load_state_dict(state)
    expected = network(torch.tensor(TOKENS)).detach().numpy()
    logits = cases.run_forward(experiment, params, TOKENS, last_only=False).logits
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=2e-5)
