"""The playground of the page: networks with their weights, and what they were asked."""

from collections.abc import Callable
from typing import Any

from analysis.members.member import Member, member_of
from analysis.members.point import Point
from analysis.members.selection import iterate_points
from analysis.report.choose import Choice
from analysis.report.names import name_network
from analysis.report.playground import request as requests
from analysis.report.playground.members import choose_one_of_each, list_question
from analysis.report.playground.request import Request
from analysis.report.playground.weights import Weights, pack_weights
from analysis.report.subject import Subject
from anchorjax.errors import UserError
from anchorjax.model import ModelConfig
from anchorjax.models.transformer import TransformerConfig
from anchorjax.storage.reader import Run
from anchorjax.tasks import anchors
from anchorjax.tasks.anchors import AnchorsConfig

MOST_BYTES = 3_000_000  # of weights, as text in the page, unless members are named
LONGEST = 32  # tokens that the page has room for
MODEL_FIELDS = ('depth', 'heads', 'norm', 'activation', 'eps')

Playground = dict[str, Any]


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
    if request.kind == requests.NONE:
        return _leave_out('It was left out by --playground=none.', report_progress)
    run = subject.run
    limit = None
    if request.kind == requests.AUTO:
        points = choose_one_of_each(subject, choices)
        limit = MOST_BYTES
    else:
        points = requests.list_requested(run, request)
    playground: Playground = {'missing': None, 'networks': [], 'tasks': []}
    question = None
    reason = ''
    size = 0
    for point in points:
        where = name_network(run, point)
        experiment = run.experiment_of(**point)
        reason = explain_unfit(experiment.model, experiment.task, question)
        if not reason:
            try:
                member = member_of(run, **point)
                weights = pack_weights(member)
                reason = _explain_size(size + len(weights.text), limit)
            except UserError as e:  # its snapshot is damaged or gone
                if request.kind != requests.AUTO:
                    raise
                reason = str(e)
        if reason:
            report_progress(f'playground: without {where}: {reason}')
            continue
        question = list_question(experiment.task)
        size += len(weights.text)
        _add_network(playground, _find_index(run, point), member, weights)
        shown = f'{len(weights.text) / 1e6:.2f} MB in {weights.dtype}'
        report_progress(f'playground: {where}: {shown}')
    if not playground['networks']:
        return _leave_out(f'No network can be asked here: {reason}.', report_progress)
    number = len(playground['networks'])
    report_progress(f'playground: {number} network(s), {size / 1e6:.2f} MB')
    return playground


def explain_unfit(
    model: ModelConfig, task: AnchorsConfig, question: tuple[Any, ...] | None
) -> str:
    """Why a member cannot answer in the page; '' if it can.

    Args:
      question: `list_question` of the networks that are in it; None: there are none.
    """
    if not isinstance(model, TransformerConfig):
        return f'the playground runs the model transformer, not {model.name}'
    if task.seq_len > LONGEST:
        return f'the page has no room for {task.seq_len} tokens, only for {LONGEST}'
    if question is not None and list_question(task) != question:
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


def _leave_out(sentence: str, report_progress: Callable[[str], None]) -> Playground:
    report_progress(f'playground: {sentence}')
    return {'missing': sentence, 'networks': [], 'tasks': []}


def _explain_size(size: int, limit: int | None) -> str:
    if limit is None or size <= limit:
        return ''
    return (
        f'its weights would make {size / 1e6:.1f} MB, more than {limit / 1e6:g} MB '
        '(--playground=gamma=..,seed=.. takes a member of any size)'
    )


def _add_network(
    playground: Playground, index: int, member: Member, weights: Weights
) -> None:
    """Adds a member, and its task unless it is there."""
    task = describe_task(member.experiment.task)
    tasks = playground['tasks']
    if task not in tasks:
        tasks.append(task)
    model = {name: getattr(member.experiment.model, name) for name in MODEL_FIELDS}
    playground['networks'].append(
        {
            'member': index,
            'task': tasks.index(task),
            'model': model,
            'dtype': weights.dtype,
            'arrays': weights.arrays,
            'weights': weights.text,
        }
    )


def _find_index(run: Run, point: Point) -> int:
    """The number of a member in the order of the grid, as on the page."""
    for number, (_, other) in enumerate(iterate_points(run)):
        if other == point:
            return number
    raise ValueError(f'{point} is no member')
