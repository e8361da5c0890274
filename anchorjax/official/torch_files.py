"""Files of torch.save that hold tensors and nothing else; reading one never runs its code."""

import io
import pathlib
import pickle
import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from anchorjax.errors import StoreError, UserError
from anchorjax.storage import atomic

_SAFE = (2, 10)  # before, weights_only had holes: CVE-2025-32434, CVE-2026-24747


def read(path: pathlib.Path) -> dict[str, Any]:
    """What a file holds by name: float32 arrays of floating-point tensors, the rest as it is.

    Raises:
      StoreError: no such file, not one of torch.save, or refused because it holds more than
        tensors; UserError: no PyTorch or an unsafe one, or the file holds no dict.
    """
    torch = _safe_torch()
    with atomic.report_in_one_line('read', path):
        content = io.BytesIO(path.read_bytes())
    state = _load(torch, content, path)
    if not isinstance(state, Mapping):
        raise UserError(f'{path} holds a {type(state).__name__}, not a state dict')
    return {name: _array(torch, value) for name, value in state.items()}


def write(path: pathlib.Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Writes arrays for torch.load and load_state_dict, whole or not at all."""
    torch = _torch()
    state = {name: torch.from_numpy(array) for name, array in arrays.items()}

    def save(temporary: pathlib.Path) -> None:
        with open(
            temporary, 'wb'
        ) as f:  # a path would put the temporary name into the file
            torch.save(state, f)

    atomic.write_atomic(path, save)


def _torch():
    try:
        import torch
    except ImportError:
        raise UserError(
            "files of PyTorch need PyTorch: pip install -e '.[torch]'"
        ) from None
    return torch


def _safe_torch():
    torch = _torch()
    if tuple(map(int, torch.__version__.split('.')[:2])) < _SAFE:
        least = '.'.join(map(str, _SAFE))
        raise UserError(
            f'PyTorch {torch.__version__} does not read files safely: needs {least}'
        )
    return torch


def _load(torch, content: io.BytesIO, path: pathlib.Path) -> Any:
    """torch.load of tensors alone, with errors of one line."""
    try:
        with warnings.catch_warnings(
            action='ignore'
        ):  # on foreign files; an error is one line
            return torch.load(content, map_location='cpu', weights_only=True)
    except (
        pickle.UnpicklingError
    ) as e:  # its own text advises to switch the protection off
        found = re.search(r'GLOBAL ([\w.]+)', str(e))
        what = (
            f'it holds {found[1]}' if found else 'it holds something else than tensors'
        )
        raise StoreError(
            f'{path} is refused: {what}, and reading that could run code; '
            'give a file of torch.save(model.state_dict(), ...)'
        ) from None
    except Exception as e:  # whatever a parser makes of foreign bytes
        kind = type(e).__name__
        raise StoreError(
            f'{path} is damaged or no file of torch.save ({kind})'
        ) from None


def _array(torch, value: Any) -> Any:
    """A float32 (also of float16 and bfloat16) tensor's numbers; anything else as it is."""
    dense = (
        isinstance(value, torch.Tensor)
        and value.layout == torch.strided
        and not value.is_meta
    )
    return (
        value.detach().float().numpy() if dense and value.is_floating_point() else value
    )
