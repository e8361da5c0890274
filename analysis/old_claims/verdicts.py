"""What a claim can come to on this run: one row per verdict."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple


class Verdict(NamedTuple):
    """A verdict as the reader sees it, in words and as a sign."""

    words: str
    style: str  # CSS class
    sign: str


HOLDS = Verdict('holds', 'yes', '✓')
DOES_NOT_HOLD = Verdict('does not hold', 'no', '✗')
OPPOSITE = Verdict('opposite', 'no', '⇄')
UNDECIDED = Verdict('undecided', 'open', '?')
UNTESTED = Verdict('not tested by this report', 'open', '○')
VERDICTS = (HOLDS, DOES_NOT_HOLD, OPPOSITE, UNDECIDED, UNTESTED)


def find_verdict(words: str) -> Verdict:
    """The verdict of these words; words that are none of ours look untested."""
    for verdict in VERDICTS:
        if verdict.words == words:
            return verdict
    return UNTESTED


def count_verdicts(words: Sequence[str]) -> str:
    """'holds: 3 · does not hold: 1 · undecided: 2', without verdicts of no claim."""
    counts = Counter(words)
    parts = []
    for verdict in VERDICTS:
        if counts[verdict.words]:
            parts.append(f'{verdict.words}: {counts[verdict.words]}')
    return ' · '.join(parts)
