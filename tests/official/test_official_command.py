"""A file of the authors as a member: refused where it does not fit, else asked like any other."""

import dataclasses
import math
import sys
from typing import NamedTuple

import numpy as np
import pytest

from analysis import official
from analysis.drawing import style
from anchorjax import config
from anchorjax.errors import UserError
from anchorjax.official import weights
from anchorjax.storage import atomic
from tests.support import cases, reference, tiny
from tests.support.official_cases import ours


@pytest.fixture(scope='module')
def torch():
    return pytest.importorskip(
        'torch', reason="needs the extra: pip install -e '.[torch]'"
    )


def test_another_vocabulary_or_broken_numbers_are_refused(torch, tmp_path):
    experiment, params = ours()
    weights.save_weights(tmp_path / 'w.pt', params)
    with pytest.raises(UserError, match='has 20 tokens, the task has 201'):
        official.member(tmp_path / 'w.pt')
    params['block_0']['W_Q'][0, 0] = np.nan
    weights.save_weights(tmp_path / 'w.pt', params)
    with pytest.raises(UserError, match='not finite'):
        official.member(tmp_path / 'w.pt', experiment)


class Seen(NamedTuple):
    W_Q: np.ndarray


class Figure:
    """Stands for a figure of a member, since the real one takes seconds."""

    compute = staticmethod(lambda member: Seen(member.matrix('block_0/W_Q')))
    draw = staticmethod(lambda result, axes: axes[0, 0].imshow(result.W_Q))
    layout = style.Layout(1, 1, 1, 1)


def test_the_command_prints_the_answers_and_draws(torch, tmp_path, monkeypatch, capsys):
    experiment = config.resolve(tiny.get_config())
    model = dataclasses.replace(experiment.model, heads=2)
    params = cases.random_params(dataclasses.replace(experiment, model=model))
    weights.save_weights(path := tmp_path / 'model_209.pt', params)
    words = [
        f'--weights={path}',
        '--heads=2',
        f'--config={tiny.__file__}',
        f'--out={tmp_path}',
    ]
    monkeypatch.setattr(sys, 'argv', ['official.py', *words, '--figure=attention_flow'])
    monkeypatch.setitem(official.FIGURES, 'attention_flow', Figure)
    official.main()
    printed = dict(
        line.split(':') for line in capsys.readouterr().out.splitlines() if ':' in line
    )
    assert (printed['tokens'].strip(), printed['heads'].strip()) == ('201', '2')
    assert (tmp_path / 'attention_flow_model_209.png').stat().st_size > 100
    drawn = atomic.read_arrays(tmp_path / 'attention_flow_model_209.npz')
    np.testing.assert_array_equal(drawn['W_Q'], params['block_0']['W_Q'])
    member = official.member(path, experiment, heads=2)
    assert member.experiment.model == model and member.step == -1
    assert math.isnan(member.point['gamma']) and member.point['seed'] == 0
    for i, probe in enumerate(member.task.probe_names):
        tokens_BT, labels_RB = member.probes.tokens_PBT[i], member.probes.labels_PRB[i]
        exact = reference.forward(reference.to_float64(params), tokens_BT, model)
        for mapping, labels_B in zip(member.task.mapping_names, labels_RB, strict=True):
            share = (exact[:, -1].argmax(-1) == labels_B).mean()
            assert float(printed[f'{probe}, {mapping}']) == pytest.approx(
                share, abs=6e-4
            )


def test_the_task_is_the_papers_unless_said_otherwise(torch, tmp_path):
    experiment, params = ours(task__vocab=201, model__max_len=20)
    weights.save_weights(tmp_path / 'w.pt', params)
    member = official.member(tmp_path / 'w.pt')
    assert (
        member.experiment.task
        == config.resolve(config.default()).task
        != experiment.task
    )
