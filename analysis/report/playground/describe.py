"""The playground of the page: networks with their weights, and what they were asked."""

from collections.abc import Callable
from typing import Any

from analysis.members.member import Member, member_of
from analysis.report.choose import Choice, choose_one_of_each
from analysis.report.names import name_network
from analysis.report.playground import request as requests
from analysis.report.playground.request import Request
from analysis.report.playground.weights import Weights, pack_weights
from analysis.report.subject import Subject
from anchorjax.errors import UserError
from anchorjax.experiment import Experiment
from anchorjax.models.transformer import TransformerConfig
from anchorjax.tasks import anchors
from anchorjax.tasks.anchors import AnchorsConfig

MOST_BYTES = 3_000_000  # of weights, as text in the page, unless members are named
LONGEST = 32  # tokens that the page has room for
# What two tasks must share so that one sequence can be put to both.
QUESTION_FIELDS = ('seq_len', 'keys', 'order', 'positions')
MODEL_FIELDS = ('depth', 'heads', 'norm', 'activation', 'eps')

Playground = dict[str, Any]
NO_PLAYGROUND: Playground = {'missing': '', 'networks': [], 'tasks': []}


def describe_playground(
    subject: Subject,
    choices: dict[str, Choice],
    request: Request,
    report_progress: Callable[[str], None],
) -> Playground:
    """The networks to ask, or in `missing` why there are none, in one sentence.

    Raises:
      UserError: the request names an axis, a value or a member that there is not, or
        one whose snapshot is damaged.
    """
    run = subject.run
    is_auto = request.kind == requests.AUTO
    networks: list[dict[str, Any]] = []
    tasks: list[dict[str, Any]] = []
    points = []
    reason = 'they were left out by --playground=none'
    if is_auto:
        points = choose_one_of_each(subject, choices)
    elif request.kind != requests.NONE:
        points = requests.list_requested(run, request)
    size = 0
    for point in points:
        where = name_network(run, point)
        reason = explain_unfit(run.experiment_of(**point), tasks)
        if not reason:
            try:
                member = member_of(run, **point)
                weights = pack_weights(member)
                if is_auto:
                    reason = _explain_size(size + len(weights.text))
            except UserError as error:  # its snapshot is damaged or gone
                if not is_auto:
                    raise
                reason = str(error)
        if reason:
            report_progress(f'playground: without {where}: {reason}')
            continue
        size += len(weights.text)
        described = {'member': subject.points.index(point)}
        networks.append(described | describe_network(member, weights, tasks))
        shown = f'{len(weights.text) / 1e6:.2f} MB in {weights.dtype}'
        report_progress(f'playground: {where}: {shown}')
    if networks:
        size_text = f'{len(networks)} network(s), {size / 1e6:.2f} MB'
        report_progress(f'playground: {size_text}')
        return {'missing': '', 'networks': networks, 'tasks': tasks}
    missing = f'No network can be asked here: {reason}.'
    report_progress(f'playground: {missing}')
    return NO_PLAYGROUND | {'missing': missing}


def explain_unfit(experiment: Experiment, others: list[dict[str, Any]]) -> str:
    """Why a member cannot answer in the page; '' if it can.

    Args:
      others: `describe_task` of the networks that are in it.
    """
    task, model = experiment.task, experiment.model
    if not isinstance(model, TransformerConfig):
        return f'the playground runs the model transformer, not {model.name}'
    if task.seq_len > LONGEST:
        return f'the page has no room for {task.seq_len} tokens, only for {LONGEST}'
    described = describe_task(task)
    for other in others:
        for field in QUESTION_FIELDS:
            if other[field] != described[field]:
                return 'its sequences differ from those of the other networks'
    return ''


def describe_task(config: AnchorsConfig) -> dict[str, Any]:
    """How sequences are made, and the answer of every mapping to every pair."""
    pairs = []
    shifts = anchors.list_shifts(config).tolist()
    for pair, row in zip(anchors.list_pairs(config).tolist(), shifts, strict=True):
        described = dict(zip(anchors.MAPPINGS, row, strict=True))
        described['pair'] = pair
        described['is_unseen'] = tuple(pair) in config.unseen_pairs
        pairs.append(described)
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


def _explain_size(size: int) -> str:
    if size <= MOST_BYTES:
        return ''
    sizes = f'{size / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:g} MB'
    hint = '--playground=gamma=..,seed=.. takes a member of any size'
    return f'its weights would make {sizes} ({hint})'


def describe_network(
    member: Member, weights: Weights, tasks: list[dict[str, Any]]
) -> dict[str, Any]:
    """A network as the page runs it; its task is added unless it is there."""
    task = describe_task(member.experiment.task)
    if task not in tasks:
        tasks.append(task)
    model = vars(member.experiment.model)
    return {
        'task': tasks.index(task),
        'model': {field: model[field] for field in MODEL_FIELDS},
        'dtype': weights.dtype,
        'arrays': weights.arrays,
        'weights': weights.text,
    }
