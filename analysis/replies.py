"""What language models answer to equations of the anchor task, beside our members.

Stacked bars: the shares of answers to the unseen pair that are inferential, symmetric,
neither, or hold no number; the black mark is the share of right answers to seen pairs
with new key items, without which the bars say little. A panel for each setting of the
task. Written by `python launch/prompts.py score`.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from analysis.drawing import style
from anchorjax.config.grid import TRACED_AXES
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

ANSWERS = ('inferential', 'symmetric', 'neither', 'unparsable')
_COLOURS = {
    'inferential': style.COLOURS['inferential'],
    'symmetric': style.COLOURS['symmetric'],
    'neither': '#CCCCCC',
    'unparsable': '#FFFFFF',
}


class Result(NamedTuple):
    """Means over seeds, by setting Y of the task and network X."""

    setting_Y: np.ndarray  # 'num_anchors=8', or ''
    network_X: np.ndarray  # names of language models, then gammas of our members
    is_member_X: np.ndarray
    share_YXA: np.ndarray  # of ANSWERS to the unseen pair; NaN: not asked or trained
    heldout_YX: np.ndarray  # right answers to seen pairs with new key items
    seeds_YX: np.ndarray  # how many count


def compute(cube: xr.Dataset, run: Run | None = None) -> Result:
    """The bars of all models of a cube, and of the members of a sweep.

    Args:
      cube: from `prompts.scores.make_cube`.
      run: its members that are trained and converged count, averaged over learning
        rates and weight decays too. Its static axes must be those of the cube.

    Raises:
      UserError: the task has no unseen pair, or the run is of another task or has
        other settings.
    """
    if 'unseen' not in cube.probe.values:
        raise UserError('replies: this task has no unseen pair')
    parts = []
    for model in cube.model.values:
        results = cube.sel(model=model).isel(gamma=0, learning_rate=0, weight_decay=0)
        parts.append((str(model), False, results))
    if run is not None:
        _require_same_task(run)
        _require_same_settings(cube, run)
        for gamma in run.results.gamma.values:
            name = f'γ {gamma:g}'
            parts.append((name, True, run.results.sel(gamma=gamma)))
    settings = _list_settings(cube)
    shares, heldout, seeds = [], [], []
    for setting in settings:
        for _, _, results in parts:
            measured = _measure(results.sel(setting))
            shares.append(measured[0])
            heldout.append(measured[1])
            seeds.append(measured[2])
    shape = (len(settings), len(parts))
    titles = []
    for setting in settings:
        titles.append(', '.join(f'{axis}={value}' for axis, value in setting.items()))
    return Result(
        setting_Y=np.array(titles),
        network_X=np.array([name for name, _, _ in parts]),
        is_member_X=np.array([is_member for _, is_member, _ in parts]),
        share_YXA=np.reshape(shares, (*shape, len(ANSWERS))),
        heldout_YX=np.reshape(heldout, shape),
        seeds_YX=np.reshape(seeds, shape),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [setting, 1]."""
    for y, axis in enumerate(axes[:, 0]):
        _draw_bars(axis, result, y)
        axis.set_title(str(result.setting_Y[y]))
    axes[-1, 0].set_xlabel('share of answers to the unseen pair')
    axes[0, 0].legend(loc='upper left', bbox_to_anchor=(1, 1))


def layout(result: Result) -> style.Layout:
    rows, networks = result.heldout_YX.shape
    return style.Layout(rows, 1, width=6, height=rows * (0.7 + 0.22 * networks))


def _list_settings(cube: xr.Dataset) -> list[dict[str, object]]:
    """A dict for every combination of the values of the task's axes."""
    settings: list[dict[str, object]] = [{}]
    for axis in _list_static_axes(cube.trained):
        longer = []
        for setting in settings:
            for value in cube[axis].values.tolist():
                longer.append({**setting, axis: value})
        settings = longer
    return settings


def _list_static_axes(trained: xr.DataArray) -> list[str]:
    pooled = ('model', *TRACED_AXES)
    return [str(dim) for dim in trained.dims if dim not in pooled]


def _require_same_task(run: Run) -> None:
    """UserError unless the run is of the task of all prompts, with an unseen pair."""
    task = run.experiment.task.name
    if task != 'anchors':
        raise UserError(f"--run: its task is {task!r}, the prompts are of 'anchors'")
    if 'unseen' not in run.results.probe.values:
        raise UserError('--run: its task has no unseen pair, the prompts have one')


def _require_same_settings(cube: xr.Dataset, run: Run) -> None:
    expected = _list_static_axes(cube.trained)
    found = _list_static_axes(run.results.trained)
    if found != expected:
        raise UserError(f'--run: its static axes are {found}, the prompts {expected}')
    for axis in expected:
        if run.results[axis].values.tolist() != cube[axis].values.tolist():
            raise UserError(f'--run: its values of {axis} are not those of the prompts')


def _measure(results: xr.Dataset) -> tuple[np.ndarray, float, int]:
    """(shares of ANSWERS, held-out, members) of what has been trained and converged."""
    is_counted = results.trained.values & results.converged.values
    others = [dim for dim in results.trained.dims if dim != 'seed']
    is_counted_seed = results.trained.copy(data=is_counted).any(others)
    if not is_counted.any():
        return np.full(len(ANSWERS), np.nan), np.nan, 0
    unseen = results.sel(probe='unseen')
    inferential, symmetric = (
        unseen.agreement.sel(mapping=mapping).values[is_counted]
        for mapping in ('inferential', 'symmetric')
    )
    unparsable = np.zeros_like(inferential)
    if 'unparsable' in results:
        unparsable = unseen.unparsable.values[is_counted]
    neither = np.clip(1 - inferential - symmetric - unparsable, 0, 1)
    shares = np.stack([inferential, symmetric, neither, unparsable], axis=-1)
    heldout = results.agreement.sel(probe='seen_heldout', mapping='assigned')
    return (
        shares.mean(0),
        float(heldout.values[is_counted].mean()),
        int(is_counted_seed.sum()),
    )


def _draw_bars(axis: Axes, result: Result, y: int) -> None:
    place_X = np.arange(len(result.network_X))
    left_X = np.zeros(len(place_X))
    for a, answer in enumerate(ANSWERS):
        share_X = np.nan_to_num(result.share_YXA[y, :, a])
        axis.barh(
            place_X,
            share_X,
            left=left_X,
            label=answer,
            color=_COLOURS[answer],
            edgecolor='#888888',
            linewidth=0.5,
        )
        left_X = left_X + share_X
    axis.plot(result.heldout_YX[y], place_X, 'k|', label='seen pairs, new keys')
    labels = []
    for name, seeds in zip(result.network_X, result.seeds_YX[y], strict=True):
        labels.append(f'{name} ({seeds})')
    axis.set_yticks(place_X, labels)
    axis.invert_yaxis()
    axis.set_xlim(0, 1)
