"""What a claim can come to on this run: one row per verdict."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Verdict(NamedTuple):
    """A verdict as the reader sees it, in words and as a sign."""

    words: str
    style: str  # CSS class
    sign: str


HOLDS = Verdict('holds', 'yes', '✓')
DOES_NOT_HOLD = Verdict('does not hold', 'no', '✗')
UNTESTED = Verdict('cannot be tested here', 'open', '○')
VERDICTS = (HOLDS, DOES_NOT_HOLD, UNTESTED)


def make_verdict(holds: bool | np.bool_ | None) -> Verdict:
    """The verdict on a claim; None: the run cannot decide it."""
    if holds is None:
        return UNTESTED
    return HOLDS if holds else DOES_NOT_HOLD


def find_verdict(words: str) -> Verdict:
    """The verdict of these words; words that are none of ours look like an open one."""
    for verdict in VERDICTS:
        if verdict.words == words:
            return verdict
    return UNTESTED


def count_verdicts(words: Sequence[str]) -> str:
    """'holds: 3 · does not hold: 1 · cannot be tested here: 2'."""
    counts = Counter(words)
    parts = [f'{verdict.words}: {counts[verdict.words]}' for verdict in VERDICTS]
    return ' · '.join(parts)
