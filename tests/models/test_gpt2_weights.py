"""Hugging Face's GPT-2: the same arrays and logits; files in and out.

PAPERS 1.6: P1's code trains GPT2LMHeadModel. What needs safetensors, transformers or
PyTorch is skipped where they are not installed.
"""

import hashlib
import json
from typing import Any

import chex
import jax
import numpy as np
import pytest

from anchorjax import config
from anchorjax.errors import StoreError, UserError
from anchorjax.models import gpt2_weights
from anchorjax.models.gpt2 import GPT2Config
from anchorjax.models.gpt2_weights import from_hugging_face, to_hugging_face
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps.environment import add_data, describe_environment
from anchorjax.training.devices import make_mesh
from tests.support import cases
from tests.support.first_steps import start_member
from tests.support.networks import hugging_face

safetensors_numpy = pytest.importorskip('safetensors.numpy')


@pytest.fixture(scope='module')
def experiment():
    return cases.tiny_gpt2()


@pytest.fixture(scope='module')
def params(experiment):
    return cases.random_params(experiment, scale=0.3)


@pytest.fixture
def folder(experiment, params, tmp_path):
    model = experiment.model
    folder = tmp_path / 'm'
    gpt2_weights.write_model(folder, params, model.heads, model.eps)
    return folder


def start(experiment, path, **fields):
    """The experiment that starts from a file."""
    values = config.to_dict(experiment)
    values['model'] |= {'start': str(path), **fields}
    values['grid']['gamma'] = (0.5,)
    return config.from_dict(values)


def begin(experiment):
    return start_member(experiment).params


def test_a_round_trip_keeps_every_bit(experiment, params, folder):
    expected = hugging_face.to_state_dict(params)  # an independent conversion
    assert to_hugging_face(params).keys() == expected.keys()
    chex.assert_trees_all_equal(to_hugging_face(params), expected)
    state = gpt2_weights.read_state(folder)
    chex.assert_trees_all_equal_shapes_and_dtypes(state, expected)
    chex.assert_trees_all_equal(
        from_hugging_face(state, experiment.model.depth), params
    )
    fields, vocab = gpt2_weights.read_sizes(folder)
    assert GPT2Config(**fields) == experiment.model
    assert vocab == experiment.task.vocab


def test_a_member_starts_from_the_file(experiment, params, folder):
    path = folder / 'model.safetensors'
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    for fields in ({}, {'start_sha256': digest}):
        chex.assert_trees_all_equal(begin(start(experiment, folder, **fields)), params)


def test_the_tokens_of_the_task_may_be_some_of_the_rows(experiment, params, folder):
    small = cases.tiny_gpt2(task__vocab=19)
    rows = tuple(range(19, 0, -1))
    begun = begin(start(small, folder, start_rows=rows))
    np.testing.assert_array_equal(begun['W_embed'], params['W_embed'][list(rows)])
    # The softmax is that of the whole file, restricted to these tokens.
    tokens = np.array([[3, 0, 16, 5]])
    whole = cases.run_forward(experiment, params, np.array(rows)[tokens]).logits
    found = cases.run_forward(small, begun, tokens).logits
    np.testing.assert_allclose(found, whole[..., list(rows)], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ('change', 'line'),
    [
        (lambda W: (W * 100).astype(np.int8), 'int8: must be of a floating type'),
        (lambda W: W > 0, 'bool: must be of a floating type'),
        (lambda W: W * np.nan, 'not finite in float32'),
        (lambda W: W.astype(np.float64) + 1e300, 'not finite in float32'),
    ],
)
def test_weights_that_are_no_floats_are_refused(folder, change, line):
    """As quantized ones: they would be read as other weights."""
    path = folder / 'model.safetensors'
    state = gpt2_weights.read_state(path)
    name = next(name for name in state if name.endswith('wte.weight'))
    with pytest.raises(UserError, match=line):
        gpt2_weights.from_hugging_face({**state, name: change(state[name])}, depth=2)


@pytest.mark.parametrize(
    ('fields', 'line'),
    [
        ({'start_sha256': '0' * 64}, 'its sha256 is [0-9a-f]{64}, not 0000'),
        ({'start_rows': tuple(range(1, 21))}, 'row 20 of 20: see model.start_rows'),
        ({'depth': 3}, r'12 missing, e.g. h.2.attn'),
        ({'depth': 1}, r'12 unexpected, e.g. h.1.attn'),
        ({'max_len': 6}, r'W_pos has shape \(5, 8\), the config expects'),
        ({'heads': 4}, r'model.heads = 4: must be 2, as in .*/config.json'),
        ({'eps': 1e-6}, r'model.eps = 1e-06: must be 1e-05, as in .*/config.json'),
    ],
)
def test_a_start_that_does_not_fit_is_one_line(experiment, folder, fields, line):
    with pytest.raises(UserError, match=rf'^model.start = .*: {line}'):
        begin(start(experiment, folder, **fields))


def test_a_sweep_that_goes_on_from_other_weights_is_refused(
    experiment, params, folder, tmp_path
):
    """Chunks that have not begun would start from another file than the others."""

    def take_up():
        begun, mesh = start(experiment, folder), make_mesh(1)
        environment = add_data(describe_environment(begun, mesh), begun)
        create_folder(tmp_path / 'run', begun, environment)

    take_up()
    take_up()  # the same file: nothing to say
    more = jax.tree.map(lambda x: x + 1, params)
    gpt2_weights.write_model(folder, more, experiment.model.heads, experiment.model.eps)
    with pytest.raises(StoreError, match=r'with data\..*/m/model.safetensors = '):
        take_up()
    (folder / 'model.safetensors').unlink()
    with pytest.raises(UserError, match=r'^model.start = .*: cannot read .*/m/model'):
        take_up()


def test_damaged_and_foreign_files_are_one_line(experiment, params, folder, tmp_path):
    path = folder / 'model.safetensors'
    whole = path.read_bytes()
    for damaged in (whole[:-1], b'', b'\x80\x04}.'):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match='cannot be read as safetensors'):
            gpt2_weights.read_state(path)
    with pytest.raises(UserError, match=r'must be a .safetensors file'):
        gpt2_weights.read_state(tmp_path / 'pytorch_model.bin')
    state = to_hugging_face(params)
    state['lm_head.weight'] = state['transformer.wte.weight'] + 1
    safetensors_numpy.save_file(state, path)
    with pytest.raises(UserError, match='this head is not tied'):
        begin(start(experiment, folder))
    del state['lm_head.weight']
    safetensors_numpy.save_file(state, path)
    described = json.loads((folder / 'config.json').read_text())
    other = {'scale_attn_by_inverse_layer_idx': True}  # as in some models of others
    for text, line in ((described | other, 'layer_idx is True'), ([2], r'config.json')):
        (folder / 'config.json').write_text(json.dumps(text))
        with pytest.raises(UserError, match=line):
            gpt2_weights.read_sizes(folder)


def test_transformers_and_we_read_each_others_files_with_equal_logits(
    experiment, params, folder, tmp_path
):
    transformers = pytest.importorskip('transformers')
    torch = pytest.importorskip('torch')
    torch.manual_seed(0)
    sizes = {'n_embd': 8, 'n_layer': 2, 'n_head': 2, 'n_positions': 5}
    theirs = transformers.GPT2Config(vocab_size=20, initializer_range=0.5, **sizes)
    written = transformers.GPT2LMHeadModel(theirs).eval()
    written.save_pretrained(tmp_path)
    fields, vocab = gpt2_weights.read_sizes(tmp_path)
    assert vocab == 20 and GPT2Config(**fields) == experiment.model
    begun = begin(start(experiment, tmp_path))
    read = transformers.GPT2LMHeadModel.from_pretrained(folder).eval()
    for network, ours in ((written, begun), (read, params)):
        require_equal_logits(experiment, ours, network)


def require_equal_logits(experiment: config.Experiment, params: Any, network: Any):
    import torch

    tokens_BT = np.random.default_rng(0).integers(0, 20, (16, 5))
    with torch.no_grad():
        expected = network(torch.tensor(tokens_BT)).logits.numpy()
    assert np.abs(expected).max() > 1
    logits = cases.run_forward(experiment, params, tokens_BT, last_only=False).logits
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=2e-5)
