"""Answers that are numbers: how far they are from a rule's, as columns of a table."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr

NEAR = (1, 2)  # distances that count as near
_BEYOND = 'beyond'  # the label of all larger offsets, which count as no answer


def describe_answers(
    eval_set: str,
    mapping: str,
    names: Mapping[int, str],
    results: xr.Dataset,
    members: pd.DataFrame,
) -> pd.DataFrame:
    """The members with columns of what they answer to one eval set.

    Their names begin with that of the eval set:

    <mapping>_<group>    agreement by group of its sequences
    within_1, within_2   share of answers at most so far from the mapping's answer
    answer               name of the most frequent answer; '' where not trained
    answer_share         its share

    A task gives this as its `Task.describe_members`, with the first three arguments
    bound; the members stay as they are if no cohort of the sweep records deviations.

    Args:
      eval_set, mapping: as in `Task.deviation`.
      results: `deviation` [..., offset] and `agreement_by_group` of one cohort.
      names: of rules, {their answer minus that of the mapping: name}.
    """
    if not results.sizes['offset']:
        return members
    by_group = results.agreement_by_group.sel(eval_set=eval_set)
    columns = {}
    for rule in results.mapping.values:
        for group in results.group.values:
            agreement = by_group.sel(mapping=rule, group=group)
            columns[f'{eval_set}_{rule}_{group}'] = agreement.values.ravel()
    deviation = results.deviation.drop_sel(offset=_BEYOND)
    offset_O = deviation.offset.values.astype(int)
    histogram_MO = deviation.values.reshape(len(members), len(offset_O))
    for distance in NEAR:
        near_MO = histogram_MO[:, np.abs(offset_O) <= distance]
        columns[f'{eval_set}_within_{distance}'] = near_MO.sum(-1)
    answers = []
    for histogram_O in histogram_MO:
        offset = int(offset_O[histogram_O.argmax()])
        is_known = np.isfinite(histogram_O[0])
        answers.append(name_offset(mapping, names, offset) if is_known else '')
    columns[f'{eval_set}_answer'] = answers
    columns[f'{eval_set}_answer_share'] = histogram_MO.max(-1)
    return members.assign(**columns)


def name_offset(mapping: str, names: Mapping[int, str], offset: int) -> str:
    """The name of a rule, or 'composed − 3', which is the composed answer less 3."""
    if offset in names:
        return names[offset]
    sign = '+' if offset > 0 else '−'
    return f'{mapping} {sign} {abs(offset)}'
