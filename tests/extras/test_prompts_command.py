"""The command line: write, ask a stub server or a tiny local model, score."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from analysis.p1 import replies
from anchorjax import config
from anchorjax.errors import StoreError, UserError
from anchorjax.extras.prompts.files import (
    read_prompts,
    read_replies,
    reply_path,
    resume_rows,
    write_rows,
)
from anchorjax.extras.prompts.scores import score_replies
from tests.support.in_process import run
from tests.support.stub_endpoint import serve, solve
from tests.support.sweeps import TINY_FILE

KEY = 'sk-never-to-be-seen'
SETTINGS = {'model': 'stub'}
ROW = b'{"id": "a", "reply": "7"}\n'


@pytest.fixture
def say(monkeypatch, capsys):
    """A function: how `launch/prompts.py` with these words ends."""
    monkeypatch.setenv('OPENAI_API_KEY', KEY)

    def say_words(*words):
        done = run('prompts.py', [str(word) for word in words], monkeypatch, capsys)
        assert KEY not in done.out + done.errors
        return done

    return say_words


@pytest.fixture
def folder(say, tmp_path):
    """Prompts of two settings of the tiny config, two of each eval set and seed."""
    words = ['write', '--config', TINY_FILE, '--out', tmp_path, '--number', 2]
    words += ['--config.static_axes', "(('task.order',('key_first','anchors_first')),)"]
    for _ in range(2):  # the same prompts again change nothing
        done = say(*words, '--shots', 1)
        assert done.code == 0 and '24 prompts' in done.out, done.errors
    return tmp_path


def answer_all(folder, solution):
    """{id: reply} of a network with this solution."""
    prompts = read_prompts(folder)
    return {prompt.id: solve(prompt.prompt, solution) for prompt in prompts}


@pytest.mark.slow
def test_write_ask_and_score(say, folder):
    pytest.importorskip('openai')

    def ask(stub, solution):
        words = ['ask', '--prompts', folder, '--endpoint', stub.address]
        return say(*words, '--model', f'lab/{solution}')

    with serve('composed') as stub:
        stub.accidents = [''] * 3 + ['400']
        assert 'HTTP 400' in ask(stub, 'composed').errors
        assert '21 new replies, 24 in all' in ask(stub, 'composed').out
        assert '0 new replies, 24 in all' in ask(stub, 'composed').out
        assert len(stub.bodies) == 25  # nothing twice
        assert stub.bodies[0]['temperature'] == 0
    for solution in ('symmetric', 'wrong', 'prose'):
        with serve(solution) as stub:
            done = ask(stub, solution)
            assert done.code == 0, done.errors
    done = say('score', '--prompts', folder)
    assert done.code == 0, done.errors
    for path in folder.rglob('*'):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()

    table = pd.read_csv(folder / 'replies.csv')
    assert (table.replies == table.prompts).all() and table.seed.nunique() == 2
    columns = ['composed', 'symmetric', 'neither', 'unparsable']
    unseen = table[table.eval_set == 'unseen'].groupby('model')[columns].mean()
    assert unseen.T.to_dict('list') == {
        'composed': [1, 0, 0, 0],
        'symmetric': [0, 1, 0, 0],
        'wrong': [0, 0, 1, 0],
        'prose': [0, 0, 0, 1],
    }


def test_a_setting_counts_once_all_its_prompts_have_replies(folder):
    prompts = read_prompts(folder)
    said = answer_all(folder, 'composed')
    table = score_replies(prompts, said)
    trained = table[table.eval_set == 'seen_train'].assigned
    # It composes the trained exception (3, 4) as well: one of the 15 trained pairs.
    assert trained.min() >= 0.5
    said.popitem()  # of the last seed of the last setting
    table = score_replies(prompts, said).assign(model='a')
    figure = replies.compute(table)
    assert figure.seeds.tolist() == [2, 1]
    assert figure.composed.tolist() == [1, 1] and figure.unparsable.sum() == 0
    with pytest.raises(UserError, match='a reply to elsewhere: there is no such'):
        score_replies(prompts, {'elsewhere': '7'})


def make_members(experiment):
    """A sweep of two gammas; only the second one has converged, as symmetric."""
    axes = {'order': ['key_first', 'anchors_first'], 'gamma': [0.3, 0.8]}
    axes |= {'learning_rate': [1e-3], 'weight_decay': [0.0], 'seed': [0, 1]}
    eval_sets = ['seen_train', 'seen_heldout', 'unseen']
    mappings = ['composed', 'symmetric', 'assigned']
    shape = [len(values) for values in axes.values()]
    agreement = np.broadcast_to(np.array([0.0, 1.0, 0.9]), (*shape, 3, 3))
    members = xr.Dataset(
        {
            'agreement': ((*axes, 'eval_set', 'mapping'), agreement),
            'trained': (tuple(axes), np.ones(shape, bool)),
            'converged': (('gamma',), [False, True]),
        },
        {**axes, 'eval_set': eval_sets, 'mapping': mappings},
    )
    return SimpleNamespace(results=members, experiment=experiment)


def test_members_of_a_sweep_are_shown_beside(folder):
    prompts = read_prompts(folder)
    said = answer_all(folder, 'composed')
    table = score_replies(prompts, said).assign(model='a')
    loaded = config.default()
    loaded.static_axes = (('task.order', ('key_first', 'anchors_first')),)
    sweep = make_members(config.resolve(loaded))
    figure = replies.compute(table, sweep)
    assert figure.model.tolist() == ['a', 'γ 0.3', 'γ 0.8'] * 2
    assert figure.seeds.tolist() == [2, 0, 2] * 2
    ours = figure[figure.model == 'γ 0.8']
    assert ours.symmetric.tolist() == [1, 1] and ours.composed.sum() == 0
    np.testing.assert_allclose(ours.heldout, 0.9)
    assert figure.symmetric[figure.model == 'γ 0.3'].isna().all()
    with pytest.raises(UserError, match=r"its settings are .*, the prompts \['all'\]"):
        replies.compute(table.assign(cohort='all'), sweep)
    sweep.results = sweep.results.sel(eval_set=['seen_train', 'seen_heldout'])
    with pytest.raises(UserError, match='its task has no unseen pair, the prompts'):
        replies.compute(table, sweep)


def test_one_answer_of_two_names_counts_once(say, tmp_path):
    words = ['write', '--config', 'configs/decay.py', '--out', tmp_path, '--number', 2]
    assert say(*words, '--shots', 1).code == 0
    table = score_replies(read_prompts(tmp_path), answer_all(tmp_path, 'composed'))
    table = table.assign(model='a')
    loaded = config.load('configs/decay.py')
    sweep = make_members(config.resolve(loaded))
    sweep.results = sweep.results.isel(order=0, drop=True)
    sweep.results['agreement'] = sweep.results.agreement * 0 + 0.25
    figure = replies.compute(table, sweep).set_index('model')
    assert figure.loc['a', list(replies.ANSWERS)].tolist() == [1, 0, 0, 0]
    ours = figure.loc[figure.index != 'a'].dropna()
    assert len(ours) == 1
    assert ours[list(replies.ANSWERS)].values.tolist() == [[0.25, 0, 0.75, 0]]


def test_bad_input_is_one_line(say, folder, tmp_path):
    other = tmp_path / 'none'
    stub = ('--endpoint', 'http://127.0.0.1:1/v1', '--model', 'm')
    for words, line in (
        (('ask', '--prompts', other, *stub), 'holds no prompts'),
        (('ask', '--prompts', folder, *stub[:2]), '--endpoint needs --model'),
        (('ask', '--prompts', folder, *stub, '--name', '../x'), "'../x': must be"),
        (
            ('ask', '--prompts', folder, '--local', other, '--fields', '{"seed": 1}'),
            '--fields: of an --endpoint alone',
        ),
        (('write', '--config', TINY_FILE, '--out', folder), 'holds other prompts'),
        (('write', '--config', 'configs/scan.py', '--out', other), 'task.name'),
    ):
        done = say(*words)
        assert (done.code, done.errors.count('\n')) == (2, 1), (words, done.errors)
        assert line in done.errors, done.errors
    pytest.importorskip('openai')
    done = say('ask', '--prompts', folder, *stub, '--retries', '0')
    assert (done.code, done.errors.count('\n')) == (1, 1)  # it may answer later
    assert 'no answer' in done.errors


def test_replies_are_of_one_setting(tmp_path):
    path = tmp_path / 'r.jsonl'
    write_rows(path, resume_rows(path, {'model': 'mistyped'}))
    rows = resume_rows(path, SETTINGS)  # without a reply, settings can be corrected
    assert rows == [{'settings': SETTINGS}]
    write_rows(path, [*rows, {'id': 'a', 'reply': '7'}])
    assert resume_rows(path, SETTINGS)[1:] == [{'id': 'a', 'reply': '7'}]
    other = {'model': 'stub', 'temperature': 1}
    with pytest.raises(StoreError, match='temperature = None, now 1'):
        resume_rows(path, other)


@pytest.mark.parametrize(
    ('line', 'problem'),
    [
        (b'{"id": "a"}', 'line 2: must have the texts'),
        (b'{"id": "b", "re', 'line 2 is not JSON'),
        (b'[1]', 'line 2: must be a JSON object'),
        (ROW, 'line 2: a second reply to a'),
    ],
)
def test_a_damaged_file_of_replies_is_one_line(tmp_path, line, problem):
    path = tmp_path / 'r.jsonl'
    path.write_bytes(ROW + line)
    with pytest.raises(StoreError, match=problem):
        read_replies(path)


@pytest.fixture(scope='module')
def local_model(tmp_path_factory):
    """A Hugging Face model of random weights whose tokens are characters."""
    transformers = pytest.importorskip('transformers')
    tokenizers = pytest.importorskip('tokenizers')
    torch = pytest.importorskip('torch')
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocab = {letter: i for i, letter in enumerate([*alphabet, '<end>'])}
    inner = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, []))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    folder = tmp_path_factory.mktemp('model')
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token='<end>'
    )
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {'n_embd': 16, 'n_layer': 1, 'n_head': 1, 'n_positions': 900}
    shape = transformers.GPT2Config(vocab_size=len(vocab), **sizes)
    transformers.GPT2LMHeadModel(shape).save_pretrained(folder)
    return folder


@pytest.mark.slow
def test_a_local_model(say, folder, local_model):
    words = ('ask', '--prompts', folder, '--local', local_model)
    done = say(*words, '--name', 'tiny', '--max_tokens', 3)
    assert done.code == 0 and '24 new replies' in done.out, done.errors
    for reply in read_replies(reply_path(folder, 'tiny')).values():
        assert 0 < len(reply.encode()) <= 12
    assert say('score', '--prompts', folder).code == 0
    done = say(*words, '--name', 'chat', '--api', 'chat')
    assert 'its tokenizer has no chat template' in done.errors
    done = say(*words, '--name', 'long', '--max_tokens', 800)
    assert 'the model has 900 positions; write prompts with fewer' in done.errors
