"""GPT-2 as Hugging Face keeps it: a folder with model.safetensors and config.json.

safetensors holds arrays and nothing that could be run; pickled weights (.bin, .pt) are
never read. The package is in the extra `llm`.
"""

import functools
import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from anchorjax.errors import UserError, brief
from anchorjax.files import read_json
from anchorjax.hashing import digest_file
from anchorjax.models.gpt2_config import GPT2Config
from anchorjax.models.gpt2_names import (
    from_hugging_face,
    infer_sizes,
    to_hugging_face,
)

WEIGHTS_FILE, CONFIG_FILE = 'model.safetensors', 'config.json'


def read_start(config: GPT2Config, vocab: int) -> Any | None:
    """The parameters of `config.start`; None if a member is to be drawn.

    Raises:
      UserError: the file is missing, damaged, or of another model; the line names it.
    """
    if not config.start:
        return None
    return _read_start_once(config, vocab)


def read_state(path: pathlib.Path) -> dict[str, np.ndarray]:
    """All arrays of a file of safetensors, or of a folder with one.

    Raises:
      UserError: it is missing, damaged, or no safetensors.
    """
    path = find_weights(path)
    safetensors = _import_safetensors()
    try:
        with safetensors.safe_open(path, framework='np') as f:
            return {name: f.get_tensor(name) for name in f.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise UserError(f'{path}: no such file') from None
    except Exception as e:  # the package raises its own kind, and OSError
        reason = brief(f'{type(e).__name__}: {e}')
        raise UserError(f'{path}: cannot be read as safetensors ({reason})') from None


def infer_config(path: pathlib.Path) -> tuple[GPT2Config, int]:
    """The sizes of the model in a folder, as a config, and its number of tokens.

    Raises:
      UserError: as `read_state`; or config.json is missing or of another model.
    """
    path = find_weights(path)
    sizes = infer_sizes(read_state(path))
    beside = path.with_name(CONFIG_FILE)
    described = read_json(beside)
    try:
        heads = described['n_head']
        eps = float(described.get('layer_norm_epsilon', 1e-5))
        activation = described.get('activation_function', 'gelu_new')
    except (ValueError, LookupError, TypeError, AttributeError) as e:
        reason = brief(f'{type(e).__name__}: {e}')
        raise UserError(f"{beside}: not GPT-2's config ({reason})") from None
    if activation != 'gelu_new':
        raise UserError(f'{beside}: activation {brief(str(activation))}, not gelu_new')
    vocab = sizes.pop('vocab')
    return GPT2Config(heads=heads, eps=eps, **sizes), vocab


def write_model(
    folder: pathlib.Path,
    config: GPT2Config,
    params: Any,
    write: Callable[[pathlib.Path, Callable[[pathlib.Path], Any]], None],
) -> list[pathlib.Path]:
    """Writes a folder for `transformers.GPT2LMHeadModel.from_pretrained`.

    Args:
      write: `storage.atomic.write_atomic`, which this package may not import.
    """
    _import_safetensors()
    from safetensors.numpy import save_file

    state = {}
    for name, array in to_hugging_face(params).items():
        state[name] = np.ascontiguousarray(array, np.float32)
    vocab = len(state['transformer.wte.weight'])
    described = json.dumps(_describe(config, vocab), indent=2) + '\n'

    def write_weights(path: pathlib.Path) -> None:
        save_file(state, path, metadata={'format': 'pt'})

    def write_config(path: pathlib.Path) -> None:
        path.write_text(described)

    write(folder / WEIGHTS_FILE, write_weights)
    write(folder / CONFIG_FILE, write_config)
    return [folder / WEIGHTS_FILE, folder / CONFIG_FILE]


def find_weights(path: pathlib.Path) -> pathlib.Path:
    """The file of safetensors at a path, which may be its folder's.

    Raises:
      UserError: the path is of something else.
    """
    if path.is_dir():
        path = path / WEIGHTS_FILE
    if path.suffix != '.safetensors':
        raise UserError(f'{path}: must be a .safetensors file or a folder with one')
    return path


@functools.lru_cache(maxsize=1)  # the cohorts of a sweep start from the same weights
def _read_start_once(config: GPT2Config, vocab: int) -> Any:
    path = pathlib.Path(config.start)
    state = read_state(path)
    try:
        _require_digest(find_weights(path), config.start_sha256)
        params = from_hugging_face(state, config)
        params['W_embed'] = _select_tokens(params['W_embed'], config, vocab)
    except UserError as e:
        raise UserError(f'model.start = {config.start!r}: {e}') from None
    return params


def _select_tokens(W_embed: np.ndarray, config: GPT2Config, vocab: int) -> np.ndarray:
    """The rows of the task's tokens: `config.start_rows`, or all."""
    rows = config.start_rows or tuple(range(len(W_embed)))
    if len(rows) != vocab:
        raise UserError(
            f'{len(rows)} rows of the embedding, the task has {vocab} tokens; '
            'model.start_rows names a row for each'
        )
    if max(rows) >= len(W_embed):
        raise UserError(f'row {max(rows)} of {len(W_embed)}: see model.start_rows')
    return W_embed[np.array(rows)]


def _require_digest(path: pathlib.Path, expected: str) -> None:
    if not expected:
        return
    found = digest_file(path)
    if found != expected:
        raise UserError(f'its sha256 is {found}, not {expected}: another file')


def _describe(config: GPT2Config, vocab: int) -> dict[str, Any]:
    """Hugging Face's config.json of the same network."""
    return {
        'architectures': ['GPT2LMHeadModel'],
        'model_type': 'gpt2',
        'vocab_size': vocab,
        'n_positions': config.max_len,
        'n_embd': config.width,
        'n_layer': config.depth,
        'n_head': config.heads,
        'activation_function': 'gelu_new',
        'layer_norm_epsilon': config.eps,
        'resid_pdrop': 0.0,
        'embd_pdrop': 0.0,
        'attn_pdrop': 0.0,
        'tie_word_embeddings': True,
        'torch_dtype': 'float32',
    }


def _import_safetensors() -> Any:
    try:
        import safetensors
    except ImportError as e:
        raise UserError(f"{e}: pip install 'anchorjax[llm]'") from None
    return safetensors
