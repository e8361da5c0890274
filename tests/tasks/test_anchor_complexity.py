"""Inferential complexity: which pairs are trained on a wrong shift (PAPERS 1.5)."""

import pytest

from anchorjax.tasks import anchors
from anchorjax.tasks.anchors import AnchorsConfig
from tests.support import cases
from tests.tasks.draws import draw_batch, draw_eval_sets

# The wrong shifts by hand, in P1's order, from the text of PAPERS 1.5.
WRONG = {(1, 2): 4, (1, 3): 1, (1, 4): -5, (2, 3): 5, (2, 4): -9, (3, 4): -6}


def make_config(complexity: int, **fields) -> AnchorsConfig:
    plain = {'noninferential': (), 'unseen': (), 'eval_examples': 64} | fields
    return AnchorsConfig(complexity=complexity, **plain)


def look_up_shift(pair: tuple[int, int], complexity: int) -> int:
    """What a pair is trained on, by hand."""
    wrong = dict(list(WRONG.items())[:complexity])
    return wrong.get(tuple(sorted(pair)), cases.TABLE[pair][0])


@pytest.mark.parametrize('complexity', range(7))
def test_the_first_pairs_are_wrong_in_both_orders_and_no_other(complexity):
    config = make_config(complexity)
    pairs = map(tuple, anchors.list_pairs(config).tolist())
    shifts = anchors.list_shifts(config).tolist()
    num_wrong = 0
    for pair, (composed, symmetric, assigned) in zip(pairs, shifts, strict=True):
        assert composed == cases.TABLE[pair][0]
        assert assigned == symmetric == look_up_shift(pair, complexity), pair
        num_wrong += assigned != composed
    assert num_wrong == 2 * complexity


@pytest.mark.parametrize('complexity', [0, 5])
def test_labels_are_those_shifts_and_groups_are_the_pairs(complexity):
    config = make_config(complexity, groups='pair', eval_examples=160)
    names = config.make().group_names
    assert names[:5] == ('11', '12', '13', '14', '21')
    batch, eval_sets = draw_batch(config, 160, seed=1), draw_eval_sets(config, seed=1)
    targets_B = eval_sets.targets_PRBQ[0, anchors.MAPPINGS.index('assigned'), :, 0]
    asked = [(batch.tokens_BT, batch.targets_BQ[:, 0])]
    asked.append((eval_sets.tokens_PBT[0], targets_B))
    for tokens_BT, answers_B in asked:
        _, keys_B, pairs_B2 = cases.decode(tokens_BT)
        for pair, key, answer in zip(pairs_B2, keys_B, answers_B, strict=True):
            assert answer == key + look_up_shift(tuple(pair.tolist()), complexity)
    for group, (a, b) in zip(eval_sets.groups_PB[0], pairs_B2, strict=True):
        assert names[group] == f'{a}{b}'
