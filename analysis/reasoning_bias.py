"""Is PrOntoQA learned before stories, the more so from small weights? (P2 Figs 1, 7)

Three rows, a column for each γ:

  loss       of the sequences of both sources. A dotted line is the label entropy of a
             source: the loss of a network that only knows how frequent each token is
  Delta L    (L_stories - L_prontoqa) / L_prontoqa (PAPERS 2.3). The dotted line is that
             of the two entropies: so much of it needs no more than counting tokens
  cosine     mean of all pairs of different tokens of a source, from the embeddings

The moment of a source is the step at which its loss falls below a share of its own
label entropy, 0.9 by default: from there on it has learned more than frequencies.

  python analysis/reasoning_bias.py --run runs/reasoning_bias_laptop
  python analysis/reasoning_bias.py --run runs/reasoning_bias_laptop --early=19
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.bias.snapshots import find_common_steps
from analysis.changes.moments import find_crossings
from analysis.drawing import command, style
from analysis.drawing.bands import draw_band, scale_steps
from analysis.members.member import member_of
from analysis.members.point import Point
from analysis.members.table import (
    Panel,
    Table,
    list_panels,
    list_points,
    tabulate_members,
)
from analysis.members.untrained import make_untrained
from anchorjax.errors import require
from anchorjax.storage.reader import Run
from anchorjax.tasks.mixture import SOURCES, describe_sources, read_mixture

TASK = 'mixture'
SHARE = 0.9  # of a source's label entropy
PRONTOQA, STORIES = range(2)  # along P
COLOURS = ('#0072B2', '#E69F00')


class Result(NamedTuple):
    """Axes: member M, record S, snapshot C (step 0 first), source P (SOURCES)."""

    members: Table
    step_S: np.ndarray
    loss_MSP: np.ndarray  # nats a token, on trained sequences
    heldout_MSP: np.ndarray  # the same on held-out ones
    delta_MS: np.ndarray  # Delta L
    labels_P: np.ndarray  # different labels of each source
    entropy_P: np.ndarray  # their entropy, nats
    delta_of_counting: float  # Delta L of the entropies
    moment_MP: np.ndarray  # step; NaN: the loss never falls so low
    step_C: np.ndarray
    cosine_MCP: np.ndarray  # mean cosine of two tokens of a source
    early: int  # step


def compute(run: Run, share: float = SHARE, early: int | None = None) -> Result:
    """Losses, Delta L, moments and cosines of all trained members.

    Args:
      share: of a source's label entropy, at which its moment is.
      early: the snapshot that counts as early; by default the last one before the
        moment of PrOntoQA at the largest gamma, median of the seeds.

    Raises:
      UserError: another task, no trained member, or no such snapshot.
    """
    require(0 < share < 1, 'share', share, 'between 0 and 1')
    points = list_points(run, TASK)
    config = run.experiment.task
    described = describe_sources(config)
    entropy_P = np.array([described[source][1] for source in SOURCES])
    step_S = run.curves.step.values
    losses, heldout, moments = [], [], []
    for point in points:
        curves = run.curves.probe_loss.sel(run.labels(**point))
        loss_SP = curves.sel(probe=list(SOURCES)).transpose('step', 'probe').values
        names = [f'{source}_heldout' for source in SOURCES]
        losses.append(loss_SP)
        heldout.append(curves.sel(probe=names).transpose('step', 'probe').values)
        moments.append(find_crossings(step_S, loss_SP / entropy_P, share))
    loss_MSP = np.array(losses)
    steps = find_common_steps(run, points)
    step_C = np.union1d([0], steps)
    members = tabulate_members(run, points)
    moment_MP = np.array(moments)
    return Result(
        members=members,
        step_S=step_S,
        loss_MSP=loss_MSP,
        heldout_MSP=np.array(heldout),
        delta_MS=compare_losses(loss_MSP),
        labels_P=np.array([described[source][0] for source in SOURCES]),
        entropy_P=entropy_P,
        delta_of_counting=float(compare_losses(entropy_P)),
        moment_MP=moment_MP,
        step_C=step_C,
        cosine_MCP=_measure_cosines(run, points, step_C),
        early=_choose_early(members, moment_MP, steps, early),
    )


def compare_losses(loss_P: np.ndarray) -> np.ndarray:
    """Delta L of losses [..., P], [...]."""
    return (loss_P[..., STORIES] - loss_P[..., PRONTOQA]) / loss_P[..., PRONTOQA]


def average_cosine(rows: np.ndarray) -> float:
    """The mean cosine of all pairs of different rows."""
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    number = len(unit)
    total = float((unit.sum(0) ** 2).sum())  # of all pairs, each row with itself too
    return (total - number) / (number * (number - 1))


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [3, panel]."""
    for column, panel in enumerate(list_panels(result.members)):
        loss_axis, delta_axis, cosine_axis = axes[:, column]
        _draw_losses(loss_axis, result, panel)
        loss_axis.set_title(panel.title)
        delta_MS = result.delta_MS[panel.is_here_M]
        draw_band(delta_axis, result.step_S, delta_MS, '#000000', None)
        delta_axis.axhline(result.delta_of_counting, color='#999999', ls=':', lw=0.8)
        delta_axis.set_xlabel('step')
        _draw_cosines(cosine_axis, result, panel)
        cosine_axis.set_xlabel('step')
    axes[0, 0].set_ylabel('loss (nats)')
    axes[1, 0].set_ylabel('Delta L')
    axes[2, 0].set_ylabel('mean cosine')
    axes[0, 0].legend()
    for row in axes:
        low = min(axis.get_ylim()[0] for axis in row)
        high = max(axis.get_ylim()[1] for axis in row)
        for axis in row:
            axis.set_ylim(low, high)


def layout(result: Result) -> style.Layout:
    columns = len(list_panels(result.members))
    return style.Layout(3, columns, width=0.6 + 2.1 * columns, height=5.4)


def _measure_cosines(run: Run, points: list[Point], step_C: np.ndarray) -> np.ndarray:
    """Mean cosines [M, C, P]; step 0 is before training."""
    config = run.experiment.task
    mixture = read_mixture(config)
    tokens = []
    for source in SOURCES:
        counts = mixture.sequences[source].count_labels(config.vocab)
        tokens.append(np.flatnonzero(counts))
    cosines = []
    for point in points:
        start = make_untrained(member_of(run, int(step_C[-1]), **point))
        for step in step_C:
            W_embed = start.matrix('W_embed')
            if step > 0:
                W_embed = run.parameter('W_embed', int(step), **point)
            cosines.append([average_cosine(W_embed[of_source]) for of_source in tokens])
    return np.reshape(cosines, (len(points), len(step_C), len(SOURCES)))


def _choose_early(
    members: Table, moment_MP: np.ndarray, steps: np.ndarray, given: int | None
) -> int:
    positive = steps[steps > 0]
    if given is not None:
        require(given in positive, 'early', given, f'one of {positive.tolist()}')
        return given
    is_small_start_M = members['gamma'] == members['gamma'].max()
    moment_M = np.nan_to_num(moment_MP[is_small_start_M, PRONTOQA], nan=np.inf)
    before = positive[positive < np.median(moment_M)]
    return int(before[-1] if len(before) else positive[0])


def _draw_losses(axis: Axes, result: Result, panel: Panel) -> None:
    for p, source in enumerate(SOURCES):
        loss_MS = result.loss_MSP[panel.is_here_M, :, p]
        draw_band(axis, result.step_S, loss_MS, COLOURS[p], source)
        axis.axhline(result.entropy_P[p], color=COLOURS[p], ls=':', lw=0.8)


def _draw_cosines(axis: Axes, result: Result, panel: Panel) -> None:
    for p, source in enumerate(SOURCES):
        cosine_MC = result.cosine_MCP[panel.is_here_M, :, p]
        draw_band(axis, result.step_C, cosine_MC, COLOURS[p], source)
    axis.axvline(result.early, color='#999999', ls=':', lw=0.8)
    scale_steps(axis)


if __name__ == '__main__':
    command.run_sweep_figure(
        __doc__,
        'reasoning_bias',
        compute,
        draw,
        layout,
        share=command.Flag(float, SHARE, 'of the label entropy, for the moments'),
        early=command.Flag(command.parse_count, None, 'the early snapshot'),
    )
