"""Inferential complexity: which pairs are trained on a wrong shift (PAPERS 1.5)."""

import pytest

from anchorjax.tasks import AnchorsConfig, anchors
from tests.support import cases
from tests.tasks.draws import draw_batch, draw_probes

# The wrong shifts by hand, in P1's order, from the text of PAPERS 1.5.
WRONG = {(1, 2): 4, (1, 3): 1, (1, 4): -5, (2, 3): 5, (2, 4): -9, (3, 4): -6}


def make_config(complexity: int, **fields) -> AnchorsConfig:
    plain = {'noninferential': (), 'unseen': (), 'probe_examples': 64} | fields
    return AnchorsConfig(complexity=complexity, **plain)


@pytest.mark.parametrize('complexity', range(7))
def test_the_first_pairs_are_wrong_in_both_orders_and_no_other(complexity):
    config = make_config(complexity)
    wrong = dict(list(WRONG.items())[:complexity])
    shifts = anchors.list_shifts(config).tolist()
    for pair, (inferential, symmetric, assigned) in zip(
        map(tuple, anchors.list_pairs(config).tolist()), shifts, strict=True
    ):
        assert inferential == cases.TABLE[pair][0]
        expected = wrong.get(tuple(sorted(pair)), inferential)
        assert assigned == symmetric == expected, pair
        assert (assigned != inferential) == (tuple(sorted(pair)) in wrong)


@pytest.mark.parametrize('complexity', [0, 5])
def test_labels_are_those_shifts_and_groups_are_the_pairs(complexity):
    config = make_config(complexity, groups='pair', probe_examples=160)
    task = config.make()
    assert task.group_names[:5] == ('11', '12', '13', '14', '21')
    wrong = dict(list(WRONG.items())[:complexity])
    batch, probes = draw_batch(config, 160, seed=1), draw_probes(config, seed=1)
    targets_B = probes.targets_PRBQ[0, anchors.MAPPINGS.index('assigned'), :, 0]
    asked = [(batch.tokens_BT, batch.targets_BQ[:, 0])]
    asked.append((probes.tokens_PBT[0], targets_B))
    for tokens_BT, answers_B in asked:
        _, keys_B, pairs_B2 = cases.decode(tokens_BT)
        for pair, key, answer in zip(pairs_B2, keys_B, answers_B, strict=True):
            ordered = tuple(sorted(pair.tolist()))
            shift = wrong.get(ordered, cases.TABLE[tuple(pair.tolist())][0])
            assert answer == key + shift
    _, _, pairs_B2 = cases.decode(probes.tokens_PBT[0])
    names = [task.group_names[group] for group in probes.groups_PB[0]]
    assert names == [f'{a}{b}' for a, b in pairs_B2]
