"""What one member learns when: losses, agreements, and when each solution appears.

python -m analysis curves --run runs/phase --gamma=2.04 --depth=3 --seed=0
"""

import itertools
import operator
from typing import Annotated, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from analysis.changes.crossings import find_first
from analysis.drawing import style
from analysis.members.measures import count_epoch
from analysis.members.point import name_point
from anchorjax.errors import UserError
from anchorjax.limits import at_least, at_most
from anchorjax.storage.reader import Run

TITLE = 'Training curves'
PAPER = 'any task'
CAPTION = (
    'The curves show when the network learns which answers, from the first step to '
    'the last.'
)


def compute(
    run: Run,
    threshold: Annotated[
        float, at_least(0), at_most(1), 'agreement at which a solution is reached'
    ] = 0.9,
    tolerance: Annotated[
        float, at_least(0), at_most(1), 'how far it may fall and still be there'
    ] = 0.05,
    **network: Any,
) -> xr.Dataset:
    """What a member answers along the recorded steps, and when it learned that.

    Reads the curves alone: works without snapshots, and while the sweep runs.

    Returns:
      train_loss [step], eval_set_loss [step, eval set],
      agreement [step, eval set, mapping];
      first [eval set, mapping], the first record with agreement >= threshold, and
      for_good, the first such step after which it never falls below threshold -
      tolerance again; NaN where there is none. What a moment marks happened at its step
      or shortly before.

    Raises:
      UserError: no such member, or it is not trained yet.
    """
    experiment = run.experiment_of(**network)
    complete = run.complete_point(network)
    curves = run.curves.sel(run.labels(**complete), drop=True)
    if not curves.trained:
        where = name_point(run, complete)
        raise UserError(f'the member at {where} is not trained yet')
    result = curves[['train_loss', 'eval_set_loss', 'agreement']]
    result = result.transpose('step', 'eval_set', 'mapping')
    steps = result.step.values
    moments = find_events(steps, result.agreement.values, threshold, tolerance)
    for name, values in moments.items():
        result[name] = (('eval_set', 'mapping'), values)
    return result.assign_attrs(
        threshold=threshold,
        tolerance=tolerance,
        steps_per_epoch=count_epoch(experiment),
        diverged=int(curves.diverged),  # step, or -1
    )


def find_events(
    step_S: np.ndarray, agreement_SX: np.ndarray, threshold: float, tolerance: float
) -> dict[str, np.ndarray]:
    """The moments of a curve along the first axis, for each entry of the others.

    first     the first step with agreement >= threshold; NaN: none
    for_good  the first of these after which agreement stays >= threshold - tolerance
    """
    is_reached = agreement_SX >= threshold
    holds = agreement_SX >= threshold - tolerance  # False where NaN
    holds_to_the_end = np.logical_and.accumulate(holds[::-1])[::-1]
    return {
        'first': find_first(step_S, is_reached),
        'for_good': find_first(step_S, is_reached & holds_to_the_end),
    }


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [2, columns]: the losses, then the agreements on each eval set.

    A hollow circle is where a solution is first reached, a full one where it stays.
    """
    losses, *panels = axes.flat
    _draw_losses(losses, result)
    for axis, eval_set in zip(panels, result.eval_set.values, strict=False):
        _draw_agreement(axis, result.sel(eval_set=eval_set))
    for axis in panels[result.sizes['eval_set'] :]:
        axis.set_axis_off()
    end = int(result.step[-1])
    label = f'step ({end:,} steps are {end / result.steps_per_epoch:.3g} epochs)'
    if result.diverged >= 0:
        label = f'diverged at step {result.diverged:,}'
    for axis in axes[-1]:
        axis.set_xlabel(label)
    losses.figure.suptitle(describe_order(result))


def layout(result: xr.Dataset) -> style.Layout:
    columns = (result.sizes['eval_set'] + 2) // 2
    return style.Layout(2, columns, 7.0, 4.1)


def describe_order(result: xr.Dataset) -> str:
    """The order of events in words: 'first reached: seen train 2,750; ...'."""
    eval_sets, mappings = result.eval_set.values, result.mapping.values
    events = order_events(result['first'].values, eval_sets, mappings)
    parts = []
    for name, step in events.items():
        words = name.removesuffix(' assigned').replace('_', ' ')
        parts.append(f'{words} {step:,.0f}')
    order = '; '.join(parts) or 'nothing'
    intro = f'agreement {result.threshold:g} first reached (○; for good ●) at step'
    return f'{intro}: {order}'


def order_events(
    first_PR: np.ndarray, eval_sets: tuple[str, ...], mappings: tuple[str, ...]
) -> dict[str, float]:
    """{'eval set mapping': first step} of what was reached, earliest first.

    Seen pairs are judged by the mapping they are trained on, other eval sets by the
    other mappings. Ties are in the order of the eval sets.
    """
    reached = []
    for p, eval_set in enumerate(eval_sets):
        for r, mapping in enumerate(mappings):
            step = first_PR[p, r]
            is_trained = mapping == 'assigned'
            is_seen = eval_set.startswith('seen')
            is_judge = is_trained == is_seen or len(mappings) == 1
            if is_judge and np.isfinite(step):
                name = f'{eval_set} {mapping}'
                reached.append((name, step))
    reached.sort(key=operator.itemgetter(1))
    return dict(reached)


_COLOURS = style.COLOURS | {'assigned': '#BBBBBB'}
# A curve is often equal to another, which must remain visible on top of it.
_WIDTHS = {'assigned': 3.5, 'composed': 2.2}
_EVAL_SET_COLOURS = ('#009E73', '#D55E00', '#CC79A7', '#56B4E9')


def _draw_losses(axis: Axes, result: xr.Dataset) -> None:
    label = 'training (mean)'
    axis.plot(result.step, result.train_loss, color='black', label=label)
    colours = itertools.cycle(_EVAL_SET_COLOURS)
    for eval_set, colour in zip(result.eval_set.values, colours, strict=False):
        loss = result.eval_set_loss.sel(eval_set=eval_set)
        axis.plot(result.step, loss, color=colour, label=eval_set.replace('_', ' '))
    axis.set(yscale='log', ylabel='loss (nats)')
    axis.set_title('cross-entropy with the assigned answer')
    axis.legend(frameon=True, framealpha=0.8, edgecolor='none')


def _draw_agreement(axis: Axes, of_eval_set: xr.Dataset) -> None:
    """Agreement on one eval set with every mapping, and its moments."""
    for mapping in of_eval_set.mapping.values:
        curve = of_eval_set.sel(mapping=mapping)
        colour = _COLOURS.get(mapping, style.COLOURS['neither'])
        look = {'color': colour, 'zorder': 1 if mapping == 'assigned' else 2}
        width = _WIDTHS.get(mapping, 1.0)
        axis.plot(curve.step, curve.agreement, lw=width, label=mapping, **look)
        for name, face in (('first', 'white'), ('for_good', colour)):
            moment = curve.isel(step=(curve.step == curve[name]).values)
            axis.plot(moment.step, moment.agreement, 'o', ms=4, mfc=face, **look)
    axis.axhline(of_eval_set.threshold, color='#BBBBBB', lw=0.6, zorder=0)
    axis.set(ylim=(-0.03, 1.06), ylabel='agreement')
    axis.set_title(of_eval_set.eval_set.item().replace('_', ' '))
    axis.legend(loc='center right')
