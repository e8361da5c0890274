"""The command line: write, ask a stub server or a tiny local model, score."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from analysis import replies
from analysis.members.solution import find_solutions
from analysis.p1 import phase
from anchorjax import config
from anchorjax.errors import UserError
from anchorjax.prompts.prompt_files import make_prompts, read_folder, reply_path
from anchorjax.prompts.reply_files import open_replies
from anchorjax.prompts.scores import make_cube
from tests.support.in_process import run
from tests.support.p2_tasks import make_experiment
from tests.support.stub_endpoint import serve, solve
from tests.support.sweeps import TINY_FILE

KEY = 'sk-never-to-be-seen'


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
    """Prompts of two settings of the tiny config, two of each probe and seed."""
    words = ['write', '--config', TINY_FILE, '--out', tmp_path, '--number', 2]
    words += ['--config.loop', "(('task.order',('key_first','anchors_first')),)"]
    done = say(*words, '--shots', 1)
    assert done.code == 0 and '24 prompts' in done.out, done.errors
    return tmp_path


def test_write_ask_and_score(say, folder):
    for solution in ('inferential', 'symmetric', 'wrong', 'prose'):
        with serve(solution) as stub:
            words = ['ask', '--prompts', folder, '--endpoint', stub.address]
            words += ['--model', f'lab/{solution}', '--per_minute', 1e9]
            done = say(*words)
            assert done.code == 0, done.errors
            assert '24 new replies, 24 in all' in done.out
            assert '24/24' in done.errors
            assert '0 new replies, 24 in all' in say(*words).out
            assert len(stub.bodies) == 24
            assert stub.bodies[0]['temperature'] == 0
    done = say('score', '--prompts', folder)
    assert done.code == 0, done.errors
    for path in folder.rglob('*'):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes()

    cube = xr.load_dataset(folder / 'results.nc')
    assert cube.trained.all() and cube.sizes['seed'] == 2
    unseen = cube.sel(probe='unseen').mean(['order', 'seed', 'gamma'])
    unseen = unseen.mean(['learning_rate', 'weight_decay'])
    expected = {
        'inferential': (1, 0, 0, 0),
        'symmetric': (0, 1, 0, 0),
        'wrong': (0, 0, 1, 0),
        'prose': (0, 0, 0, 1),
    }
    for model, numbers in expected.items():
        row = unseen.sel(model=model)
        agreement = row.agreement.sel(mapping=['inferential', 'symmetric']).values
        found = (*agreement, row.neither.item(), row.unparsable.item())
        np.testing.assert_array_equal(found, numbers, err_msg=model)
    zero = unseen.deviation.sel(model='inferential', offset='0').item()
    four = unseen.deviation.sel(model='symmetric', offset='4').item()
    assert zero == four == 1
    assert unseen.deviation.sel(model='prose').sum() == 0
    assert unseen.deviation.sel(model='wrong', offset='beyond') == 1


def test_the_cube_is_read_as_that_of_our_members(folder):
    prompts = read_folder(folder)
    said = {}
    for prompt in prompts.list_prompts():
        said[prompt.id] = solve(prompt.prompt, 'inferential')
    cube = make_cube(prompts, {'a': said}).sel(model='a')
    seen = cube.agreement.sel(probe='seen_train', mapping='assigned')
    # It composes the trained exception (3, 4) as well: one of the 15 trained pairs.
    assert float(seen.min()) >= 0.5
    assert (find_solutions(cube).values == 'inferential').all()
    diagram = phase.compute(cube)
    assert diagram.fixed[0].tolist() == [[1.0], [1.0]]
    figure = replies.compute(make_cube(prompts, {'a': said}))
    assert figure.share_YXA[:, 0].tolist() == [[1, 0, 0, 0]] * 2


def test_a_part_of_the_replies_counts_as_not_trained(folder):
    prompts = read_folder(folder)
    first = prompts.list_prompts()[0]
    cube = make_cube(prompts, {'a': {first.id: '7'}})
    assert not cube.trained.any()
    assert float(cube.replies.sum()) == 1
    with pytest.raises(UserError, match='a: a reply to elsewhere: there is no such'):
        make_cube(prompts, {'a': {'elsewhere': '7'}})
    with pytest.raises(UserError, match='a: no replies'):
        make_cube(prompts, {'a': {}})


def test_a_file_without_replies_is_left_out_of_the_scores(say, folder):
    """A failed `ask` leaves one; the others count all the same."""
    prompts = read_folder(folder)
    empty = reply_path(folder, 'empty')
    with open_replies(empty, {'model': 'empty'}):
        pass
    done = say('score', '--prompts', folder)
    assert done.code == 2 and 'no replies (*.jsonl)' in done.errors
    assert done.errors.count('\n') == 1
    rows = []
    for prompt in prompts.list_prompts():
        rows.append(json.dumps({'id': prompt.id, 'reply': '9'}))
    reply_path(folder, 'whole').write_text('\n'.join(rows))
    done = say('score', '--prompts', folder)
    assert done.code == 0
    assert done.errors == f'warning: {empty}: no replies yet; left out\n'
    cube = xr.load_dataset(folder / 'results.nc')
    assert cube.model.values.tolist() == ['whole'] and cube.trained.all()


def test_members_of_a_sweep_are_shown_beside(folder):
    prompts = read_folder(folder)
    said = {}
    for prompt in prompts.list_prompts():
        said[prompt.id] = solve(prompt.prompt, 'symmetric')
    cube = make_cube(prompts, {'a': said})
    members = cube.sel(model='a', drop=True).drop_vars(['neither', 'unparsable'])
    members = xr.concat([members, members], 'gamma').assign_coords(gamma=[0.3, 0.8])
    members['converged'] = members.converged & (members.gamma > 0.5)
    sweep = SimpleNamespace(results=members, experiment=prompts.experiment)
    figure = replies.compute(cube, sweep)
    assert figure.network_X.tolist() == ['a', 'γ 0.3', 'γ 0.8']
    assert figure.is_member_X.tolist() == [False, True, True]
    assert figure.seeds_YX.tolist() == [[2, 0, 2]] * 2
    np.testing.assert_array_equal(figure.share_YXA[:, 2], [[0, 1, 0, 0]] * 2)
    assert np.isnan(figure.share_YXA[:, 1]).all()
    with pytest.raises(UserError, match='its values of order are not those'):
        replies.compute(cube.isel(order=[0]), sweep)
    asked = members.sel(probe=['seen_train', 'seen_heldout'])
    without = SimpleNamespace(results=asked, experiment=prompts.experiment)
    with pytest.raises(UserError, match='its task has no unseen pair, the prompts'):
        replies.compute(cube, without)
    experiment = make_experiment('transformer')
    other = SimpleNamespace(results=members, experiment=experiment)
    with pytest.raises(UserError, match="its task is 'memory_reasoning', the prompts"):
        replies.compute(cube, other)


def test_bad_input_is_one_line(say, folder, tmp_path, finished):
    other = tmp_path / 'none'
    stub = ('--endpoint', 'http://127.0.0.1:1/v1', '--model', 'm')
    cases = [
        ((), "'': must be one of"),
        (('ask', '--prompts', other, *stub), 'holds no prompts'),
        (('ask', '--prompts', folder, *stub[:2]), '--endpoint needs --model'),
        (('ask', '--prompts', folder, *stub, '--fields', '[]'), 'must be a JSON obj'),
        (('ask', '--prompts', folder, *stub, '--fields', '{'), 'must be a JSON obj'),
        (
            ('ask', '--prompts', folder, *stub, '--fields', '[' * 60_000),
            'must be a JSON',
        ),
        (('ask', '--prompts', folder, *stub, '--per_minute', '0'), 'a positive number'),
        (('ask', '--prompts', folder, *stub, '--timeout', 'x'), "'x': must be a posi"),
        (('ask', '--prompts', folder, *stub, '--timeout', '1e9'), 'at most 86400'),
        (('ask', '--prompts', folder, *stub, '--name', '../x'), "'../x': must be"),
        (('score', '--prompts', other), 'holds no prompts'),
        (('write', '--config', TINY_FILE, '--out', folder), 'holds other prompts'),
        (('write', '--config', 'configs/scan.py', '--out', other), 'task.name'),
    ]
    for words, line in cases:
        done = say(*words)
        assert (done.code, done.errors.count('\n')) == (2, 1), (words, done.errors)
        assert line in done.errors, done.errors
    done = say('ask', '--prompts', folder, *stub, '--retries', '0')
    assert (done.code, done.errors.count('\n')) == (1, 1)  # it may answer later
    assert 'no answer' in done.errors
    text = (folder / 'prompts.jsonl').read_text()
    (folder / 'prompts.jsonl').write_text(text.replace('= 4', '= 5', 1))
    done = say('score', '--prompts', folder)
    assert 'prompts.jsonl: not the prompts of settings.json' in done.errors
    (folder / 'prompts.jsonl').write_text(text)
    path = reply_path(folder, 'm')
    path.unlink(missing_ok=True)
    assert 'no replies (*.jsonl)' in say('score', '--prompts', folder).errors
    first = json.loads(text.splitlines()[0])['id']
    path.write_text(json.dumps({'id': first, 'reply': '9'}) + '\n')
    done = say('score', '--prompts', folder, '--run', finished.folder.workdir)
    assert "its static axes are ['depth'], the prompts ['order']" in done.errors


def test_a_file_of_somebody_else_is_not_replaced(say, tmp_path):
    path = tmp_path / 'prompts.jsonl'
    path.write_text('my own\n')
    words = ('write', '--config', TINY_FILE, '--out', tmp_path, '--number', 2)
    done = say(*words)
    assert (done.code, done.errors.count('\n')) == (2, 1)
    assert f'{path}: another file; give another --out' in done.errors
    assert path.read_text() == 'my own\n'
    path.unlink()
    assert say(*words).code == 0
    (tmp_path / 'settings.json').unlink()  # as an interrupted call leaves it
    assert say(*words).code == 0


def test_prompts_that_are_no_text_are_one_line(say, folder):
    path = folder / 'prompts.jsonl'
    path.write_bytes(b'\xff' + path.read_bytes())
    done = say('score', '--prompts', folder)
    assert (done.code, done.errors.count('\n')) == (2, 1)
    assert 'prompts.jsonl: not the prompts of settings.json' in done.errors


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
    words = ('ask', '--prompts', folder, '--local', local_model, '--name', 'tiny')
    done = say(*words, '--max_tokens', 3)
    assert done.code == 0, done.errors
    assert '24 new replies' in done.out
    rows = reply_path(folder, 'tiny').read_text().splitlines()
    assert len(rows) == 25 and json.loads(rows[1])['finish'] == 'length'
    assert 0 < len(json.loads(rows[1])['reply'].encode()) <= 12
    assert say('score', '--prompts', folder).code == 0
    done = say(*words, '--max_tokens', 4)
    assert 'asked with other settings: max_tokens = 3, now 4' in done.errors
    done = say(*words, '--api', 'chat')
    assert 'its tokenizer has no chat template' in done.errors
    long = ('--max_tokens', 800, '--name', 'long')
    done = say(*words[:-2], *long)
    assert (
        'the model has 900 positions; write prompts with fewer --shots' in done.errors
    )


def test_a_local_folder_without_a_model_is_one_line(say, folder, tmp_path):
    done = say('ask', '--prompts', folder, '--local', tmp_path / 'nothing')
    assert done.code == 2 and done.errors.count('\n') == 1


def test_prompts_of_all_cohorts_have_ids_of_their_own():
    prompts = make_prompts(config.resolve(config.default()), 5, 2, instruct=False)
    ids = [prompt.id for prompt in prompts.list_prompts()]
    assert len(set(ids)) == len(ids) == 15
