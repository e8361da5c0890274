"""What one member learns when: losses, agreements, and the moment each solution appears.

python analysis/curves.py --run runs/phase --depth=2 --gamma=1.5 --seed=0
"""

import textwrap
from typing import NamedTuple

import numpy as np

from analysis.changes.moments import events, moments
from analysis.drawing import command, style
from analysis.members.member import full_point, label, varying
from anchorjax import tasks
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

THRESHOLD, TOLERANCE = 0.9, 0.05


class Result(NamedTuple):
    """Curves along the recorded steps; a moment is one of them, and what it marks came before it.

    `first` is the first recorded step with agreement >= threshold; `for_good` the first such step
    after which agreement never falls below threshold - tolerance again; NaN where there is none.
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
    steps_per_epoch: (
        float  # an epoch is num_train examples: a moment over this is in epochs
    )
    order: tuple[
        str, ...
    ]  # 'probe mapping' of the solutions asked for, by their first moment
    diverged: int  # step, or -1


def compute(
    run: Run, threshold: float = THRESHOLD, tolerance: float = TOLERANCE, **point
) -> Result:
    """Reads the curves only: works where there is no snapshot, and while the sweep runs.

    Raises:
      UserError: no such member, or it is not trained yet.
    """
    experiment, chosen = run.at(**point), full_point(run, point)
    curves = run.curves.sel(chosen)
    if not curves.trained:
        raise UserError(
            f'the member at {label(varying(run, chosen))} is not trained yet'
        )
    agreement = curves.agreement.transpose('step', 'probe', 'mapping').values
    probes, mappings = (
        tuple(map(str, curves[dim].values)) for dim in ('probe', 'mapping')
    )
    first, for_good = moments(curves.step.values, agreement, threshold, tolerance)
    num_train = tasks.make(experiment.task).num_train
    return Result(
        step_S=curves.step.values,
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
        order=tuple(events(first, probes, mappings)),
        diverged=int(curves.diverged),
    )


def draw(result: Result, axes) -> None:
    """Fills axes [2, columns]: the losses, then the agreements on each probe.

    A hollow circle is where a solution is first reached, a full one where it stays.
    """
    losses, *panels = axes.flat
    _losses(losses, result)
    for p, axis in enumerate(panels):
        axis.set_axis_off() if p >= len(result.probe_names) else _agreements(
            axis, result, p
        )
    end = result.step_S[-1]
    epochs = f'step ({end:,} steps are {end / result.steps_per_epoch:.3g} epochs)'
    for axis in axes[-1]:
        axis.set_xlabel(
            epochs if result.diverged < 0 else f'diverged at step {result.diverged:,}'
        )
    losses.figure.suptitle(in_words(result), fontsize=7)


layout = lambda result: style.Layout(2, (len(result.probe_names) + 2) // 2, 7.0, 4.1)


def in_words(result: Result) -> str:
    """The order of events in words: 'first reached: seen train 2,750; ...'."""
    found = events(result.first_PR, result.probe_names, result.mapping_names)
    named = {
        name.removesuffix(' assigned').replace('_', ' '): step
        for name, step in found.items()
    }
    order = (
        '; '.join(f'{name} {step:,.0f}' for name, step in named.items()) or 'nothing'
    )
    text = (
        f'agreement {result.threshold:g} first reached (○; for good ●) at step: {order}'
    )
    return '\n'.join(textwrap.wrap(text, 120))


_COLOURS = style.COLOURS | {'assigned': '#BBBBBB'}
_WIDTHS = {
    'assigned': 3.5,
    'inferential': 2.2,
}  # often equal to another, which must be seen on top
_PROBE_COLOURS = ('#009E73', '#D55E00', '#CC79A7', '#56B4E9')


def _losses(axis, result: Result) -> None:
    axis.plot(result.step_S, result.train_loss_S, color='black', label='training')
    for p, name in enumerate(result.probe_names):
        colour = _PROBE_COLOURS[p % len(_PROBE_COLOURS)]
        axis.plot(
            result.step_S,
            result.loss_SP[:, p],
            color=colour,
            label=name.replace('_', ' '),
        )
    axis.set(
        yscale='log',
        ylabel='loss (nats)',
        title='cross-entropy with the assigned answer',
    )
    axis.legend(frameon=True, framealpha=0.8, edgecolor='none')


def _agreements(axis, result: Result, p: int) -> None:
    for r, mapping in enumerate(result.mapping_names):
        line, colour = (
            result.agreement_SPR[:, p, r],
            _COLOURS.get(mapping, style.COLOURS['other']),
        )
        look = {'color': colour, 'zorder': 1 if mapping == 'assigned' else 2}
        axis.plot(
            result.step_S, line, lw=_WIDTHS.get(mapping, 1.0), label=mapping, **look
        )
        for moments_PR, face in (
            (result.first_PR, 'white'),
            (result.for_good_PR, colour),
        ):
            at = result.step_S == moments_PR[p, r]
            axis.plot(result.step_S[at], line[at], 'o', ms=4, mfc=face, **look)
    axis.axhline(result.threshold, color='#BBBBBB', lw=0.6, zorder=0)
    axis.set(
        ylim=(-0.03, 1.06),
        ylabel='agreement',
        title=result.probe_names[p].replace('_', ' '),
    )
    axis.legend(loc='center right')


if __name__ == '__main__':
    command.at(
        __doc__,
        'curves',
        compute,
        draw,
        layout,
        threshold=command.Flag(
            float, THRESHOLD, 'agreement at which a solution is reached'
        ),
        tolerance=command.Flag(
            float, TOLERANCE, 'how far it may fall again and still be there'
        ),
    )
