"""Replies of language models as the cube that our own members have.

A language model has no initialization rate that we know: along gamma, learning rate and
weight decay it has a single NaN. Its seeds are draws of the prompts.
"""

import collections
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
_DIMS = {**RECORD_DIMS, **dict.fromkeys(EXTRA, ('probe',))}


class Scored(NamedTuple):
    """A prompt with the number of its reply; None: there is none in it."""

    prompt: Prompt
    number: int | None


Cell = tuple[str, int]  # cohort, seed: one member of a language model


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
    cubes = []
    for model, replies in replies_of.items():
        try:
            scored = score_replies(listed, replies)
        except UserError as e:
            raise UserError(f'{model}: {e}') from None
        cube = _make_model(prompts, listed, scored, labels)
        cubes.append(cube)
    cube = xr.concat(cubes, 'model', join='exact')
    return cube.assign_coords(model=list(replies_of))


def _make_model(
    prompts: PromptSet,
    listed: list[Prompt],
    scored: list[Scored],
    labels: Labels,
) -> xr.Dataset:
    """The cube of one model."""
    columns: dict[str, list[np.ndarray]] = {}
    for numbers in _score_cells(listed, scored, labels):
        for name, array in numbers.items():
            columns.setdefault(name, []).append(array)

    experiment = prompts.experiment
    axes = _list_axes(experiment)
    shape = [len(values) for values in axes.values()]
    variables = {}
    for name, arrays in columns.items():
        values = np.stack(arrays)
        dims = _DIMS.get(name, ())
        cube = values.reshape(*shape, *values.shape[1:])
        variables[name] = ((*axes, *dims), cube)
    described = config.to_dict(experiment)
    attributes = {'experiment': json.dumps(described), 'source': 'anchorjax'}
    return xr.Dataset(variables, {**axes, **labels}, attributes)


def _score_cells(
    listed: list[Prompt], scored: list[Scored], labels: Labels
) -> list[dict[str, np.ndarray]]:
    """The numbers of every cell, in the order of the prompts."""
    num_asked = collections.Counter(_get_cell(prompt) for prompt in listed)
    scored_of = collections.defaultdict(list)
    for one in scored:
        scored_of[_get_cell(one.prompt)].append(one)
    numbers_of_cells = []
    for cell, total in num_asked.items():
        numbers = _score_cell(scored_of[cell], labels)
        is_whole = np.array(len(scored_of[cell]) == total)
        numbers['trained'] = is_whole
        numbers['converged'] = is_whole
        numbers_of_cells.append(numbers)
    return numbers_of_cells


def _get_cell(prompt: Prompt) -> Cell:
    return prompt.cohort, prompt.seed


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
        agreement_R = agrees.mean(0)
        num_without_mapping = (~agrees.any(1)).sum()
        num_unparsable = sum(one.number is None for one in of_probe)
        num_neither = num_without_mapping - num_unparsable
        numbers['agreement'][p] = agreement_R
        numbers['token_agreement'][p] = agreement_R
        numbers['neither'][p] = num_neither / total
        numbers['unparsable'][p] = num_unparsable / total
        if probe == 'unseen' and labels['offset']:
            numbers['deviation'] = _count_deviations(of_probe)
    return numbers


def _make_empty(labels: Labels) -> dict[str, np.ndarray]:
    """Arrays of NaN, and `diverged`."""
    numbers = {'diverged': np.array(-1)}
    for name, dims in _DIMS.items():
        shape = [len(labels[dim]) for dim in dims]
        numbers[name] = np.full(shape, np.nan, np.float32)
    return numbers


def _mark_agreement(scored: list[Scored], mappings: list[str]) -> np.ndarray:
    """Whether each reply is the answer of each mapping, [reply, mapping]."""
    rows = []
    for prompt, number in scored:
        row = [number == prompt.answers[mapping] for mapping in mappings]
        rows.append(row)
    return np.array(rows)


def _count_deviations(scored: list[Scored]) -> np.ndarray:
    """Shares of reply minus inferential answer, as in `Record`; without a number: 0."""
    beyond = 2 * DEVIATION_LIMIT + 1
    counts = np.zeros(beyond + 1, np.float32)
    for prompt, number in scored:
        if number is None:
            continue
        offset = number - prompt.answers['inferential']
        index = beyond
        if abs(offset) <= DEVIATION_LIMIT:
            index = offset + DEVIATION_LIMIT
        counts[index] += 1
    return counts / len(scored)


def _find_labels(prompts: PromptSet) -> Labels:
    """The labels of all cohorts along probe, mapping, group and offset, each once."""
    of_cohorts = []
    for cohort in prompts.cohorts():
        experiment = prompts.experiment.for_cohort(cohort)
        task = tasks.make(experiment.task)
        of_cohorts.append(curve_coordinates(task))
    return join_labels(of_cohorts)
