"""What answers without generalizing: its scores by hand."""

import dataclasses

import jax
import pytest

from analysis.text_tasks import baselines
from anchorjax import config
from anchorjax.grid import DATA, random_key
from anchorjax.tasks.addition import AdditionConfig
from anchorjax.tasks.prontoqa import ProntoqaConfig
from anchorjax.tasks.scan import ScanConfig
from tests.support import text_tasks

pytestmark = pytest.mark.slow


def test_baselines_of_addition_by_hand():
    task = config.resolve(text_tasks.make_config('addition')).task
    scores = baselines.score_baselines(task, 0)
    assert scores['table'] == {'seen_train': 1.0, 'seen_heldout': 0.0, 'test': 0.0}
    # Of the 9 sums of 3, 4 and 5 with each other three are 8.
    assert scores['constant']['test'] == pytest.approx(3 / 9)
    # 64 of 91 ordered pairs are trained, so of most others the reverse is.
    unordered = scores['unordered']
    assert unordered['seen_train'] == 1.0 and unordered['test'] == 0.0
    assert 0.4 < unordered['seen_heldout'] < 0.9


def test_a_table_of_unordered_pairs_knows_the_reverse_of_what_was_trained():
    """Seven of the eight pairs of 0, 1 and 2 but (2, 2) are trained."""
    task = AdditionConfig(largest=2, square=(2, 2), num_examples=7)
    draw = jax.jit(task.draw_asked)
    shares = set()
    for seed in range(8):
        row_B, is_real_B = draw(random_key(seed, DATA))['seen_heldout']
        assert is_real_B.sum() == 1
        first, second = divmod(int(row_B[0]), 3)
        is_double = first == second
        share = baselines.score_baselines(task, seed)['unordered']['seen_heldout']
        assert share == (0.0 if is_double else 1.0)
        shares.add(share)
    assert shares == {0.0, 1.0}


def test_a_table_knows_what_it_was_trained_on_alone():
    scan = ScanConfig(num_examples=50, eval_examples=64)
    assert baselines.score_baselines(scan, 3)['table'] == {
        'seen_train': 1.0,
        'seen_heldout': 0.0,
        'test': 0.0,
    }
    # The primitive is every tenth line, and the most frequent answer among them.
    constant = baselines.score_baselines(scan, 3)['constant']['seen_train']
    assert constant == pytest.approx(5 / 50)


def test_answers_that_are_cut_are_in_no_table():
    whole = config.resolve(text_tasks.make_config('cogs')).task
    cut = dataclasses.replace(whole, seq_len=32)
    tables = [baselines.score_baselines(c, 0)['table'] for c in (whole, cut)]
    assert tables[0]['seen_train'] > 0.5 and tables[1]['seen_train'] < 0.5
    assert tables[0]['gen'] == tables[1]['gen'] == 0


def test_the_shortcuts_of_prontoqa_are_its_nulls():
    original = ProntoqaConfig(hops=2, num_examples=32, eval_examples=64)
    scores = baselines.score_baselines(original, 0)
    assert scores['recurrence']['seen_heldout'] == 1.0
    assert scores['conclusion']['seen_heldout'] == 1.0
    assert 0.5 <= scores['constant']['seen_heldout'] < 0.65
    assert scores['constant']['seen_heldout_proof'] < 0.1
    twin = dataclasses.replace(original, distractor='twin', chain_of_thought=False)
    without = baselines.score_baselines(twin, 0)
    assert without['recurrence']['seen_heldout'] < 0.7
    assert 'conclusion' not in without
