"""What a run says about a claim."""

from typing import Any, NamedTuple

import numpy as np


class Reading(NamedTuple):
    """The number that decides a claim, and whether the claim holds here."""

    number: str
    holds: bool | np.bool_ | None  # None: undecided
    note: str = ''


UNKNOWN = Reading('–', None, 'this run does not have the data for this claim')


def leave_open(*results: Any) -> None:
    """For claims about settings that a sweep of gamma does not have."""


def format_gamma(gamma: float) -> str:
    return f'γ {gamma:g}'
