"""The authors' network, rebuilt in PyTorch, computes the same logits as ours.

Of a file only tensors are read, no code is run, and every error is one line.
"""

import pathlib
import sys
from types import ModuleType

import numpy as np
import pytest

from anchorjax.errors import UserError
from anchorjax.official import weights
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
    logits = cases.run_forward(experiment, params, TOKENS_BT, last_only=False).logits
    np.testing.assert_allclose(logits, expected, rtol=1e-5, atol=2e-5)


class Malicious:
    """Unpickled, it creates a file."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def __reduce__(self):
        return pathlib.Path.touch, (self.path,)


def test_a_file_that_would_run_code_is_refused_and_does_not(torch, tmp_path):
    trap, path = tmp_path / 'trap', tmp_path / 'w.pt'
    torch.save({'w': Malicious(trap)}, path)
    with pytest.raises(UserError, match=r'refused: .* could run code'):
        weights.load_weights(path)
    assert not trap.exists()
    torch.load(path, weights_only=False)  # the trap works where code may run
    assert trap.exists()


def test_what_holds_no_weights_is_refused(torch, tmp_path, monkeypatch):
    path = tmp_path / 'w.pt'
    with pytest.raises(UserError, match=r'cannot read .*w\.pt: No such file'):
        weights.load_weights(path)
    path.write_text('hello')
    with pytest.raises(UserError, match='damaged or was not written'):
        weights.load_weights(path)
    torch.save([torch.zeros(2)], path)
    with pytest.raises(UserError, match='contains a list, not a state dict'):
        weights.load_weights(path)
    torch.save({'epoch': 3}, path)
    with pytest.raises(UserError, match="entry 'epoch' is of type int, expected a d"):
        weights.load_weights(path)
    monkeypatch.setattr(torch, '__version__', '2.9.1+cpu')
    with pytest.raises(UserError, match=r'cannot read files safely; install 2\.10'):
        weights.load_weights(path)


def test_without_pytorch_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, 'torch', None)
    with pytest.raises(UserError, match=r'\[torch\]'):
        weights.load_weights(tmp_path)
