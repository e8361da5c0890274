"""What a sweep of any task measures, and which of its members count.

A loss decides whether a network has learned its training data: that on the answers of
training examples. It is the train loss, unless training counts the prompts too
(`task.loss_on`), which cannot be predicted. Then it is the loss on the probe
seen_train. A task without prompts has the train loss.
"""

from typing import NamedTuple

import xarray as xr

from analysis.members.selection import find_converged, find_usable
from anchorjax.experiment import Experiment
from anchorjax.storage.reader import Run

AGREEMENT = 'agreement'  # share of sequences answered as a mapping does
TOKENS = 'token_agreement'  # share of right tokens
LOSS = 'probe_loss'  # nats a scored token


class Measure(NamedTuple):
    """A number of every member: what is recorded about one probe."""

    source: str  # AGREEMENT, TOKENS or LOSS: a variable of the results
    probe: str
    mapping: str  # '' for a loss

    @property
    def name(self) -> str:
        """'test assigned', 'test assigned tokens', 'stories loss'."""
        words = [self.probe, self.mapping]
        if self.source == TOKENS:
            words.append('tokens')
        if self.source == LOSS:
            words.append('loss')
        return ' '.join(filter(None, words))


class Counted(NamedTuple):
    """Which members have converged, and which of them the numbers are of."""

    is_trained: xr.DataArray  # bool [axes]
    is_usable: xr.DataArray  # trained and not diverged
    is_converged: xr.DataArray
    is_counted: xr.DataArray  # the converged ones, or without any all but diverged ones
    loss: xr.DataArray  # that decides, nats
    loss_name: str  # 'train loss'
    criterion: str  # 'train loss at most 0.02'

    @property
    def has_converged(self) -> bool:
        """Whether the counted members are those that have converged."""
        return bool(self.is_converged.any())


def list_measures(run: Run) -> list[Measure]:
    """Every mapping on every probe; then the tokens of answers that are texts.

    Of a task that is text alone: the tokens and the loss of every probe. The probes are
    those of the results: a task may have more of them in some cohorts than in others.
    """
    task = run.experiment.task.make()
    answers = []
    tokens = []
    losses = []
    for probe in run.results.probe.values.tolist():
        for mapping in run.results.mapping.values.tolist():
            answers.append(Measure(AGREEMENT, probe, mapping))
        tokens.append(Measure(TOKENS, probe, task.trained_mapping))
        losses.append(Measure(LOSS, probe, ''))
    if task.is_text_alone:
        return tokens + losses
    return answers if task.last_only else answers + tokens


def read_measure(data: xr.Dataset, measure: Measure) -> xr.DataArray:
    """Its values along the axes of the sweep, and along the steps of curves."""
    values = data[measure.source].sel(probe=measure.probe, drop=True)
    if measure.mapping:
        values = values.sel(mapping=measure.mapping, drop=True)
    return values


def count_members(run: Run) -> Counted:
    """The members that count."""
    loss = read_deciding_loss(run.results, run.experiment)
    is_usable = find_usable(run)
    is_converged = find_converged(run)
    if trains_prompts(run.experiment):
        is_converged = is_usable & (loss <= run.experiment.train.converged_loss)
    return Counted(
        is_trained=run.results.trained,
        is_usable=is_usable,
        is_converged=is_converged,
        is_counted=is_converged if is_converged.any() else is_usable,
        loss=loss,
        loss_name=name_deciding_loss(run.experiment),
        criterion=describe_criterion(run.experiment),
    )


def read_deciding_loss(data: xr.Dataset, experiment: Experiment) -> xr.DataArray:
    """That loss of members, along the axes of their results or curves; nats."""
    if trains_prompts(experiment):
        return data.probe_loss.sel(probe='seen_train', drop=True)
    return data.train_loss


def name_deciding_loss(experiment: Experiment) -> str:
    """'train loss', or what else decides."""
    if trains_prompts(experiment):
        return 'loss on the answers of training examples'
    return 'train loss'


def describe_criterion(experiment: Experiment) -> str:
    """'train loss at most 0.02'."""
    loss = name_deciding_loss(experiment)
    return f'{loss} at most {experiment.train.converged_loss:g}'


def trains_prompts(experiment: Experiment) -> bool:
    """Whether training counts prompts, which cannot be predicted, with answers."""
    task = experiment.task
    if not hasattr(task, 'loss_on') or getattr(task, 'encoding', '') == 'numbers':
        return False
    return task.loss_on != 'answer'
