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

  python analysis/theory_path.py --run runs/memory_reasoning_flow
"""

from typing import NamedTuple

import numpy as np
import threadpoolctl
from matplotlib.axes import Axes

from analysis.bias.snapshots import find_common_steps
from analysis.bias.tokens import COLOURS, SINGLE_KINDS, TASK, list_tokens
from analysis.drawing import command, style
from analysis.drawing.bands import draw_band
from analysis.members.selection import report_progress
from analysis.members.table import (
    Panel,
    Table,
    list_panels,
    list_points,
    tabulate_members,
)
from analysis.theory import trajectories
from analysis.theory.member_paths import (
    FLOWS,
    expect_sampling,
    predict_paths,
    read_path,
)
from anchorjax.errors import require
from anchorjax.storage.reader import Run

ROWS = ('all', *SINGLE_KINDS)  # whose embeddings the error is of
LIMIT = 0.1
_FLOW_COLOURS = ('#D55E00', '#0072B2', '#009E73')


class Result(NamedTuple):
    """Axes: member M, flow (FLOWS), snapshot S after the start, rows (ROWS)."""

    members: Table
    flows: tuple[str, ...]
    limit: float
    step_S: np.ndarray
    loss_MS: np.ndarray  # mean loss of all probes that are trained, nats
    error: np.ndarray  # [M, flow, rows, S]; inf where the flow is infinite
    sampling: np.ndarray  # [M, rows, S] error that batches alone would give
    holds_until: np.ndarray  # [M, flow, rows] step; 0: not even the first snapshot
    tokens: np.ndarray  # [token] that are drawn
    kind: np.ndarray  # [token] index into SINGLE_KINDS
    measured: np.ndarray  # [M, S, token, 2] in a plane of the measured movement
    predicted: np.ndarray  # [M, flow, S, token, 2] in the same plane


# One thread gives the same bits on every machine, and is faster for small matrices.
@threadpoolctl.threadpool_limits.wrap(limits=1)
def compute(run: Run, limit: float = LIMIT, largest_step: float = 0.5) -> Result:
    """Measured and predicted embeddings of every trained member.

    Args:
      limit: the error up to which a flow holds, beside that of the batches.
      largest_step: of the integration, in the time of gradient flow.

    Raises:
      UserError: another task or model, or training that is no gradient descent.
    """
    require(limit > 0, 'limit', limit, 'above 0')
    points = list_points(run, TASK)
    steps = find_common_steps(run, points)
    step_S = steps[steps > 0]
    tokens_of = list_tokens(run.experiment.task)
    rows_of = {kind: tokens_of[kind] for kind in SINGLE_KINDS}
    rows_of = {'all': np.concatenate(list(rows_of.values()))} | rows_of
    tokens, kind = _choose_tokens(tokens_of)
    errors, samplings, measured, predicted = [], [], [], []
    for point in report_progress(points, 'theory_path'):
        paths = predict_paths(run, step_S, point, largest_step)
        start, measured_SVD = read_path(run, step_S, point)
        error = np.full((len(FLOWS), len(ROWS), len(step_S)), np.inf)
        for f, r, s in np.ndindex(error.shape):
            path_VD = paths[f][s].W_embed
            if np.isfinite(path_VD).all():
                rows = rows_of[ROWS[r]]
                error[f, r, s] = trajectories.displacement_error(
                    path_VD, measured_SVD[s], start, rows
                )
        errors.append(error)
        samplings.append(expect_sampling(run, step_S, point, rows_of))
        plane_2D = find_plane(measured_SVD[:, tokens] - start[tokens])
        measured.append((measured_SVD[:, tokens] - start[tokens]) @ plane_2D.T)
        of_flows = []
        for path in paths:
            path_SVD = np.array([weights.W_embed for weights in path])
            moved = path_SVD[:, tokens] - start[tokens]
            with np.errstate(invalid='ignore', over='ignore'):
                of_flows.append(moved @ plane_2D.T)
        predicted.append(of_flows)
    error = np.array(errors)
    sampling = np.array(samplings)
    allowed = limit + sampling[:, None]
    return Result(
        members=tabulate_members(run, points),
        flows=tuple(FLOWS),
        limit=limit,
        step_S=step_S,
        loss_MS=_read_losses(run, step_S, points),
        error=error,
        sampling=sampling,
        holds_until=find_last_step(step_S, error <= allowed),
        tokens=tokens,
        kind=kind,
        measured=np.array(measured),
        predicted=np.array(predicted),
    )


def find_last_step(step_S: np.ndarray, holds: np.ndarray) -> np.ndarray:
    """The last step before the first at which something [..., S] fails; 0: none."""
    count = np.logical_and.accumulate(holds, axis=-1).sum(-1)
    return np.concatenate([[0], step_S])[count]


def find_plane(moved_SAD: np.ndarray) -> np.ndarray:
    """Two orthonormal directions [2, D] that hold most of some movements."""
    rows = moved_SAD.reshape(-1, moved_SAD.shape[-1])
    _, _, directions = np.linalg.svd(rows, full_matrices=False)
    return directions[:2]


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2, panel]: the error by step, and the paths of the first seed.

    Below: dots are measured, lines are predicted by the last of the flows that holds
    longest; colours are kinds of tokens.
    """
    for column, panel in enumerate(list_panels(result.members)):
        _draw_errors(axes[0, column], result, panel)
        _draw_paths(axes[1, column], result, panel)
    axes[0, 0].set_ylabel('error of the embedding')
    axes[0, 0].legend(fontsize=5)


def _choose_tokens(
    tokens_of: dict[str, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """(the first, middle and last token of every kind, index into SINGLE_KINDS)."""
    tokens, kinds = [], []
    for k, kind in enumerate(SINGLE_KINDS):
        of_kind = tokens_of[kind]
        chosen = of_kind[[0, len(of_kind) // 2, -1]]
        tokens.append(chosen)
        kinds.append(np.full(len(chosen), k))
    return np.concatenate(tokens), np.concatenate(kinds)


def _read_losses(run: Run, step_S: np.ndarray, points: list[dict]) -> np.ndarray:
    """Mean loss of the trained probes at the snapshots, [M, S]."""
    curves = run.curves.sel(step=step_S, probe=['memory', 'reasoning_train'])
    rows = []
    for point in points:
        rows.append(curves.probe_loss.sel(run.labels(**point)).mean('probe').values)
    return np.array(rows)


def _draw_errors(axis: Axes, result: Result, panel: Panel) -> None:
    words = []
    for f, flow in enumerate(result.flows):
        error_MS = np.clip(result.error[panel.is_here_M, f, 0], 1e-4, 1e2)
        draw_band(axis, result.step_S, error_MS, _FLOW_COLOURS[f], flow)
        until = np.median(result.holds_until[panel.is_here_M, f, 0])
        words.append(f'{flow} {until:,.0f}')
    allowed_S = result.limit + result.sampling[panel.is_here_M, 0].mean(0)
    axis.plot(result.step_S, allowed_S, color='#BBBBBB', lw=0.8, label='allowed')
    axis.axhline(1, color='#BBBBBB', lw=0.8, ls=':')
    axis.set(xscale='log', yscale='log', xlabel='step')
    axis.set_title(f'{panel.title}; holds until\n{", ".join(words)}', fontsize=6)


def _draw_paths(axis: Axes, result: Result, panel: Panel) -> None:
    first = int(panel.is_here_M.argmax())
    until = np.median(result.holds_until[panel.is_here_M, :, 0], axis=0)
    best = len(until) - 1 - int(until[::-1].argmax())
    for i, token in enumerate(result.tokens):
        colour = COLOURS[SINGLE_KINDS[result.kind[i]]]
        x, y = result.measured[first, :, i].T
        axis.plot(x, y, '.', ms=3, color=colour)
        axis.annotate(str(token), (x[-1], y[-1]), fontsize=5, color=colour)
        path = result.predicted[first, best, :, i]
        largest = 1.5 * np.abs(result.measured[first]).max()
        is_inside = (np.abs(path) < largest).all(-1)
        axis.plot(*path[is_inside].T, '-', lw=0.8, color=colour)
    axis.set(xticks=[], yticks=[])
    axis.set_title(f'measured (dots), {result.flows[best]} (lines)', fontsize=6)


def layout(result: Result) -> style.Layout:
    columns = len(list_panels(result.members))
    return style.Layout(2, columns, 0.5 + 2.3 * columns, 4.6)


if __name__ == '__main__':
    command.run_sweep_figure(
        __doc__,
        'theory_path',
        compute,
        draw,
        layout,
        limit=command.Flag(float, LIMIT, 'error up to which a flow holds'),
        largest_step=command.Flag(float, 0.5, 'of the integration, in time'),
    )
