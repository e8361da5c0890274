"""What a network writes by itself: decoded by hand, and judged by hand."""

import runpy

import numpy as np
import pytest

from analysis import free_generation
from analysis.members.decoding import write_answers
from analysis.real.writing import MEASURES, Written, measure
from anchorjax.errors import UserError
from anchorjax.storage.reader import open_run
from anchorjax.tasks.prontoqa.texts import END, encode
from tests.support import real_tasks
from tests.support.drawing import draw_pixels
from tests.support.sweeps import ROOT


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


@pytest.mark.parametrize(
    ('asked', 'right', 'written', 'expected'),
    [
        # label own, proof, exact, fits
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
    assert shares[0] == 1 and shares[6] == 1
    assert tuple(shares[1:5]) == expected
    is_proof_right = bool(expected[1])
    assert np.isnan(shares[5]) == is_proof_right
    if not is_proof_right:
        assert shares[5] == expected[0]


def test_what_never_ends_has_no_label():
    shares = measure(write('red', RIGHT, RIGHT, ended=False))
    assert shares[1:5] == [0, 0, 0, 0] and shares[6] == 0


@pytest.fixture(scope='module')
def run(make_once):
    """Members that have learned a few questions by heart."""

    def train(folder):
        fields = {'train__num_steps': 200, 'train__eval_every': 200}
        fields |= {'model__width': 32, 'model__head_dim': 32, 'model__mlp_dim': 64}
        fields |= {'task__loss_on': 'answer', 'grid__weight_decay': (0.01,)}
        real_tasks.train_sweep(folder, 'prontoqa', **fields)

    return open_run(make_once('free_generation', train))


@pytest.mark.slow
def test_decoding_agrees_with_what_training_recorded(run):
    result = free_generation.compute(run)
    assert result.questions == 32
    agreement = run.results.agreement.squeeze()
    shares = dict(zip(MEASURES, result.share_MK.T, strict=True))
    exact_M = agreement.sel(probe='seen_heldout_proof')
    np.testing.assert_allclose(shares['proof and label right'], exact_M, atol=1e-6)
    label_M = agreement.sel(probe='seen_heldout')
    np.testing.assert_allclose(shares['label after right proof'], label_M, atol=1e-6)
    assert (label_M > 0).all()  # else the comparison would be empty
    assert (shares['ended'] > 0).all()
    first = draw_pixels(result, free_generation)
    np.testing.assert_array_equal(first, draw_pixels(result, free_generation))


@pytest.mark.slow
def test_the_commands(run, tmp_path, monkeypatch, capsys):
    folder = str(run.folder.workdir)
    out = ('--out', str(tmp_path))
    cases = {
        'generalization': ('--run', folder),
        'free_generation': ('--run', folder, '--number=5'),
        'real_tasks_claims': ('--runs', folder),
    }
    for name, words in cases.items():
        monkeypatch.setattr('sys.argv', [f'{name}.py', *words, *out])
        runpy.run_path(str(ROOT / 'analysis' / f'{name}.py'), run_name='__main__')
        assert capsys.readouterr().out.count(f'{tmp_path}') in (2, 3)
    names = {path.name for path in tmp_path.iterdir()}
    assert {'verdicts.csv', 'verdicts.md', 'generalization.png'} <= names
    assert 'free_generation_number=5.npz' in names


def test_other_runs_are_one_line(open_planted):
    with pytest.raises(UserError, match="task 'scan': this figure is about the task"):
        free_generation.compute(open_planted('scan'))
    planted = open_planted('prontoqa', task__chain_of_thought=False)
    with pytest.raises(UserError, match='there is no proof to write'):
        free_generation.compute(planted)
    with pytest.raises(UserError, match='number = 0: must be at least 1'):
        free_generation.compute(open_planted('prontoqa'), number=0)
