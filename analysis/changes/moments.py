"""When a curve of agreement gets to where it is going, and in which order the solutions appear."""

import numpy as np


def moments(step_S, agreement_SX, threshold: float, tolerance: float) -> tuple:
    """(first reached, reached for good) along the trailing axes, as steps; NaN where never.

    First: agreement >= threshold. For good: there, and never again below threshold - tolerance.
    """
    reached = agreement_SX >= threshold
    holds = agreement_SX >= threshold - tolerance  # False where NaN
    until_the_end = np.logical_and.accumulate(holds[::-1])[::-1]
    return _first(step_S, reached), _first(step_S, reached & until_the_end)


def events(first_PR, probes, mappings) -> dict[str, float]:
    """{'probe mapping': step} of what was asked and reached, earliest first.

    On seen pairs the question is what training says, elsewhere which other mapping answers. Ties
    are in the order of the probes.
    """
    asked = {
        f'{probe} {mapping}': first_PR[p, r]
        for p, probe in enumerate(probes)
        for r, mapping in enumerate(mappings)
        if (mapping == 'assigned') == probe.startswith('seen') or len(mappings) == 1
    }
    reached = [(name, step) for name, step in asked.items() if np.isfinite(step)]
    return dict(sorted(reached, key=lambda event: event[1]))


def _first(step_S, true_SX) -> np.ndarray:
    return np.where(true_SX.any(0), step_S[true_SX.argmax(0)], np.nan)
