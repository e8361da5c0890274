"""The untrained network of a member is the one that its training started from."""

import math
import pathlib

import chex
import jax
import numpy as np
import pytest

from analysis.members.point import list_points
from analysis.members.untrained import draw_independent, find_untrained, make_untrained
from analysis.p1 import attention_flow, cosine
from anchorjax import config
from anchorjax.errors import UserError
from anchorjax.experiment import Experiment
from anchorjax.models import gpt2_weights
from anchorjax.network import Network
from anchorjax.storage.reader import open_run
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps.environment import add_data, describe_environment
from anchorjax.training.devices import make_mesh
from tests.support import cases
from tests.support.networks import planted

POINT = {'depth': 2, 'gamma': 0.8, 'seed': 1}


def test_it_is_the_start_of_the_training(finished):
    member = finished.network(**POINT)
    untrained = make_untrained(member)
    start = finished.params(0, **POINT)
    drawn = make_untrained(member._replace(run=None))  # as without that snapshot
    chex.assert_trees_all_equal(untrained.params, start)
    for ours, saved in zip(
        jax.tree.leaves(drawn.params), jax.tree.leaves(start), strict=True
    ):
        np.testing.assert_allclose(ours, saved, rtol=1e-5, atol=1e-7)
    assert untrained.step == 0 and untrained.point == member.point


def test_another_seed_is_another_network_for_the_same_task(finished):
    member = finished.network(**POINT)
    other = draw_independent(member, seed=7)
    own = make_untrained(member)
    assert np.abs(other.params['W_embed'] - own.params['W_embed']).max() > 0.01
    np.testing.assert_array_equal(
        other.eval_sets.tokens_PBT, member.eval_sets.tokens_PBT
    )


@pytest.mark.parametrize('point', [{'gamma': math.nan, 'seed': 0}, {'seed': 0}])
def test_weights_of_unknown_origin_have_no_start(point):
    member = Network(cases.tiny(), {}, point, 0)
    assert find_untrained(member) is None


def describe_from_file(folder: pathlib.Path) -> Experiment:
    """A tiny GPT-2 that starts from a file in this folder, with a snapshot of it."""
    c = cases.tiny_gpt2(model__depth=1, train__snapshot_steps=(0,))
    write_weights(c, folder, scale=0.3)
    values = config.to_dict(c)
    values['model']['start'] = str(folder / 'weights')
    values['grid'] |= {'gamma': (0.5,), 'seed': (1,)}
    values['train'] |= {'num_steps': 1, 'eval_every': 1}
    values['optimizer']['schedule_steps'] = 0
    values['optimizer']['warmup_steps'] = 1
    return config.from_dict(values)


def write_weights(experiment: Experiment, folder: pathlib.Path, scale: float) -> None:
    pytest.importorskip('safetensors')
    params = cases.random_params(experiment, scale=scale)
    model = experiment.model
    gpt2_weights.write_model(folder / 'weights', params, model.heads, model.eps)


def test_members_that_start_from_a_file_have_it_as_their_null(tmp_path):
    experiment = describe_from_file(tmp_path)
    environment = describe_environment(experiment, make_mesh(1))
    environment = add_data(environment, experiment)
    create_folder(tmp_path / 'run', experiment, environment)
    run, start = open_run(tmp_path / 'run'), experiment.model.read_start(20)
    trained = cases.random_params(experiment, seed=1)
    member = Network(experiment, trained, list_points(run)[0], step=1, run=run)
    chex.assert_trees_all_equal(make_untrained(member).params, start)
    assert draw_independent(member, 7) is None  # no second network is independent
    write_weights(experiment, tmp_path, scale=0.7)
    with pytest.raises(UserError, match='started from'):
        make_untrained(member)


@pytest.mark.parametrize(
    ('figure', 'options', 'number', 'place'),
    [
        (cosine, {'keys': (5, 11), 'contexts': 4}, 'difference', {'estimate': 'mean'}),
        pytest.param(
            *(attention_flow, {'tokens': (9, 10, 4, 3)}, 'trained', {}),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_null_of_a_figure_is_the_network_before_training(
    figure, options, number, place
):
    trained = planted.make_untrained_member(gamma=0.3)
    result = figure.compute(trained, **options)
    start = figure.compute(make_untrained(trained), **options)
    np.testing.assert_allclose(result.untrained, start[number].sel(place))
    np.testing.assert_allclose(start.untrained, start[number].sel(place))
    assert (result[number].sel(place) != result.untrained).any()
    stranger = trained._replace(point={'gamma': math.nan, 'seed': 0})
    assert figure.compute(stranger, **options).untrained.isnull().all()
