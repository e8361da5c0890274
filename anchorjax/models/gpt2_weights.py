"""GPT-2 as Hugging Face keeps it: a folder with model.safetensors and config.json.

Their Conv1D stores [d_in, d_out], as we do, and keeps Q, K and V in one layer; their
head is tied to the embedding, as ours is. safetensors holds arrays and nothing that
could be run; pickled weights (.bin, .pt) are never read. The package is in the extra
`llm`.
"""

import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from flax.traverse_util import flatten_dict, unflatten_dict

from anchorjax.errors import (
    UserError,
    brief,
    describe_cause,
    import_extra,
    require,
    require_names,
)
from anchorjax.files import read_json, report_in_one_line, write_atomic, write_json
from anchorjax.hashing import digest_file
from anchorjax.models import as_parameter

State = Mapping[str, np.ndarray]  # arrays by Hugging Face's names

WEIGHTS_FILE, CONFIG_FILE = 'model.safetensors', 'config.json'
_PREFIX = 'transformer.'  # files of the bare model lack it
_HEAD = 'lm_head.weight'
_BUFFERS = ('.attn.bias', '.attn.masked_bias')  # masks that old files hold
_OUTSIDE_BLOCKS = {
    'W_embed': 'wte.weight',
    'W_pos': 'wpe.weight',
    'LN_final/scale': 'ln_f.weight',
    'LN_final/bias': 'ln_f.bias',
}
_INSIDE_BLOCK = {
    'LN_attn/scale': 'ln_1.weight',
    'LN_attn/bias': 'ln_1.bias',
    'LN_mlp/scale': 'ln_2.weight',
    'LN_mlp/bias': 'ln_2.bias',
    'W_O': 'attn.c_proj.weight',
    'b_O': 'attn.c_proj.bias',
    'W_in': 'mlp.c_fc.weight',
    'b_in': 'mlp.c_fc.bias',
    'W_out': 'mlp.c_proj.weight',
    'b_out': 'mlp.c_proj.bias',
}
# Of a GPT2Config, by the names of their config.
_SIZES = {
    'depth': 'n_layer',
    'width': 'n_embd',
    'heads': 'n_head',
    'max_len': 'n_positions',
}
# Of their config, what our network does.
_OPTIONS = {'scale_attn_weights': True, 'scale_attn_by_inverse_layer_idx': False}
# Those of Q, K and V, one after another.
_FUSED = {'W': 'attn.c_attn.weight', 'b': 'attn.c_attn.bias'}


def read_params(
    path: pathlib.Path,
    expected: Any,
    sha256: str = '',
    rows: tuple[int, ...] = (),
) -> Any:
    """Our parameters, float32, of a file of theirs.

    Args:
      expected: the parameter tree of the model, of arrays or ShapeDtypeStructs.
      sha256: what the file's must be; '': any.
      rows: the row of the embedding for each token; (): all rows, in order.

    Raises:
      UserError: the file is missing, damaged, or of another model; or it does not have
        these rows.
    """
    state = read_state(path)
    found = digest_weights(path)
    if sha256 and found != sha256:
        raise UserError(f'its sha256 is {found}, not {sha256}: another file')
    params = from_hugging_face(state, _count_blocks(expected))
    num_rows = len(params['W_embed'])
    if rows:
        if max(rows) >= num_rows:
            raise UserError(f'row {max(rows)} of {num_rows}: see model.start_rows')
        params['W_embed'] = params['W_embed'][np.array(rows)]
    _require_shapes(params, expected)
    return params


def read_sizes(path: pathlib.Path) -> tuple[dict[str, Any], int]:
    """The fields of a GPT2Config for the model in a folder, and its number of tokens.

    Raises:
      UserError: config.json is missing, or of another model.
    """
    beside = find_weights(path).with_name(CONFIG_FILE)
    described = read_json(beside)
    try:
        fields = {ours: int(described[theirs]) for ours, theirs in _SIZES.items()}
        eps = float(described.get('layer_norm_epsilon', 1e-5))
        activation = described.get('activation_function', 'gelu_new')
        vocab = int(described['vocab_size'])
    except (ValueError, LookupError, TypeError, AttributeError) as e:
        reason = describe_cause(e)
        raise UserError(f"{beside}: not GPT-2's config ({reason})") from None
    if activation != 'gelu_new':
        raise UserError(f'{beside}: activation {brief(str(activation))}, not gelu_new')
    for option, ours in _OPTIONS.items():
        if described.get(option, ours) != ours:
            raise UserError(f'{beside}: {option} is {described[option]}, ours {ours}')
    return {**fields, 'eps': eps}, vocab


def digest_weights(path: pathlib.Path) -> str:
    """The SHA-256 of the file at a path, or in that folder; UserError if unreadable."""
    path = find_weights(path)
    with report_in_one_line('read', path):
        return digest_file(path)


def require_described(path: pathlib.Path, heads: int, eps: float) -> None:
    """Raises UserError if a config.json beside the weights has another heads or eps.

    Every other size shows in the shapes of the arrays; with these two wrong, the file
    would be read as another network.
    """
    beside = find_weights(path).with_name(CONFIG_FILE)
    if not beside.exists():
        return
    fields, _ = read_sizes(path)
    for name, given in (('heads', heads), ('eps', eps)):
        allowed = f'{fields[name]}, as in {beside}'
        require(given == fields[name], f'model.{name}', given, allowed)


def write_model(
    folder: pathlib.Path, params: Any, heads: int, eps: float
) -> list[pathlib.Path]:
    """Writes a folder for `transformers.GPT2LMHeadModel.from_pretrained`.

    Args:
      heads, eps: of the config; the parameters show all other sizes.

    Raises:
      StoreError: a file cannot be written.
    """
    save_file = import_extra('safetensors.numpy', 'llm').save_file
    state = {}
    for name, array in to_hugging_face(params).items():
        state[name] = np.ascontiguousarray(array, np.float32)

    def write_weights(path: pathlib.Path) -> None:
        save_file(state, path, metadata={'format': 'pt'})

    write_atomic(folder / WEIGHTS_FILE, write_weights)
    write_json(folder / CONFIG_FILE, _describe(params, heads, eps))
    return [folder / WEIGHTS_FILE, folder / CONFIG_FILE]


def find_weights(path: pathlib.Path) -> pathlib.Path:
    """The safetensors file at a path, or in that folder; UserError for another kind."""
    if path.is_dir():
        path = path / WEIGHTS_FILE
    if path.suffix != '.safetensors':
        raise UserError(f'{path}: must be a .safetensors file or a folder with one')
    return path


def read_state(path: pathlib.Path) -> dict[str, np.ndarray]:
    """All arrays of a safetensors file, W [d_in, d_out]; UserError if it is damaged."""
    path = find_weights(path)
    safe_open = import_extra('safetensors', 'llm').safe_open
    try:
        with safe_open(path, framework='np') as f:
            return {name: f.get_tensor(name) for name in f.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise UserError(f'{path}: no such file') from None
    except Exception as e:  # the package raises its own kind, and OSError
        reason = describe_cause(e)
        raise UserError(f'{path}: cannot be read as safetensors ({reason})') from None


def to_hugging_face(params: Any) -> dict[str, np.ndarray]:
    """Our parameters under their names, W [d_in, d_out], without the tied head."""
    flat = flatten_dict(params, sep='/')
    depth = _count_blocks(params)
    state = {}
    for ours, theirs in _name_whole(depth).items():
        state[_PREFIX + theirs] = np.asarray(flat[ours])
    for ours, theirs in _name_fused(depth).items():
        parts = [np.asarray(flat[name]) for name in ours]
        state[_PREFIX + theirs] = np.concatenate(parts, axis=-1)
    return state


def from_hugging_face(state: State, depth: int) -> dict[str, Any]:
    """Our parameters, float32, of their state.

    Raises:
      UserError: a name is missing or unexpected, the head is not tied to the
        embedding, or as `models.as_parameter`.
    """
    state = _strip(state)
    whole, fused = _name_whole(depth), _name_fused(depth)
    require_names(state, [*whole.values(), *fused.values()])
    flat = {}
    for ours, theirs in whole.items():
        flat[ours] = as_parameter(state[theirs], theirs)
    for ours, theirs in fused.items():
        parts = np.array_split(as_parameter(state[theirs], theirs), 3, axis=-1)
        for name, part in zip(ours, parts, strict=True):
            flat[name] = np.ascontiguousarray(part)
    return unflatten_dict(flat, sep='/')


def _name_whole(depth: int) -> dict[str, str]:
    """{our name: theirs} of the arrays that are the same."""
    names = dict(_OUTSIDE_BLOCKS)
    for layer in range(depth):
        for ours, theirs in _INSIDE_BLOCK.items():
            names[f'block_{layer}/{ours}'] = f'h.{layer}.{theirs}'
    return names


def _name_fused(depth: int) -> dict[tuple[str, ...], str]:
    """{our names of Q, K and V: their one}."""
    names = {}
    for layer in range(depth):
        for kind, theirs in _FUSED.items():
            ours = tuple(f'block_{layer}/{kind}_{letter}' for letter in 'QKV')
            names[ours] = f'h.{layer}.{theirs}'
    return names


def _count_blocks(params: Any) -> int:
    return len([name for name in params if name.startswith('block_')])


def _strip(state: State) -> dict[str, np.ndarray]:
    """The state without prefixes, masks and the head, which must be the embedding."""
    stripped = {}
    for name, array in state.items():
        short = name.removeprefix(_PREFIX)
        if not short.endswith(_BUFFERS):
            stripped[short] = array
    head = stripped.pop(_HEAD, None)
    embedding = stripped.get('wte.weight')
    is_tied = embedding is not None and np.array_equal(head, embedding)
    if head is not None and not is_tied:
        raise UserError(f'{_HEAD} is not the embedding: this head is not tied')
    return stripped


def _require_shapes(params: Any, expected: Any) -> None:
    flat: dict[str, Any] = flatten_dict(params, sep='/')
    leaves: dict[str, Any] = flatten_dict(expected, sep='/')
    for name, leaf in leaves.items():
        if flat[name].shape != leaf.shape:
            hint = ''
            if name == 'W_embed':
                hint = '; model.start_rows names a row for each token of the task'
            raise UserError(
                f'{name} has shape {flat[name].shape}, the config expects '
                f'{leaf.shape}{hint}'
            )


def _describe(params: Any, heads: int, eps: float) -> dict[str, Any]:
    """Hugging Face's config.json of the same network."""
    vocab, width = params['W_embed'].shape
    return {
        'architectures': ['GPT2LMHeadModel'],
        'model_type': 'gpt2',
        'vocab_size': vocab,
        'n_positions': len(params['W_pos']),
        'n_embd': width,
        'n_layer': _count_blocks(params),
        'n_head': heads,
        'activation_function': 'gelu_new',
        'layer_norm_epsilon': eps,
        'resid_pdrop': 0.0,
        'embd_pdrop': 0.0,
        'attn_pdrop': 0.0,
        'tie_word_embeddings': True,
        'torch_dtype': 'float32',
    }
