"""Files of PyTorch: only tensors are read, nothing is executed, and every error is one line."""

import pathlib
import pickle
import sys

import pytest

from anchorjax.errors import UserError
from anchorjax.official import weights


@pytest.fixture(scope='module')
def torch():
    return pytest.importorskip(
        'torch', reason="needs the extra: pip install -e '.[torch]'"
    )


def test_without_pytorch_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, 'torch', None)
    for call in (
        lambda: weights.load_weights(tmp_path),
        lambda: weights.save_weights(tmp_path / 'w.pt', {}),
    ):
        with pytest.raises(UserError, match=r'\[torch\]'):
            call()


class Malicious:
    """Unpickled, it creates a file."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def __reduce__(self):
        return pathlib.Path.touch, (self.path,)


@pytest.mark.parametrize('zipped', [True, False])
def test_a_file_that_would_run_code_is_refused_and_does_not(torch, tmp_path, zipped):
    trap, path = tmp_path / 'trap', tmp_path / 'w.pt'
    torch.save({'w': Malicious(trap)}, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(
        UserError, match=r'refused: it holds .* could run code'
    ) as caught:
        weights.load_weights(path)
    assert not trap.exists()
    assert '\n' not in str(caught.value) and 'weights_only' not in str(caught.value)
    torch.load(path, weights_only=False)  # the trap was a real one
    assert trap.exists()


@pytest.mark.filterwarnings('error')
def test_a_bad_file_is_one_clear_line(torch, tmp_path, monkeypatch):
    path = tmp_path / 'w.pt'

    def refused(complaint):
        with pytest.raises(UserError, match=complaint) as caught:
            weights.load_weights(path)
        assert '\n' not in str(caught.value)

    refused('cannot read .*w.pt: No such file')
    path.write_text('hello')
    refused('damaged or no file of torch.save')
    path.write_bytes(b'')
    refused('damaged or no file of torch.save')
    path.write_bytes(
        pickle.dumps({'w': Malicious(path)})
    )  # not of torch.save, where it warns
    refused('refused: it holds something else than tensors')
    torch.save(torch.nn.Linear(2, 2), path)  # the whole module instead of its state
    refused(r'refused: it holds torch\.nn.*torch\.save\(model\.state_dict\(\)')
    torch.save([torch.zeros(2)], path)
    refused('holds a list, not a state dict')
    torch.save({'w': torch.eye(2).to_sparse()}, path)
    refused("w.pt: 'w' is a Tensor of torch.float32: must be a dense")
    torch.save({'model': {}, 'epoch': 3}, path)
    refused("w.pt: 'model' is a dict")
    monkeypatch.setattr(torch, '__version__', '2.9.1+cpu')
    refused(r'PyTorch 2\.9\.1\+cpu does not read files safely: needs 2\.10')
