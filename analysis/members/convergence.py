"""The loss that decides whether a network has learned its training data.

It is the loss on the answers of training examples: the train loss, unless training
counts the prompts too (`task.loss_on`), which cannot be predicted. Then it is the loss
on the probe seen_train. A task without prompts has the train loss.
"""

import xarray as xr

from anchorjax.experiment import Experiment


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
