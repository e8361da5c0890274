"""Figures and report of sweeps along axes of every type that a preset may have."""

import pytest

from analysis import figure
from analysis.p1 import eigenvalues, lazy
from analysis.p3 import complexity
from anchorjax.errors import UserError
from tests.support.drawing import draw_pixels

# xarray takes an array for a dict if it has labels along an axis called `keys`.
KEYS = ((20, 60), (20, 100))
POINT = {'keys': KEYS[1], 'gamma': 0.8}


@pytest.fixture(scope='module')
def run(train_once):
    """A sweep along a static axis of tuples."""
    return train_once(
        'typed_axes',
        static_axes=(('task.keys', KEYS),),
        train__snapshot_steps=(0, 4),
        train__resume_every=1e9,
        train__lanes=2,
        grid__seed=(0,),
    )


@pytest.mark.slow
def test_the_figures_of_the_sweep_take_every_member(run):
    result = lazy.compute(run, 6)
    texts = 2 * ['(20, 60)'] + 2 * ['(20, 100)']
    assert result['keys'].tolist() == texts
    # Two untrained networks are asked the questions of their own task.
    assert result.groupby(['gamma', 'keys']).null.nunique().tolist() == 4 * [1]
    assert result.null.nunique() == 4
    assert draw_pixels(result.assign(row_name='keys'), lazy).std() > 0
    assert set(complexity.compute(run).row.values) == set(texts)
    spectra = eigenvalues.compute(run, **POINT)
    W = run.params(learning_rate=1e-2, seed=0, **POINT)['W_embed']
    assert spectra.followed == 0.8
    assert spectra.sizes['index'] == min(W.shape)


@pytest.mark.parametrize('word', ['--step=True', '--step=4.0'])
def test_a_step_is_a_whole_number(word):
    with pytest.raises(UserError, match='must be a snapshot step or last'):
        figure.parse_axis(word)
