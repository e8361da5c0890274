"""Reading files of torch.save that contain tensors and nothing else.

Reading such a file never runs code from it.
"""

import io
import pathlib
import pickle
import re
import warnings
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from anchorjax import files
from anchorjax.errors import StoreError, UserError, import_extra

# Before it weights_only could be tricked: CVE-2025-32434, CVE-2026-24747.
_OLDEST_SAFE = (2, 10)


def read(path: pathlib.Path) -> dict[str, np.ndarray]:
    """The tensors of a file by name, as float32 arrays.

    Raises:
      StoreError: the file does not exist, was not written by torch.save, or is refused
        because it contains more than tensors.
      UserError: PyTorch is missing or too old to be safe, or the file contains no dict
        of tensors.
    """
    torch = import_extra('torch', 'torch')
    _require_safe_version(torch)
    with files.report_in_one_line('read', path):
        data = path.read_bytes()
    state = _load_tensors(torch, data, path)
    if not isinstance(state, Mapping):
        raise UserError(f'{path} contains a {type(state).__name__}, not a state dict')
    arrays = {}
    for name, value in state.items():
        arrays[name] = _to_array(torch, name, value)
    return arrays


def _require_safe_version(torch: ModuleType) -> None:
    major, minor = torch.__version__.split('.')[:2]
    if (int(major), int(minor)) < _OLDEST_SAFE:
        raise UserError(
            f'PyTorch {torch.__version__} cannot read files safely; install '
            f"{_OLDEST_SAFE[0]}.{_OLDEST_SAFE[1]} or newer: pip install -e '.[torch]'"
        )


def _load_tensors(torch: ModuleType, data: bytes, path: pathlib.Path) -> Any:
    """torch.load restricted to tensors; its errors become one line each."""
    try:
        # torch warns about unusual files; whatever is wrong is reported as an error.
        with warnings.catch_warnings(action='ignore'):
            return torch.load(io.BytesIO(data), map_location='cpu', weights_only=True)
    except pickle.UnpicklingError as e:
        # torch's own message recommends switching the protection off.
        match = re.search(r'GLOBAL ([\w.]+)', str(e))
        content = match[1] if match else 'something other than tensors'
        raise StoreError(
            f'{path} is refused: it contains {content}, and loading that could run '
            'code; save the weights with torch.save(model.state_dict(), path)'
        ) from None
    except Exception as e:  # foreign bytes can make the parser raise anything
        raise StoreError(
            f'{path} is damaged or was not written by torch.save ({type(e).__name__})'
        ) from None


def _to_array(torch: ModuleType, name: str, value: Any) -> np.ndarray:
    """The float32 array of a dense floating-point tensor; UserError if it is none."""
    is_dense = isinstance(value, torch.Tensor) and value.layout == torch.strided
    if not (is_dense and not value.is_meta and value.is_floating_point()):
        raise UserError(
            f'entry {name!r} is of type {type(value).__name__}, expected a dense '
            'tensor of floating-point numbers, as in model.state_dict()'
        )
    return value.detach().float().numpy()
