"""Official weights hold the same numbers as ours under other names.

Of a file only tensors are read, no code is run, every error is one line, and what fits
is a member like any other. What needs PyTorch is skipped without it.
"""

import dataclasses
import functools
import math
import pathlib
import sys
from typing import Any, NamedTuple

import chex
import numpy as np
import pytest
from flax.traverse_util import flatten_dict

from analysis.p1 import official
from anchorjax import config
from anchorjax.errors import UserError
from anchorjax.network import Network
from anchorjax.official import weights
from tests.support import cases, tiny
from tests.support.networks import reference

# Structure, dtypes and numbers.
assert_same_bits = functools.partial(chex.assert_trees_all_equal, strict=True)
ATTENTION = 'decoder.layers.1.dec_self_attn.'
ZEROS = np.zeros((2, 3), np.float32)
# Changes to the tiny experiment that make its model P3's.
P3 = {'model__norm': 'pre_query', 'model__activation': 'gelu', 'model__biases': True}


def to_state_dict(params: Any) -> dict[str, np.ndarray]:
    """Our parameters under their official names and in torch's layout."""
    state = {}
    for name, leaf in flatten_dict(params, sep='/').items():
        array = weights.convert_layout(name, np.asarray(leaf))
        state[weights.to_official_name(name)] = array
    return state


@functools.lru_cache
def make_state(**fields: Any) -> dict[str, np.ndarray]:
    """State dict of a tiny member."""
    _, params = cases.draw_member(**fields)
    return to_state_dict(params)


@pytest.mark.parametrize('layout', [{}, P3], ids=['P1', 'P3'])
@pytest.mark.parametrize('heads', [1, 2])
def test_there_and_back_changes_no_bit_and_finds_every_size(layout, heads):
    experiment, params = cases.draw_member(model__heads=heads, model__depth=3, **layout)
    state = to_state_dict(params)
    read = weights.from_state_dict(state, heads=heads)
    assert read.config == experiment.model
    assert read.vocab == experiment.task.vocab
    assert_same_bits(read.params, params)
    assert_same_bits(to_state_dict(read.params), state)


def test_names_and_shapes_are_the_printed_ones():
    """Of a P1 model of 2 layers, as its module tree prints them (PAPERS 1.2)."""
    params = cases.random_params(config.resolve(config.default()))
    shapes = {}
    for name, array in to_state_dict(params).items():
        shapes[name] = array.shape
    expected = {
        'embedding.tgt_emb.weight': (201, 400),
        'embedding.pos_emb.weight': (20, 400),
        'projection.weight': (201, 400),
        'projection.bias': (201,),
    }
    for layer in (0, 1):
        attention = f'decoder.layers.{layer}.dec_self_attn'
        mlp = f'decoder.layers.{layer}.pos_ffn'
        expected |= {
            f'{attention}.W_Q.weight': (200, 400),
            f'{attention}.W_K.weight': (200, 400),
            f'{attention}.W_V.weight': (200, 400),
            f'{attention}.fc.weight': (400, 200),
            f'{attention}.layernorm.weight': (400,),
            f'{attention}.layernorm.bias': (400,),
            f'{mlp}.fc.0.weight': (1200, 400),
            f'{mlp}.fc.2.weight': (400, 1200),
            f'{mlp}.layernorm.weight': (400,),
            f'{mlp}.layernorm.bias': (400,),
        }
    assert shapes == expected
    assert sum(map(math.prod, shapes.values())) == 2_732_201


def test_the_prefix_of_data_parallel_training_is_removed():
    state = make_state()
    wrapped = {}
    for name, array in state.items():
        wrapped[f'module.{name}'] = array
    read = weights.from_state_dict(wrapped)
    assert_same_bits(read.params, weights.from_state_dict(state).params)


def test_a_state_of_another_model_is_refused_by_the_name_of_the_entry():
    state = make_state()
    without = {n: a for n, a in state.items() if n != f'{ATTENTION}fc.weight'}
    for refused, line in [
        ({}, r'not a state dict of the official model: embedding\.tgt_emb'),
        (without, r'1 missing, e\.g\. decoder\.layers\.1\.dec_self_attn\.fc\.'),
        (state | {'epoch': ZEROS, 'best': ZEROS}, r'2 unexpected, e\.g\. best$'),
        (
            state | {'projection.weight': ZEROS},
            r'projection\.weight has shape \(2, 3\), expected \(20, 6\)',
        ),
    ]:
        with pytest.raises(UserError, match=line):
            weights.from_state_dict(refused)
    with pytest.raises(UserError, match='heads = 3: must be a divisor of the 4 query'):
        weights.from_state_dict(state, heads=3)


class Checkpoint(NamedTuple):
    path: pathlib.Path
    experiment: config.Experiment
    params: Any


@pytest.fixture(scope='module')
def torch():
    return pytest.importorskip(
        'torch', reason="needs the extra: pip install -e '.[torch]'"
    )


def save_weights(path: pathlib.Path, params: Any) -> None:
    """A file of the authors' model with these parameters."""
    import torch  # optional

    state = to_state_dict(params)
    torch.save({name: torch.from_numpy(leaf) for name, leaf in state.items()}, path)


def test_another_vocabulary_or_broken_numbers_are_refused(torch, tmp_path):
    experiment, params = cases.draw_member()
    save_weights(tmp_path / 'w.pt', params)
    with pytest.raises(UserError, match='has 20 tokens, the task has 201'):
        official.load_member(tmp_path / 'w.pt')
    params['block_0']['W_Q'][0, 0] = np.nan
    save_weights(tmp_path / 'w.pt', params)
    with pytest.raises(UserError, match='not finite'):
        official.load_member(tmp_path / 'w.pt', experiment)


@pytest.fixture
def checkpoint(torch, tmp_path) -> Checkpoint:
    """A file of random weights with two heads, which the file does not tell."""
    experiment = config.resolve(tiny.get_config())
    model = dataclasses.replace(experiment.model, heads=2)
    experiment = dataclasses.replace(experiment, model=model)
    params = cases.random_params(experiment)
    path = tmp_path / 'model_209.pt'
    save_weights(path, params)
    return Checkpoint(path, experiment, params)


def test_the_command_prints_the_answers_and_draws(checkpoint, tmp_path, capsys):
    words = [
        f'--weights={checkpoint.path}',
        '--heads=2',
        f'--config={tiny.__file__}',
        f'--out={tmp_path}',
        '--figure=condensation',
    ]
    official.command(words)

    printed = {}
    for line in capsys.readouterr().out.splitlines():
        name, colon, value = line.partition(':')
        if colon:
            printed[name] = value.strip()
    assert printed['tokens'] == '201'
    assert printed['heads'] == '2'
    member = official.load_member(checkpoint.path, checkpoint.experiment, heads=2)
    for (eval_set, mapping), share in _measure_exactly(checkpoint, member).items():
        shown = float(printed[f'{eval_set}, {mapping}'])
        assert shown == pytest.approx(share, abs=6e-4)

    assert (tmp_path / 'condensation_model_209.png').stat().st_size > 100


def _measure_exactly(checkpoint: Checkpoint, member: Network) -> dict:
    """The agreement of (eval set, mapping) in float64."""
    tokens_PBT, labels_PRB = member.eval_sets
    params = reference.to_float64(checkpoint.params)
    model = checkpoint.experiment.model
    shares = {}
    for p, eval_set in enumerate(member.task.eval_set_names):
        logits = reference.forward(params, tokens_PBT[p], model)
        answers_B = logits[:, -1].argmax(-1)
        for r, mapping in enumerate(member.task.mapping_names):
            agrees_B = answers_B == labels_PRB[p, r]
            shares[eval_set, mapping] = agrees_B.mean()
    return shares


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
