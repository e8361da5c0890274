"""The rows of a members.csv that belong to one cohort, whose members share a task."""

import pandas as pd

from anchorjax.grid import Cohort, axis_label, short_name


def select_cohort(members: pd.DataFrame, cohort: Cohort) -> pd.Series:
    """Which rows [M] belong to a cohort, by the values of the static axes; bool.

    Args:
      members: rows of `reader.members_table`.
    """
    rows = pd.Series(True, members.index)
    for path, value in cohort.static:
        rows &= members[short_name(path)] == axis_label(value)
    return rows
