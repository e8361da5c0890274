"""What a run says about a claim."""

from typing import Any, NamedTuple

from analysis.old_claims.verdicts import UNDECIDED, UNTESTED, Verdict


class Reading(NamedTuple):
    """The number that decides a claim, what it comes to, and what chance would give."""

    number: str  # what was measured, with its interval
    verdict: Verdict
    null: str = ''  # what chance or a baseline gives
    note: str = ''  # members, seeds, who was left out


NOT_TESTED = Reading('–', UNTESTED)


def undecided(why: str, number: str = '–', null: str = '', note: str = '') -> Reading:
    """A Reading of a run that cannot decide the claim, with the reason."""
    return Reading(number, UNDECIDED, null, f'{why}; {note}' if note else why)


def leave_open(*results: Any) -> Reading:
    """For claims about settings that a sweep of gamma does not have."""
    return NOT_TESTED


def format_gamma(gamma: float) -> str:
    return f'γ {gamma:g}'
