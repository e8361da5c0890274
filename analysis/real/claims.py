"""What P1 says of its real tasks, and which of gamma and decay does it.

A claim is a row of CLAIMS. P1 changes both at once; the rows 'ours' tell them apart.
"""

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

from analysis import free_generation, generalization
from analysis.old_claims.reading import Reading
from analysis.real import published
from analysis.real.readings import answers, pairs, steps
from analysis.real.readings.answers import LARGE_WEAK, SMALL_STRONG
from analysis.real.readings.seeds import Place
from anchorjax.experiment import Experiment

Fits = Callable[[Experiment], bool]
# (experiment, probe, size) -> what P1 prints.
Printed = Callable[[Experiment, int], str]


def print_nothing(experiment: Experiment, size: int) -> str:
    return '–'


class Claim(NamedTuple):
    """A sentence in our words, the runs that it is about, and how to read them.

    `read` gets the result of the figure and a place. A claim about two runs has a
    `partner`, which says whether a run is the other one of a given run; `read` gets the
    results of both.
    """

    source: str
    sentence: str
    fits: Fits
    read: Callable[..., Reading]
    figure: ModuleType = generalization
    is_about_all_sizes: bool = False  # one row for a setting, not one for each size
    partner: Callable[[Experiment, Experiment], bool] | None = None
    printed: Printed = print_nothing


def _loops_over(experiment: Experiment, path: str) -> bool:
    return path in dict(experiment.loop)


def is_square(experiment: Experiment) -> bool:
    """Addition with the square held out, not the control."""
    is_task = experiment.task.name == 'addition' and experiment.task.split == 'square'
    return is_task and not _loops_over(experiment, 'task.split')


def is_turn_left(experiment: Experiment) -> bool:
    if experiment.task.name != 'scan' or _loops_over(experiment, 'task.split'):
        return False
    return experiment.task.split == 'addprim_turn_left'


def is_cogs(experiment: Experiment) -> bool:
    return experiment.task.name == 'cogs'


def is_prontoqa(experiment: Experiment) -> bool:
    """As published, with the shortcut."""
    if experiment.task.name != 'prontoqa' or _loops_over(experiment, 'task.distractor'):
        return False
    return experiment.task.distractor == 'original'


def has_proofs(experiment: Experiment) -> bool:
    return is_prontoqa(experiment) and experiment.task.chain_of_thought


def is_control(experiment: Experiment, other: Experiment) -> bool:
    """Whether the other run differs in that its pairs are held out at random."""
    return other == replace_task(experiment, other.name, split='random')


def is_twin(experiment: Experiment, other: Experiment) -> bool:
    """Whether the other run differs in that it has no shortcut, at any sizes."""
    twin = replace_task(experiment, other.name, distractor='twin')
    return other == dataclasses.replace(twin, loop=other.loop)


def replace_task(experiment: Experiment, name: str, **fields: Any) -> Experiment:
    """The experiment under another name, with other fields of its task."""
    task = dataclasses.replace(experiment.task, **fields)
    return dataclasses.replace(experiment, name=name, task=task)


def _print_exact_match(probe: str) -> Printed:
    return partial(_describe_exact_match, probe)


def _describe_exact_match(probe: str, experiment: Experiment, size: int) -> str:
    return published.describe_exact_match(experiment, probe, size)


def _print_steps(experiment: Experiment, size: int) -> str:
    return published.describe_steps(size)


# By the name of a contrast: what moves, and where the other one is.
_ALONE = {
    'gamma at weak decay': 'Gamma does it, at weak decay: a smaller initialization',
    'gamma at strong decay': 'Gamma does it, at strong decay: a smaller initialization',
    'decay at large initialization': (
        'Decay does it, at a large initialization: stronger decay'
    ),
    'decay at small initialization': (
        'Decay does it, at a small initialization: stronger decay'
    ),
}


def _list_effects(source: str, fits: Fits, probe: str, what: str) -> list[Claim]:
    """Four rows: what gamma and decay each do to the exact match on a probe."""
    rows = []
    for contrast, words in _ALONE.items():
        read = partial(answers.read_effect, probe=probe, contrast=contrast)
        sentence = f'{words} answers more {what}.'
        rows.append(Claim(f'ours, on {source}', sentence, fits, read))
    return rows


def _list_steps(source: str, fits: Fits) -> list[Claim]:
    """Four rows: what gamma and decay each do to the steps."""
    rows = []
    for contrast, words in _ALONE.items():
        read = partial(steps.read_steps, contrast=contrast)
        sentence = f'{words} converges in fewer steps.'
        rows.append(Claim(f'ours, on {source}', sentence, fits, read))
    return rows


def _list_growth(source: str, fits: Fits, probe: str, what: str) -> list[Claim]:
    """Two rows: more examples help at either of the corners that P1 compares."""
    rows = []
    corners = {
        'a large initialization with weak decay': LARGE_WEAK,
        'a small one with strong decay': SMALL_STRONG,
    }
    for words, corner in corners.items():
        read = partial(answers.read_growth, probe=probe, corner=corner)
        sentence = f'With more training examples {words} answers more {what}.'
        rows.append(Claim(source, sentence, fits, read, is_about_all_sizes=True))
    return rows


def _compare(source: str, fits: Fits, probe: str, what: str) -> Claim:
    """P1's own comparison, of the two corners."""
    return Claim(
        source,
        'A small initialization with strong decay answers more '
        f'{what} than a large one with weak decay.',
        fits,
        partial(answers.read_effect, probe=probe, contrast='both'),
        printed=_print_exact_match(probe),
    )


_ADDITION = (
    Claim(
        'P1 Fig 17 a',
        'A small initialization with strong decay answers the held-out square.',
        is_square,
        partial(answers.read_solved, probe='test', corner=SMALL_STRONG),
        printed=_print_exact_match('test'),
    ),
    Claim(
        'P1 Fig 17 a',
        'A large initialization with weak decay does not answer the held-out square.',
        is_square,
        partial(answers.read_unsolved, probe='test', corner=LARGE_WEAK),
        printed=_print_exact_match('test'),
    ),
    _compare('P1 Fig 17 a', is_square, 'test', 'of the held-out square'),
    *_list_effects('P1 Fig 17 a', is_square, 'test', 'of the held-out square'),
    Claim(
        'ours, on P1 Fig 17 a',
        'A large initialization with weak decay answers held-out pairs outside the '
        'square.',
        is_square,
        partial(answers.read_solved, probe='seen_heldout', corner=LARGE_WEAK),
    ),
    Claim(
        'ours, on P1 Fig 17 a',
        'A large initialization with weak decay answers more pairs that are held out '
        'at random than pairs of the square.',
        is_square,
        partial(pairs.read_more_in_other, probe='test', corner=LARGE_WEAK),
        partner=is_control,
    ),
)
_SCAN = (
    _compare('P1 Fig 6 a', is_turn_left, 'test', 'commands with `turn left`'),
    *_list_growth('P1 Fig 6 a', is_turn_left, 'test', 'commands with `turn left`'),
    *_list_effects('P1 Fig 6 a', is_turn_left, 'test', 'commands with `turn left`'),
    *_list_effects(
        'P1 Fig 6 a', is_turn_left, 'seen_heldout', 'new commands of the trained kinds'
    ),
)
_COGS = (
    _compare('P1 Fig 6 b', is_cogs, 'seen_heldout', 'in-distribution sentences'),
    *_list_growth('P1 Fig 6 b', is_cogs, 'seen_heldout', 'in-distribution sentences'),
    *_list_effects('P1 Fig 6 b', is_cogs, 'seen_heldout', 'in-distribution sentences'),
    _compare('P1 Fig 6 c', is_cogs, 'gen', 'sentences of the 21 cases'),
    *_list_growth('P1 Fig 6 c', is_cogs, 'gen', 'sentences of the 21 cases'),
    *_list_effects('P1 Fig 6 c', is_cogs, 'gen', 'sentences of the 21 cases'),
)


def _list_twins() -> list[Claim]:
    """Whether the shortcut matters, for the judgement and for the whole proof."""
    rows = []
    probes = {
        'judged after the right proof': 'seen_heldout',
        'proved, every token being right': 'seen_heldout_proof',
    }
    for words, probe in probes.items():
        rows.append(
            Claim(
                'ours, on P1 Fig 7',
                'A small initialization with strong decay does not need the shortcut: '
                f'without it as many new questions are {words}.',
                is_prontoqa,
                partial(
                    pairs.read_same_without_shortcut, probe=probe, corner=SMALL_STRONG
                ),
                partner=is_twin,
            )
        )
    return rows


_PRONTOQA = (
    _compare('P1 Fig 7', is_prontoqa, 'seen_heldout', 'new questions'),
    *_list_growth('P1 Fig 7', is_prontoqa, 'seen_heldout', 'new questions'),
    *_list_effects('P1 Fig 7', is_prontoqa, 'seen_heldout', 'new questions'),
    Claim(
        'P1 Fig 7',
        'A small initialization with strong decay converges in fewer steps than a '
        'large one with weak decay.',
        is_prontoqa,
        partial(steps.read_steps, contrast='both'),
        printed=_print_steps,
    ),
    *_list_steps('P1 Fig 7', is_prontoqa),
    Claim(
        'P1 Fig 7',
        'At a large initialization with weak decay, the steps to converge rise with '
        'the number of examples and then fall.',
        is_prontoqa,
        partial(steps.read_rise_and_fall, corner=LARGE_WEAK),
        is_about_all_sizes=True,
    ),
    *_list_twins(),
    Claim(
        'ours, on P1 Fig 7',
        'A small initialization with strong decay judges as well after its own proof '
        'as after the right one.',
        has_proofs,
        partial(pairs.read_own_proof, corner=SMALL_STRONG),
        figure=free_generation,
    ),
)
CLAIMS = (*_ADDITION, *_SCAN, *_COGS, *_PRONTOQA)


def list_places(results: Sequence[Any], claim: Claim) -> list[Place]:
    """A place for every row that a claim has of a run, in the order of the sweep.

    Args:
      results: of the run; of a claim about two runs those of both, and then the places
        are those that both have.
    """
    first, *others = results
    places = _list_all_places(first, claim)
    for other in others:
        shared = _list_all_places(other, claim)
        places = [place for place in places if place in shared]
    return places


def _list_all_places(result: Any, claim: Claim) -> list[Place]:
    members = result.members
    places = []
    for setting in dict.fromkeys(members['setting'].tolist()):
        is_setting_M = members['setting'] == setting
        sizes = sorted(set(members['size'][is_setting_M].tolist()))
        if claim.is_about_all_sizes:
            sizes = [0]
        places += [Place(setting, size) for size in sizes]
    return places
