"""Hugging Face's safetensors in and out: the same arrays, the same logits, one line."""

import hashlib
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from anchorjax.models.gpt2_weights import from_hugging_face, to_hugging_face

from anchorjax import config, models
from anchorjax.errors import ConfigError, UserError
from anchorjax.grid import HParams
from anchorjax.hashing import digest_file
from anchorjax.models import gpt2_files
from anchorjax.storage.atomic import write_atomic
from anchorjax.training.forward import forward
from anchorjax.training.step import draw_member, init_member
from tests.support import cases
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
    gpt2_files.write_model(tmp_path / 'm', experiment.model, params, write_atomic)
    return tmp_path / 'm'


def require_equal(found, expected):
    jax.tree.map(np.testing.assert_array_equal, found, expected)


def start(experiment, path, **fields):
    """The experiment that starts from a file."""
    values = config.to_dict(experiment)
    values['model'] |= {'start': str(path), **fields}
    values['grid']['gamma'] = (0.5,)
    return config.from_dict(values)


def begin(experiment):
    hparams = HParams(*(jnp.float32(1) for _ in range(3)), jnp.int32(0))
    return jax.jit(lambda: init_member(experiment, hparams))().params


def test_names_and_layout_are_those_of_an_independent_conversion(params):
    expected = hugging_face.to_state_dict(params)
    found = to_hugging_face(params)
    assert found.keys() == expected.keys()
    require_equal(found, expected)


def test_a_round_trip_keeps_every_bit(experiment, params, folder):
    state = gpt2_files.read_state(folder)
    require_equal(from_hugging_face(state, experiment.model), params)
    model, vocab = gpt2_files.infer_config(folder)
    assert (model, vocab) == (experiment.model, experiment.task.vocab)


def test_a_bare_file_with_masks_and_a_tied_head_is_read(experiment, params, tmp_path):
    state = {}
    for name, array in to_hugging_face(params).items():
        state[name.removeprefix('transformer.')] = array
    state['h.0.attn.bias'] = np.ones((1, 1, 5, 5), np.float32)
    state['lm_head.weight'] = np.array(state['wte.weight'])
    path = tmp_path / 'bare.safetensors'
    safetensors_numpy.save_file(state, path)
    require_equal(begin(start(experiment, path)), params)


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16'])
def test_half_precision_becomes_float32(experiment, params, tmp_path, dtype):
    state = {}
    for name, array in to_hugging_face(params).items():
        state[name] = np.asarray(jnp.asarray(array).astype(dtype))
    path = tmp_path / 'half.safetensors'
    safetensors_numpy.save_file(state, path)
    read = from_hugging_face(gpt2_files.read_state(path), experiment.model)
    assert {leaf.dtype for leaf in jax.tree.leaves(read)} == {np.dtype('float32')}
    rounded = jax.tree.map(lambda x: np.float32(jnp.asarray(x).astype(dtype)), params)
    require_equal(read, rounded)


def test_a_member_starts_from_the_file(experiment, params, folder):
    path = folder / 'model.safetensors'
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    for fields in ({}, {'start_sha256': digest}):
        require_equal(begin(start(experiment, folder, **fields)), params)
    assert digest_file(path) == digest


def test_the_tokens_of_the_task_may_be_some_of_the_rows(experiment, params, folder):
    small = cases.tiny_gpt2(task__vocab=19)
    rows = tuple(range(19, 0, -1))
    begun = begin(start(small, folder, start_rows=rows))
    np.testing.assert_array_equal(begun['W_embed'], params['W_embed'][list(rows)])
    # The softmax is that of the whole file, restricted to these tokens.
    tokens = np.array([[3, 0, 16, 5]])
    whole = forward(experiment, params, np.array(rows)[tokens]).logits
    found = forward(small, begun, tokens).logits
    np.testing.assert_allclose(found, whole[..., list(rows)], rtol=1e-4, atol=1e-5)


def test_shapes_need_no_file(experiment):
    missing = start(experiment, '/nowhere/model.safetensors')
    hparams = HParams(*(jnp.float32(1) for _ in range(3)), jnp.int32(0))
    shapes = jax.eval_shape(lambda: draw_member(missing, hparams)).params
    abstract = models.abstract_params(missing.model, missing.task.vocab)
    assert jax.tree.map(lambda x: x.shape, shapes) == jax.tree.map(
        lambda x: x.shape, abstract
    )
    with pytest.raises(UserError, match='no such file'):
        begin(missing)


@pytest.mark.parametrize(
    ('fields', 'line'),
    [
        ({'start_sha256': '0' * 64}, 'its sha256 is [0-9a-f]{64}, not 0000'),
        ({'start_rows': (1, 2)}, '2 rows of the embedding, the task has 20 tokens'),
        ({'start_rows': tuple(range(1, 21))}, 'row 20 of 20: see model.start_rows'),
        ({'depth': 3}, r'12 arrays missing, e.g. h.2.attn'),
        ({'depth': 1}, r'12 arrays unexpected, e.g. h.1.attn'),
        ({'max_len': 6}, r'wpe.weight has shape \(5, 8\), the config expects'),
    ],
)
def test_a_start_that_does_not_fit_is_one_line(experiment, folder, fields, line):
    with pytest.raises(UserError, match=rf'^model.start = .*: {line}') as error:
        begin(start(experiment, folder, **fields))
    assert '\n' not in str(error.value)


def test_several_gammas_are_refused_with_a_start(experiment):
    values = config.to_dict(experiment)
    values['model']['start'] = 'x.safetensors'
    with pytest.raises(ConfigError, match=r'grid.gamma = .*: must be a single value'):
        config.from_dict(values)


def test_damaged_and_foreign_files_are_one_line(experiment, folder, tmp_path):
    path = folder / 'model.safetensors'
    whole = path.read_bytes()
    length = int.from_bytes(whole[:8], 'little')
    damaged = {
        'truncated': whole[:-1],
        'empty': b'',
        'header': whole[:8] + b'\0' * length + whole[8 + length :],
        'long header': (2**62).to_bytes(8, 'little') + whole[8:],
        'pickle': b'\x80\x04}.',
    }
    for name, data in damaged.items():
        path.write_bytes(data)
        with pytest.raises(UserError, match='cannot be read as safetensors') as error:
            gpt2_files.read_state(path)
        assert '\n' not in str(error.value), name
    with pytest.raises(UserError, match=r'must be a .safetensors file'):
        gpt2_files.read_state(tmp_path / 'pytorch_model.bin')
    safetensors_numpy.save_file({'other': np.zeros(3, np.float32)}, path)
    with pytest.raises(UserError, match=r"not GPT-2's state: wte.weight"):
        gpt2_files.infer_config(folder)
    state = to_hugging_face(cases.random_params(experiment))
    state['lm_head.weight'] = state['transformer.wte.weight'] + 1
    safetensors_numpy.save_file(state, path)
    with pytest.raises(UserError, match='this head is not tied'):
        begin(start(experiment, folder))
    (folder / 'config.json').write_text(json.dumps({'n_head': 2}))
    del state['lm_head.weight']
    safetensors_numpy.save_file(state, path)
    assert gpt2_files.infer_config(folder)[0].heads == 2
    for text in ('[]', '{"n_head": 2, "layer_norm_epsilon": "x"}'):
        (folder / 'config.json').write_text(text)
        with pytest.raises(UserError, match=r"config.json: not GPT-2's config"):
            gpt2_files.infer_config(folder)


def test_transformers_reads_ours_with_equal_logits(experiment, params, folder):
    transformers = pytest.importorskip('transformers')
    torch = pytest.importorskip('torch')
    network = transformers.GPT2LMHeadModel.from_pretrained(folder).eval()
    tokens = np.random.default_rng(0).integers(0, 20, (16, 5))
    with torch.no_grad():
        expected = network(torch.tensor(tokens)).logits.numpy()
    assert np.abs(expected).max() > 1
    ours = forward(experiment, params, tokens, last_only=False).logits
    np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=2e-5)


def test_we_read_theirs_with_equal_logits(experiment, tmp_path):
    transformers = pytest.importorskip('transformers')
    torch = pytest.importorskip('torch')
    torch.manual_seed(0)
    sizes = {'n_embd': 8, 'n_layer': 2, 'n_head': 2, 'n_positions': 5}
    theirs = transformers.GPT2Config(vocab_size=20, initializer_range=0.5, **sizes)
    network = transformers.GPT2LMHeadModel(theirs).eval()
    network.save_pretrained(tmp_path)
    model, vocab = gpt2_files.infer_config(tmp_path)
    assert vocab == 20 and model == experiment.model
    begun = begin(start(experiment, tmp_path))
    tokens = np.random.default_rng(0).integers(0, 20, (16, 5))
    with torch.no_grad():
        expected = network(torch.tensor(tokens)).logits.numpy()
    ours = forward(experiment, begun, tokens, last_only=False).logits
    np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=2e-5)
