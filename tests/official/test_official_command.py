"""A file of the authors as a member: refused unless it fits, else like any other."""

import dataclasses
import pathlib
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from analysis import figure
from analysis.drawing import style
from analysis.members.member import Member
from analysis.p1 import official
from anchorjax import config
from anchorjax.errors import UserError
from tests.support import cases, tiny
from tests.support.networks import reference
from tests.support.networks.official_cases import save_weights


class Checkpoint(NamedTuple):
    path: pathlib.Path
    experiment: config.Experiment
    params: Any


@pytest.fixture(scope='module')
def torch():
    return pytest.importorskip(
        'torch', reason="needs the extra: pip install -e '.[torch]'"
    )


def test_another_vocabulary_or_broken_numbers_are_refused(torch, tmp_path):
    experiment, params = cases.draw_member()
    save_weights(tmp_path / 'w.pt', params)
    with pytest.raises(UserError, match='has 20 tokens, the task has 201'):
        official.load_member(tmp_path / 'w.pt')
    params['block_0']['W_Q'][0, 0] = np.nan
    save_weights(tmp_path / 'w.pt', params)
    with pytest.raises(UserError, match='not finite'):
        official.load_member(tmp_path / 'w.pt', experiment)


class Figure:
    """Stands for a figure of a member, since the real one takes seconds."""

    layout = style.Layout(1, 1, 1, 1)

    @staticmethod
    def compute(member: Member) -> pd.DataFrame:
        return pd.DataFrame(member.matrix('block_0/W_Q'))

    @staticmethod
    def draw(result: pd.DataFrame, axes: np.ndarray) -> None:
        axes[0, 0].imshow(result)


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


def test_the_command_prints_the_answers_and_draws(
    checkpoint, tmp_path, monkeypatch, capsys
):
    words = [
        f'--weights={checkpoint.path}',
        '--heads=2',
        f'--config={tiny.__file__}',
        f'--out={tmp_path}',
        '--figure=attention_flow',
    ]
    monkeypatch.setattr(figure, 'find_figure', {'attention_flow': Figure}.get)
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

    picture = tmp_path / 'attention_flow_model_209.png'
    assert picture.stat().st_size > 100
    numbers = pd.read_csv(tmp_path / 'attention_flow_model_209.csv')
    expected = checkpoint.params['block_0']['W_Q']
    np.testing.assert_allclose(numbers.drop(columns='about'), expected, rtol=1e-5)


def _measure_exactly(checkpoint: Checkpoint, member: Member) -> dict:
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
