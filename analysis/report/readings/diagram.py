"""What the phase diagram says about a claim."""

import numpy as np

from analysis import phase
from analysis.members.solution import SEEN_ENOUGH, SOLVED, UNSEEN_MAPPINGS
from analysis.report.readings.reading import Reading, format_gamma

# Indices along the first axis of `phase.Result.fixed`.
INFERENTIAL = UNSEEN_MAPPINGS.index('inferential')
SYMMETRIC = UNSEEN_MAPPINGS.index('symmetric')


def read_inferential_peak(diagram: phase.Result) -> Reading:
    return _read_peak(diagram, INFERENTIAL)


def read_symmetric_peak(diagram: phase.Result) -> Reading:
    return _read_peak(diagram, SYMMETRIC)


def read_phase_order(diagram: phase.Result) -> Reading:
    """Where the two mappings peak, in the row with the highest inferential cell."""
    inferential_YG = diagram.fixed[INFERENTIAL]
    symmetric_YG = diagram.fixed[SYMMETRIC]
    row = int(np.nanmax(inferential_YG, axis=1).argmax())
    column = np.nanargmax(inferential_YG[row])
    inferential_peak = diagram.gamma[column]
    column = np.nanargmax(symmetric_YG[row])
    symmetric_peak = diagram.gamma[column]
    return Reading(
        number=f'symmetric at {format_gamma(symmetric_peak)}, '
        f'inferential at {format_gamma(inferential_peak)}',
        holds=symmetric_peak < inferential_peak,
        note=f'peaks at {_name_row(diagram, row)}',
    )


def read_seen_pairs(diagram: phase.Result) -> Reading:
    """Agreement on held-out seen pairs at the largest initialization."""
    lowest = np.nanmin(diagram.seen_fixed[:, 0])
    return Reading(
        number=f'held-out {lowest:.2f} at {format_gamma(diagram.gamma[0])}',
        holds=lowest < SEEN_ENOUGH,
        note='lowest of the rows',
    )


def _read_peak(diagram: phase.Result, mapping: int) -> Reading:
    """The best cell of one mapping, at one learning rate for all."""
    cells_YG = diagram.fixed[mapping]
    best = np.nanmax(cells_YG)
    row, column = np.argwhere(cells_YG == best)[0]
    gamma = format_gamma(diagram.gamma[column])
    return Reading(
        number=f'{best:.2f} at {_name_row(diagram, row)}, {gamma}',
        holds=best >= SOLVED,
        note='highest cell, mean over seeds',
    )


def _name_row(diagram: phase.Result, row: int) -> str:
    return f'{diagram.row_name} {diagram.rows[row]}'
