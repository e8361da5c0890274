"""What a network writes by itself: decoded by hand, and judged by hand."""

import numpy as np
import pytest

from analysis import frame
from analysis.text_tasks import claims, free_generation
from analysis.text_tasks.writing import Written, measure, write_answers
from anchorjax.errors import UserError
from anchorjax.tasks.prontoqa.texts import END, encode


def count_up(limit: int):
    """A network that says the next number, and the end after `limit`."""

    def predict(tokens_BT: np.ndarray) -> np.ndarray:
        return np.where(tokens_BT >= limit, 0, tokens_BT + 1)

    return predict


def test_answers_are_written_token_by_token():
    prompts = np.array([[3, 9, 9, 9, 9], [1, 2, 9, 9, 9], [7, 7, 7, 7, 7]])
    begin = np.array([1, 2, 5])
    assert write_answers(count_up(5), prompts, begin, end=0).tolist() == [
        [3, 4, 5, 0, 0, 0],
        [1, 2, 3, 4, 5, 0],
        [7, 7, 7, 7, 7, 0],
    ]
    # Without an end a text is cut; what stood behind its prompt is never read.
    assert write_answers(count_up(99), prompts, begin, end=0).tolist() == [
        [3, 4, 5, 6, 7, 8],
        [1, 2, 3, 4, 5, 6],
        [7, 7, 7, 7, 7, 8],
    ]


QUESTION = 'Q: Each wumpus is red. Max is a wumpus. True or false: Max is {}. A: '
PROOF = 'Max is a wumpus. Each wumpus is red. Max is {}. '


def write(asked: str, right: str, written: str, ended: bool = True) -> Written:
    """One question, its right answer and what was written."""
    prompt = encode(QUESTION.format(asked))
    texts = []
    for answer, has_end in ((written, ended), (right, True)):
        text = [*prompt, *encode(answer)]
        filler = END if has_end else encode('red')[0]
        texts.append(text + [filler] * (60 - len(text)))
    written_BL, right_BL = (np.array([text]) for text in texts)
    label = np.array(encode(right)[-1:])
    return Written(written_BL, right_BL, np.array([len(prompt)]), label)


RIGHT = PROOF.format('red') + 'True'
WRONG = PROOF.format('not red')
OWN = (
    'label after own proof',
    'own proof right',
    'proof and label right',
    'label fits own proof',
)


@pytest.mark.parametrize(
    ('asked', 'right', 'written', 'expected'),
    [
        # by OWN
        ('red', RIGHT, RIGHT, (1, 1, 1, 1)),
        ('red', RIGHT, PROOF.format('red') + 'False', (0, 1, 0, 0)),
        ('red', RIGHT, WRONG + 'False', (0, 0, 0, 1)),
        ('red', RIGHT, WRONG + 'True', (1, 0, 0, 0)),
        ('red', RIGHT, 'True', (1, 0, 0, 0)),
        ('red', RIGHT, '', (0, 0, 0, 0)),
        ('red', RIGHT, RIGHT + ' True', (1, 0, 0, 0)),
        ('not red', RIGHT[:-4] + 'False', RIGHT[:-4] + 'False', (1, 1, 1, 1)),
        ('not red', RIGHT[:-4] + 'False', WRONG + 'True', (0, 0, 0, 1)),
    ],
)
def test_one_question_by_hand(asked, right, written, expected):
    shares = measure(write(asked, right, written))
    assert shares['label after right proof'] == shares['ended'] == 1
    assert tuple(shares[name] for name in OWN) == expected
    label, is_proof_right, _, _ = expected
    if is_proof_right:
        assert np.isnan(shares['label after wrong proof'])
    else:
        assert shares['label after wrong proof'] == label


def test_what_never_ends_has_no_label():
    shares = measure(write('red', RIGHT, RIGHT, ended=False))
    assert [shares[name] for name in (*OWN, 'ended')] == [0, 0, 0, 0, 0]


@pytest.mark.slow
def test_networks_without_proofs_are_left_out(open_planted, monkeypatch):
    def open_networks(run, members, name):
        return [(place, None) for place in members.index]

    monkeypatch.setattr(frame, 'open_networks', open_networks)
    monkeypatch.setattr(free_generation, 'let_write', lambda member, number: None)
    shares = {'label after right proof': 1.0, 'label after own proof': 0.5}
    monkeypatch.setattr(free_generation, 'measure', lambda written: shares)
    static_axes = (('task.chain_of_thought', (False, True)),)
    run = open_planted('prontoqa', static_axes=static_axes, grid__gamma=(0.5,))
    settings = free_generation.compute(run).setting
    assert settings.tolist() == ['chain_of_thought=True'] * 2
    own = claims.tabulate(run).own_label
    assert own.isna().tolist() == [True, True, False, False]
    alone = open_planted('prontoqa', task__chain_of_thought=False)
    with pytest.raises(UserError, match='there is no proof to write'):
        free_generation.compute(alone)


@pytest.mark.slow
def test_decoding_agrees_with_what_training_recorded(proofs_run):
    shares = free_generation.compute(proofs_run)
    exact = shares['proof and label right']
    np.testing.assert_allclose(exact, shares['seen_heldout_proof'], atol=1e-6)
    label = shares['label after right proof']
    np.testing.assert_allclose(label, shares['seen_heldout'], atol=1e-6)
    assert (label > 0).all()  # else the comparison would be empty
    assert (shares['ended'] > 0).all()


@pytest.mark.slow
def test_the_claims_read_nulls_and_own_proofs(proofs_run):
    members = frame.collect({'prontoqa': proofs_run}, claims.tabulate)
    # A rule that recurs is always the right one.
    assert (members['null_seen_heldout'] == 1).all()
    assert (members['null_seen_heldout_proof'] < 0.2).all()
    written = free_generation.compute(proofs_run)
    np.testing.assert_array_equal(members.own_label, written['label after own proof'])
