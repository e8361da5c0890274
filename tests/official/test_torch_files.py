"""PyTorch files: only tensors are read, no code is run, and every error is one line."""

import pathlib
import pickle
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from anchorjax.errors import UserError
from anchorjax.official import weights


@pytest.fixture(scope='module')
def torch() -> ModuleType:
    return pytest.importorskip(
        'torch', reason="needs the extra: pip install -e '.[torch]'"
    )


def test_without_pytorch_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, 'torch', None)
    with pytest.raises(UserError, match=r'\[torch\]'):
        weights.load_weights(tmp_path)


class Malicious:
    """Unpickled, it creates a file."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def __reduce__(self):
        return pathlib.Path.touch, (self.path,)


@pytest.mark.parametrize('zipped', [True, False])
def test_a_file_that_would_run_code_is_refused_and_does_not(torch, tmp_path, zipped):
    trap = tmp_path / 'trap'
    path = tmp_path / 'w.pt'
    content = {'w': Malicious(trap)}
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(UserError, match=r'refused: .* could run code') as caught:
        weights.load_weights(path)
    assert not trap.exists()
    assert '\n' not in str(caught.value)
    assert 'weights_only' not in str(caught.value)
    torch.load(path, weights_only=False)  # the trap works where code may run
    assert trap.exists()


@pytest.fixture
def require_refusal(tmp_path) -> Callable[[str], None]:
    """A function that fails unless tmp_path / 'w.pt' is refused with such an error."""

    def check(pattern: str) -> None:
        with pytest.raises(UserError, match=pattern) as caught:
            weights.load_weights(tmp_path / 'w.pt')
        assert '\n' not in str(caught.value)

    return check


@pytest.mark.filterwarnings('error')
def test_what_torch_did_not_save_is_refused(torch, tmp_path, require_refusal):
    path = tmp_path / 'w.pt'
    require_refusal('cannot read .*w.pt: No such file')
    path.write_text('hello')
    require_refusal(r'w\.pt is damaged or was not written by torch\.save')
    path.write_bytes(b'')
    require_refusal(r'w\.pt is damaged or was not written by torch\.save')
    # A plain pickle makes torch.load warn.
    path.write_bytes(pickle.dumps({'w': Malicious(path)}))
    require_refusal('refused: it contains something other than tensors')


@pytest.mark.filterwarnings('error')
def test_what_is_no_state_dict_is_refused(torch, tmp_path, require_refusal):
    path = tmp_path / 'w.pt'
    torch.save(torch.nn.Linear(2, 2), path)  # the whole module instead of its state
    require_refusal(
        r'refused: it contains torch\.nn.*torch\.save\(model\.state_dict\(\)'
    )
    torch.save([torch.zeros(2)], path)
    require_refusal(r'w\.pt contains a list, not a state dict')
    torch.save({'w': torch.eye(2).to_sparse()}, path)
    require_refusal(
        r"w\.pt: entry 'w' is of type Tensor of torch.float32, expected a dense"
    )
    torch.save({'model': {}, 'epoch': 3}, path)
    require_refusal(r"w\.pt: entry 'model' is of type dict, expected a dense tensor")


def test_a_pytorch_that_reads_unsafely_is_refused(
    torch, tmp_path, monkeypatch, require_refusal
):
    torch.save({}, tmp_path / 'w.pt')
    monkeypatch.setattr(torch, '__version__', '2.9.1+cpu')
    require_refusal(r'PyTorch 2\.9\.1\+cpu cannot read files safely; install 2\.10')
