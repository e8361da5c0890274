"""The authors' network, rebuilt in PyTorch, computes the same logits as ours."""

from types import ModuleType

import jax
import numpy as np
import pytest

from anchorjax.models import TransformerConfig
from anchorjax.official import weights
from anchorjax.training import forward
from tests.support import cases
from tests.support.networks import reference
from tests.support.networks.official_cases import P3

TOKENS_BT = np.array([[6, 1, 4, 9], [7, 3, 3, 12], [11, 5, 2, 2]])
VOCAB = 20


@pytest.fixture(scope='module')
def torch() -> ModuleType:
    return pytest.importorskip(
        'torch', reason="needs the extra: pip install -e '.[torch]'"
    )


@pytest.fixture(scope='module')
def torch_network(torch) -> ModuleType:
    from tests.support.networks import torch_network

    return torch_network


def make_config(**fields) -> TransformerConfig:
    return cases.tiny(**fields).model


@pytest.mark.parametrize('layout', [{}, P3], ids=['P1', 'P3'])
@pytest.mark.parametrize('heads', [1, 2])
def test_the_same_weights_give_the_same_logits(
    torch, torch_network, tmp_path, heads, layout
):
    experiment = cases.tiny(model__heads=heads, **layout)
    network = torch_network.draw_network(experiment.model, VOCAB)
    path = tmp_path / 'theirs.pt'
    torch.save(network.state_dict(), path)
    config, vocab, params = weights.load_weights(path, heads=heads)
    assert (config, vocab) == (experiment.model, VOCAB)

    with torch.no_grad():
        expected = network.double()(torch.tensor(TOKENS_BT)).numpy()
    exact = reference.forward(reference.to_float64(params), TOKENS_BT, config)
    np.testing.assert_allclose(exact, expected, rtol=1e-10, atol=1e-10)

    @jax.jit
    def compute_logits(params):
        return forward.forward(experiment, params, TOKENS_BT, last_only=False).logits

    logits = compute_logits(params)
    np.testing.assert_allclose(logits, expected, rtol=1e-5, atol=2e-5)


def test_half_precision_files_are_read(torch, torch_network, tmp_path):
    network = torch_network.draw_network(make_config(), VOCAB).bfloat16()
    torch.save(network.state_dict(), tmp_path / 'w.pt')
    W_pos = weights.load_weights(tmp_path / 'w.pt').params['W_pos']
    expected = network.embedding.pos_emb.weight.detach().float()
    np.testing.assert_array_equal(W_pos, expected)
