"""Until when does gradient flow predict the embedding? (beyond P2)

The flow is integrated from the member's own initialization and the moments of its own
data; nothing is fitted. Three of them (`analysis/theory/trajectories.py`):

  frozen    P2's equation: the other matrices stay, all labels stay equally likely
  coupled   all matrices move
  feedback  they move, and what is learned is learned no more, to first order

The error is the distance of predicted and measured embeddings by the distance that they
went from the start: 0 exact, 1 as bad as no movement. Training sees batches and not the
whole data, which alone gives an error that falls about as 1 / sqrt(step); `sampling` is
its expectation for the frozen flow. A flow holds until a snapshot if its error is at
most the limit (0.1) above that, there and at all snapshots before.

  python -m analysis theory_path --run runs/memory_reasoning_flow
"""

from typing import Annotated

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.drawing.bands import draw_band
from analysis.members.point import Point
from analysis.members.selection import report_progress
from analysis.p2 import networks
from analysis.p2.networks import COLOURS, SINGLE_KINDS, list_panels
from analysis.theory import trajectories
from analysis.theory.member_paths import (
    FLOWS,
    expect_sampling,
    predict_paths,
    read_path,
)
from anchorjax.limits import above
from anchorjax.storage.reader import Run

TITLE = 'Paths of gradient flow'
PAPER = 'beyond P2'
CAPTION = (
    'Until when does gradient flow predict the embedding? Error of three flows over '
    'training, and the paths of some tokens.'
)
ROWS = ('all', *SINGLE_KINDS)  # whose embeddings the error is of
FLOW_COLOURS = dict(zip(FLOWS, ('#D55E00', '#0072B2', '#009E73'), strict=True))


@networks.single_thread
def compute(
    run: Run,
    limit: Annotated[float, above(0), 'error up to which a flow holds'] = 0.1,
    largest_step: Annotated[float, above(0), 'of the integration, in time'] = 0.5,
) -> xr.Dataset:
    """Measured and predicted embeddings of every network at the snapshots.

      error        [member, flow, rows, step] along ROWS; inf where the flow is infinite
      sampling     [member, rows, step] error that batches alone would give
      holds_until  [member, flow, rows] step; 0: not even the first snapshot
      measured     [member, step, token, axis] of some tokens, their `kind_of` [token],
                   in a plane of the measured movement
      predicted    [member, flow, step, token, axis] in the same plane

    Raises:
      UserError: another task or model, or training that is no gradient descent.
    """
    points = networks.list_points(run)
    step_S = networks.find_snapshots(run, points)
    found = []
    for point in report_progress(points, 'theory_path'):
        found.append(_follow(run, point, step_S, largest_step))
    result = networks.gather(run, points, found)
    is_near = result.error <= limit + result.sampling
    result = result.assign(holds_until=find_last_step(is_near))
    return result.assign_attrs(limit=limit)


def _follow(
    run: Run, point: Point, step_S: np.ndarray, largest_step: float
) -> xr.Dataset:
    """What `compute` needs of one network."""
    tokens_of = networks.list_tokens(run.experiment.task)
    rows_of = {kind: tokens_of[kind] for kind in SINGLE_KINDS}
    rows_of = {'all': np.concatenate(list(rows_of.values()))} | rows_of
    tokens, kinds = choose_tokens(tokens_of)
    start, measured_SVD = read_path(run, step_S, point)
    plane_2D = find_plane(measured_SVD[:, tokens] - start[tokens])
    error = np.full((len(FLOWS), len(ROWS), len(step_S)), np.inf)
    predicted = []
    for f, path in enumerate(predict_paths(run, step_S, point, largest_step)):
        path_SVD = np.array([weights.W_embed for weights in path])
        for r, s in np.ndindex(error.shape[1:]):
            if np.isfinite(path_SVD[s]).all():
                error[f, r, s] = trajectories.displacement_error(
                    path_SVD[s], measured_SVD[s], start, rows_of[ROWS[r]]
                )
        with np.errstate(invalid='ignore', over='ignore'):
            predicted.append((path_SVD[:, tokens] - start[tokens]) @ plane_2D.T)
    measured = (measured_SVD[:, tokens] - start[tokens]) @ plane_2D.T
    sampling = expect_sampling(run, step_S, point, rows_of)
    return xr.Dataset(
        {
            'error': (('flow', 'rows', 'step'), error),
            'sampling': (('rows', 'step'), sampling),
            'measured': (('step', 'token', 'axis'), measured),
            'predicted': (('flow', 'step', 'token', 'axis'), np.array(predicted)),
        },
        {
            'flow': list(FLOWS),
            'rows': list(ROWS),
            'step': step_S,
            'token': tokens,
            'kind_of': ('token', kinds),
        },
    )


def find_last_step(holds: xr.DataArray) -> xr.DataArray:
    """The last step before the first at which something [..., step] fails; 0: none."""
    has_failed = (~holds).cumsum('step') > 0
    return holds.step.where(~has_failed, 0).max('step')


def find_plane(moved_SAD: np.ndarray) -> np.ndarray:
    """Two orthonormal directions [2, D] that hold most of some movements."""
    rows = moved_SAD.reshape(-1, moved_SAD.shape[-1])
    _, _, directions = np.linalg.svd(rows, full_matrices=False)
    return directions[:2]


def choose_tokens(
    tokens_of: dict[str, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """The first, middle and last token of every kind, and their kinds."""
    tokens = []
    for kind in SINGLE_KINDS:
        of_kind = tokens_of[kind]
        tokens.append(of_kind[[0, len(of_kind) // 2, -1]])
    return np.concatenate(tokens), np.repeat(SINGLE_KINDS, 3)


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [2, panel]: the error by step, and the paths of the first seed.

    Below: dots are measured, lines are predicted by the last of the flows that holds
    longest; colours are kinds of tokens.
    """
    for column, (title, panel) in enumerate(list_panels(result).items()):
        errors, paths = axes[:, column]
        until = panel.holds_until.sel(rows='all').median('member').to_series()
        words = []
        for flow, step in until.items():
            words.append(f'{flow} {step:,.0f}')
        _draw_errors(errors, panel.sel(rows='all'))
        listed = ', '.join(words)
        errors.set_title(f'{title}; holds until\n{listed}', fontsize=6)
        best = until.index[until == until.max()][-1]
        _draw_paths(paths, panel.isel(member=0).sel(flow=best))
    axes[0, 0].set_ylabel('error of the embedding')
    axes[0, 0].legend(fontsize=5)


def _draw_errors(axis: Axes, panel: xr.Dataset) -> None:
    for flow, colour in FLOW_COLOURS.items():
        error_MS = panel.error.sel(flow=flow).clip(1e-4, 1e2).values
        draw_band(axis, panel.step, error_MS, colour, flow)
    allowed_S = panel.limit + panel.sampling.mean('member')
    axis.plot(panel.step, allowed_S, color='#BBBBBB', lw=0.8, label='allowed')
    axis.axhline(1, color='#BBBBBB', lw=0.8, ls=':')
    axis.set(xscale='log', yscale='log', xlabel='step')


def _draw_paths(axis: Axes, network: xr.Dataset) -> None:
    """One network, and the path of one flow."""
    largest = 1.5 * float(np.abs(network.measured).max())
    for token in network.token.values:
        of_token = network.sel(token=token)
        colour = COLOURS[str(of_token.kind_of.item())]
        x, y = of_token.measured.values.T
        axis.plot(x, y, '.', ms=3, color=colour)
        axis.annotate(str(token), (x[-1], y[-1]), fontsize=5, color=colour)
        path = of_token.predicted.values
        is_inside = (np.abs(path) < largest).all(-1)
        axis.plot(*path[is_inside].T, '-', lw=0.8, color=colour)
    axis.set(xticks=[], yticks=[])
    axis.set_title(f'measured (dots), {network.flow.item()} (lines)', fontsize=6)


def layout(result: xr.Dataset) -> style.Layout:
    columns = len(list_panels(result))
    return style.Layout(2, columns, 0.5 + 2.3 * columns, 4.6)
