"""The playground of the page: networks with their weights, and what they were asked."""

import base64
from collections.abc import Callable
from typing import Any

import numpy as np

from analysis.members.selection import require_task
from analysis.names import name_network
from analysis.report.choose import Choice, choose_one_of_each
from analysis.report.subject import Subject
from anchorjax.errors import UserError
from anchorjax.experiment import Experiment
from anchorjax.models.transformer import TransformerConfig
from anchorjax.network import Network, flatten_params
from anchorjax.tasks import anchors
from anchorjax.tasks.anchors import AnchorsConfig

MOST_BYTES = 6_000_000  # of weights, as text in the page
LONGEST = 32  # tokens that the page has room for
# What two tasks must share so that one sequence can be put to both.
QUESTION_FIELDS = ('seq_len', 'keys', 'order', 'positions')
MODEL_FIELDS = ('depth', 'heads', 'norm', 'activation', 'eps')

Playground = dict[str, Any]
NO_PLAYGROUND: Playground = {'missing': '', 'networks': [], 'tasks': []}


def describe_playground(
    subject: Subject,
    choices: dict[str, Choice],
    report_progress: Callable[[str], None],
) -> Playground:
    """One network of each solution, or in `missing` a sentence why there is none."""
    run = subject.run
    networks: list[dict[str, Any]] = []
    tasks: list[dict[str, Any]] = []
    size = 0
    for point in choose_one_of_each(subject, choices):
        where = name_network(run, point)
        experiment = run.experiment_of(**point)
        try:
            task = require_fit(experiment, tasks)
            network = describe_network(run.network(**point))
            _require_room(size + len(network['weights']))
        except UserError as error:  # or its snapshot is damaged or gone
            reason = error
            report_progress(f'playground: without {where}: {reason}')
            continue
        size += len(network['weights'])
        if task not in tasks:
            tasks.append(task)
        number = subject.points.index(point)
        networks.append({'member': number, 'task': tasks.index(task), **network})
    if networks:
        line = f'{len(networks)} network(s), {size / 1e6:.2f} MB'
        report_progress(f'playground: {line}')
        return {'missing': '', 'networks': networks, 'tasks': tasks}
    return NO_PLAYGROUND | {'missing': f'No network can be asked here: {reason}.'}


def require_fit(experiment: Experiment, others: list[dict[str, Any]]) -> dict[str, Any]:
    """`describe_task`; raises UserError if a member cannot answer in the page.

    Args:
      others: `describe_task` of the networks that are in it.
    """
    task = require_task(experiment.task, AnchorsConfig)
    model = experiment.model
    if not isinstance(model, TransformerConfig) or model.has_own_score:
        raise UserError(f'the playground runs the model transformer, not {model.name}')
    if model.cut_edges:
        raise UserError('the playground runs networks with every edge of attention')
    if task.seq_len > LONGEST:
        line = f'the page has no room for {task.seq_len} tokens, only for {LONGEST}'
        raise UserError(line)
    described = describe_task(task)
    for other in others:
        for field in QUESTION_FIELDS:
            if other[field] != described[field]:
                line = 'its sequences differ from those of the other networks'
                raise UserError(line)
    return described


def describe_task(config: AnchorsConfig) -> dict[str, Any]:
    """How sequences are made, and the answer of every mapping to every pair."""
    pairs = []
    shifts = anchors.list_shifts(config).tolist()
    for pair, row in zip(anchors.list_pairs(config).tolist(), shifts, strict=True):
        described = dict(zip(anchors.MAPPINGS, row, strict=True))
        is_unseen = tuple(pair) in config.unseen_pairs
        pairs.append({**described, 'pair': pair, 'is_unseen': is_unseen})
    exceptions = [[a, b] for a, b, _ in config.noninferential]
    return {
        'seq_len': config.seq_len,
        'keys': list(config.keys),
        'order': config.order,
        'positions': list(config.positions),
        'shift_of': {str(name): shift for name, shift in config.shift_of.items()},
        'pairs': pairs,
        'unseen': [list(pair) for pair in config.unseen_pairs],
        'exceptions': exceptions,
    }


def _require_room(size: int) -> None:
    if size > MOST_BYTES:
        sizes = f'{size / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:g} MB'
        raise UserError(f'its weights would make {sizes}')


def describe_network(member: Network) -> dict[str, Any]:
    """A network as the page runs it: all parameters, float32, one after the other.

    `arrays` has their (path, shape), `weights` is base64 of little-endian numbers.
    """
    model = vars(member.experiment.model)
    arrays = []
    parts = []
    for path, leaf in flatten_params(member.params).items():
        arrays.append((path, list(leaf.shape)))
        parts.append(np.asarray(leaf, '<f4').tobytes())
    return {
        'model': {field: model[field] for field in MODEL_FIELDS},
        'arrays': arrays,
        'weights': base64.b64encode(b''.join(parts)).decode(),
    }
