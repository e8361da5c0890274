"""Replies of language models as the cube that our own members have.

A language model has no initialization rate that we know: along gamma, learning rate and
weight decay it has a single NaN. Its seeds are draws of the prompts.
"""

import json
from typing import NamedTuple

import numpy as np
import xarray as xr

from anchorjax import config, tasks
from anchorjax.config.grid import TRACED_AXES, axis_label, short_name
from anchorjax.errors import UserError, brief
from anchorjax.prompts.parsing import parse_reply
from anchorjax.prompts.prompt_files import Prompt, PromptSet
from anchorjax.storage.cube import Labels, join_labels
from anchorjax.training.curves import (
    DEVIATION_LIMIT,
    RECORD_DIMS,
    curve_coordinates,
)

# What the cube has besides the fields of a Record, [probe] each.
EXTRA = ('replies', 'neither', 'unparsable')


class Scored(NamedTuple):
    """A prompt with the number of its reply; None: there is none in it."""

    prompt: Prompt
    number: int | None


def score_replies(prompts: list[Prompt], replies: dict[str, str]) -> list[Scored]:
    """The prompts that have a reply, with its number.

    Raises:
      UserError: there is a reply to no prompt, or to none of them.
    """
    known = {prompt.id for prompt in prompts}
    for id in replies:
        if id not in known:
            raise UserError(f'a reply to {brief(id)}: there is no such prompt')
    scored = []
    for prompt in prompts:
        if prompt.id in replies:
            number = parse_reply(replies[prompt.id], prompt.asked)
            scored.append(Scored(prompt, number))
    if not scored:
        raise UserError('no replies')
    return scored


def make_cube(prompts: PromptSet, replies_of: dict[str, dict[str, str]]) -> xr.Dataset:
    """All models along the axis `model`, then as `Run.results`.

    The variables are those of `Run.results`, with NaN where a language model has no
    such number, and EXTRA: how many replies there are, and the shares of them that
    follow no mapping and that hold no number. A model is `trained` where every prompt
    has a reply, and counts as converged there.

    Args:
      replies_of: {model: {id: reply}}.

    Raises:
      UserError: as `score_replies`; the line names the model.
    """
    listed = prompts.list_prompts()
    labels = _find_labels(prompts)
    models = []
    for model, replies in replies_of.items():
        try:
            scored = score_replies(listed, replies)
        except UserError as e:
            raise UserError(f'{model}: {e}') from None
        models.append(_make_model(prompts, listed, scored, labels))
    names = list(replies_of)
    cube = xr.concat(models, 'model', join='exact')
    return cube.assign_coords(model=names)


def _make_model(
    prompts: PromptSet,
    listed: list[Prompt],
    scored: list[Scored],
    labels: Labels,
) -> xr.Dataset:
    """The cube of one model."""
    num_asked: dict[tuple[str, int], int] = {}
    for prompt in listed:
        cell = (prompt.cohort, prompt.seed)
        num_asked[cell] = num_asked.get(cell, 0) + 1
    in_cell: dict[tuple[str, int], list[Scored]] = {cell: [] for cell in num_asked}
    for one in scored:
        in_cell[one.prompt.cohort, one.prompt.seed].append(one)
    columns: dict[str, list[np.ndarray]] = {}
    for cell, of_cell in in_cell.items():
        numbers = _score_cell(of_cell, labels)
        is_whole = len(of_cell) == num_asked[cell]
        numbers['trained'] = numbers['converged'] = np.array(is_whole)
        for name, array in numbers.items():
            columns.setdefault(name, []).append(array)

    experiment = prompts.experiment
    coordinates = _list_axes(experiment)
    shape = [len(values) for values in coordinates.values()]
    variables = {}
    for name, arrays in columns.items():
        values = np.stack(arrays)
        dims = ('probe',) if name in EXTRA else RECORD_DIMS.get(name, ())
        cube = values.reshape(*shape, *values.shape[1:])
        variables[name] = ((*coordinates, *dims), cube)
    attributes = {
        'experiment': json.dumps(config.to_dict(experiment)),
        'source': 'anchorjax',
    }
    return xr.Dataset(variables, {**coordinates, **labels}, attributes)


def _list_axes(experiment: config.Experiment) -> dict[str, list]:
    """The axes of the grid with their labels; NaN for what a language model lacks."""
    axes: dict[str, list] = {}
    for path, values in experiment.loop:
        axes[short_name(path)] = [axis_label(value) for value in values]
    for axis in TRACED_AXES:
        axes[axis] = [np.nan]
    axes['seed'] = list(experiment.grid.seed)
    return axes


def _score_cell(scored: list[Scored], labels: Labels) -> dict[str, np.ndarray]:
    """The numbers of one cohort and seed."""
    numbers = _make_empty(labels)
    for p, probe in enumerate(labels['probe']):
        of_probe = [one for one in scored if one.prompt.probe == probe]
        total = len(of_probe)
        numbers['replies'][p] = total
        if total == 0:
            continue
        agrees = _mark_agreement(of_probe, labels['mapping'])
        follows_none = ~agrees.any(1)
        num_unparsable = sum(one.number is None for one in of_probe)
        numbers['agreement'][p] = agrees.mean(0)
        numbers['token_agreement'][p] = agrees.mean(0)
        numbers['neither'][p] = (follows_none.sum() - num_unparsable) / total
        numbers['unparsable'][p] = num_unparsable / total
        if probe == 'unseen' and labels['offset']:
            numbers['deviation'] = _count_deviations(of_probe)
    return numbers


def _make_empty(labels: Labels) -> dict[str, np.ndarray]:
    """Arrays of NaN, and `diverged`."""
    numbers = {'diverged': np.array(-1)}
    dims_of = {**RECORD_DIMS, **dict.fromkeys(EXTRA, ('probe',))}
    for name, dims in dims_of.items():
        shape = [len(labels[dim]) for dim in dims]
        numbers[name] = np.full(shape, np.nan, np.float32)
    return numbers


def _mark_agreement(scored: list[Scored], mappings: list[str]) -> np.ndarray:
    """Whether each reply is the answer of each mapping, [reply, mapping]."""
    rows = []
    for prompt, number in scored:
        rows.append([number == prompt.answers[mapping] for mapping in mappings])
    return np.array(rows)


def _count_deviations(scored: list[Scored]) -> np.ndarray:
    """Shares of reply minus inferential answer, as in `Record`; without a number: 0."""
    beyond = 2 * DEVIATION_LIMIT + 1
    counts = np.zeros(beyond + 1, np.float32)
    for prompt, number in scored:
        if number is None:
            continue
        offset = number - prompt.answers['inferential']
        is_near = abs(offset) <= DEVIATION_LIMIT
        counts[offset + DEVIATION_LIMIT if is_near else beyond] += 1
    return counts / len(scored)


def _find_labels(prompts: PromptSet) -> Labels:
    """The labels of all cohorts along probe, mapping, group and offset, each once."""
    of_cohorts = []
    for cohort in prompts.cohorts():
        experiment = prompts.experiment.for_cohort(cohort)
        task = tasks.make(experiment.task)
        of_cohorts.append(curve_coordinates(task))
    return join_labels(of_cohorts)
