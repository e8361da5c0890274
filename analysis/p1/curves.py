"""What one member learns when: losses, agreements, and when each solution appears.

python -m analysis curves --run runs/phase --gamma=1.7 --seed=0
"""

import textwrap
from typing import Annotated, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.changes.moments import find_moments, order_events
from analysis.drawing import style
from analysis.members.point import (
    complete_point,
    name_point,
)
from anchorjax.errors import UserError
from anchorjax.limits import at_least, at_most
from anchorjax.storage.reader import Run

TITLE = 'Training curves'
PAPER = 'any task'
CAPTION = (
    'The curves show when the network learns which answers, from the first step to '
    'the last.'
)


THRESHOLD = 0.9
TOLERANCE = 0.05


class Result(NamedTuple):
    """Curves along the recorded steps.

    A moment is a recorded step, so what it marks happened at it or shortly before.
    `first` is the first recorded step with agreement >= threshold; `for_good` the first
    such step after which agreement never falls below threshold - tolerance again; NaN
    where there is none.
    """

    step_S: np.ndarray
    train_loss_S: np.ndarray
    loss_SP: np.ndarray
    agreement_SPR: np.ndarray
    probe_names: tuple[str, ...]
    mapping_names: tuple[str, ...]
    threshold: float
    tolerance: float
    first_PR: np.ndarray
    for_good_PR: np.ndarray
    # An epoch is num_train examples: a step divided by this is a number of epochs.
    steps_per_epoch: float
    order: tuple[str, ...]  # 'probe mapping' of the solutions, by their first moment
    diverged: int  # step, or -1


def compute(
    run: Run,
    threshold: Annotated[
        float, at_least(0), at_most(1), 'agreement at which a solution is reached'
    ] = THRESHOLD,
    tolerance: Annotated[
        float, at_least(0), at_most(1), 'how far it may fall and still be there'
    ] = TOLERANCE,
    **point,
) -> Result:
    """Reads the curves alone: works without snapshots, and while the sweep runs.

    Raises:
      UserError: no such member, or it is not trained yet.
    """
    experiment = run.experiment_of(**point)
    complete = complete_point(run, point)
    curves = run.curves.sel(run.labels(**complete))
    if not curves.trained:
        where = name_point(run, complete)
        raise UserError(f'the member at {where} is not trained yet')
    steps = curves.step.values
    agreement = curves.agreement.transpose('step', 'probe', 'mapping').values
    probes = tuple(map(str, curves.probe.values))
    mappings = tuple(map(str, curves.mapping.values))
    first, for_good = find_moments(steps, agreement, threshold, tolerance)
    num_train = experiment.task.make().num_train
    return Result(
        step_S=steps,
        train_loss_S=curves.train_loss.values,
        loss_SP=curves.probe_loss.transpose('step', 'probe').values,
        agreement_SPR=agreement,
        probe_names=probes,
        mapping_names=mappings,
        threshold=threshold,
        tolerance=tolerance,
        first_PR=first,
        for_good_PR=for_good,
        steps_per_epoch=num_train / experiment.train.batch_size,
        order=tuple(order_events(first, probes, mappings)),
        diverged=int(curves.diverged),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2, columns]: the losses, then the agreements on each probe.

    A hollow circle is where a solution is first reached, a full one where it stays.
    """
    losses, *panels = axes.flat
    _draw_losses(losses, result)
    for p, axis in enumerate(panels):
        if p < len(result.probe_names):
            _draw_agreement(axis, result, p)
        else:
            axis.set_axis_off()
    end = result.step_S[-1]
    label = f'step ({end:,} steps are {end / result.steps_per_epoch:.3g} epochs)'
    if result.diverged >= 0:
        label = f'diverged at step {result.diverged:,}'
    for axis in axes[-1]:
        axis.set_xlabel(label)
    losses.figure.suptitle(describe_order(result), fontsize=7)


def layout(result: Result) -> style.Layout:
    columns = (len(result.probe_names) + 2) // 2
    return style.Layout(2, columns, 7.0, 4.1)


def describe_order(result: Result) -> str:
    """The order of events in words: 'first reached: seen train 2,750; ...'."""
    events = order_events(result.first_PR, result.probe_names, result.mapping_names)
    parts = []
    for name, step in events.items():
        words = name.removesuffix(' assigned').replace('_', ' ')
        parts.append(f'{words} {step:,.0f}')
    order = '; '.join(parts) or 'nothing'
    intro = f'agreement {result.threshold:g} first reached (○; for good ●) at step'
    return '\n'.join(textwrap.wrap(f'{intro}: {order}', 120))


_COLOURS = style.COLOURS | {'assigned': '#BBBBBB'}
# A curve is often equal to another, which must remain visible on top of it.
_WIDTHS = {'assigned': 3.5, 'inferential': 2.2}
_PROBE_COLOURS = ('#009E73', '#D55E00', '#CC79A7', '#56B4E9')


def _draw_losses(axis: Axes, result: Result) -> None:
    axis.plot(result.step_S, result.train_loss_S, color='black', label='training')
    for p, name in enumerate(result.probe_names):
        values = result.loss_SP[:, p]
        colour = _PROBE_COLOURS[p % len(_PROBE_COLOURS)]
        label = name.replace('_', ' ')
        axis.plot(result.step_S, values, color=colour, label=label)
    axis.set(yscale='log', ylabel='loss (nats)')
    axis.set_title('cross-entropy with the assigned answer')
    axis.legend(frameon=True, framealpha=0.8, edgecolor='none')


def _draw_agreement(axis: Axes, result: Result, p: int) -> None:
    """Agreement on one probe with every mapping, and its moments."""
    steps = result.step_S
    for r, mapping in enumerate(result.mapping_names):
        values = result.agreement_SPR[:, p, r]
        colour = _COLOURS.get(mapping, style.COLOURS['other'])
        look = {'color': colour, 'zorder': 1 if mapping == 'assigned' else 2}
        width = _WIDTHS.get(mapping, 1.0)
        axis.plot(steps, values, lw=width, label=mapping, **look)
        moments = (
            (result.first_PR[p, r], 'white'),
            (result.for_good_PR[p, r], colour),
        )
        for moment, face in moments:
            chosen = steps == moment
            axis.plot(steps[chosen], values[chosen], 'o', ms=4, mfc=face, **look)
    axis.axhline(result.threshold, color='#BBBBBB', lw=0.6, zorder=0)
    axis.set(ylim=(-0.03, 1.06), ylabel='agreement')
    axis.set_title(result.probe_names[p].replace('_', ' '))
    axis.legend(loc='center right')
