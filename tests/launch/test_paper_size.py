"""launch/paper_size.py in tiny sizes: stages, budget, what it leaves, what travels."""

import functools
import itertools
import json
import shutil
import subprocess
import tarfile

import pandas as pd
import pytest

from anchorjax.bench import precisions
from anchorjax.config import PRECISIONS
from anchorjax.storage import portable
from anchorjax.storage.reader import open_run
from anchorjax.sweeps import stages
from anchorjax.training import devices
from tests.support import in_process
from tests.support.sweeps import ROOT, bits

# What is committed of --out.
TABLES = {'stages.md', 'members.csv', 'bench.csv', 'results.tar.gz'}
SWEEPS = ('paper_30', 'full', 'depths')
# Looks at the clock up to the first piece of paper_30's first chunk: the middle of it.
LOOKS = 6


@pytest.fixture
def launch(monkeypatch, capsys):
    """Runs the command; the budget is a number of looks at the clock."""
    monkeypatch.setattr(devices, 'use_every_core', lambda: None)
    real_budget = stages.Budget

    def run(folder, *words, looks=10**9):
        clock = itertools.count().__next__
        budget = functools.partial(real_budget, clock=clock)
        monkeypatch.setattr(stages, 'Budget', budget)
        line = ['--shrink', '--out', folder / 'out', '--root', folder / 'root']
        line += ['--budget_s', looks, '--reserve_s', 0, *words]
        words = [str(word) for word in line]
        return in_process.run('paper_size.py', words, monkeypatch, capsys)

    return run


def read_states(folder):
    ledger = json.loads((folder / 'root' / 'stages.json').read_text())
    return {name: entry['state'] for name, entry in ledger.items()}


def read_tables(folder):
    return {name: (folder / 'out' / name).read_bytes() for name in TABLES}


def read_curves(folder):
    """The curves of all chunks of all sweeps, by sweep, cohort and chunk."""
    curves = {}
    for name in SWEEPS:
        for chunk in open_run(folder / 'root' / name).folder.chunks:
            arrays = chunk.folder.read_curves()
            key = (name, chunk.cohort.name, chunk.index)
            curves[key] = {field: x.tobytes() for field, x in arrays.items()}
    return curves


@pytest.mark.slow
def test_a_budget_that_ends_and_a_new_machine_change_no_bit(launch, tmp_path):
    whole = launch(tmp_path / 'whole')
    assert whole.code == 0, whole.errors
    names = ['bench_first', *SWEEPS, 'bench']
    states = read_states(tmp_path / 'whole')
    assert list(states.items()) == [(name, 'done') for name in names]
    # Nothing is left to do, so there is nothing new to commit.
    kept = read_tables(tmp_path / 'whole')
    assert launch(tmp_path / 'whole').code == 0
    assert read_tables(tmp_path / 'whole') == kept

    # On one machine, whose folder stays.
    here = tmp_path / 'here'
    first = launch(here, looks=LOOKS)
    assert first.code == 75
    assert 'the budget is over and all is saved' in first.errors
    assert read_states(here) == {'bench_first': 'done', 'paper_30': 'stopped'}
    saved = [path.name for path in (here / 'root').rglob('resume/*')]
    assert saved
    there = tmp_path / 'there'
    left = shutil.copytree(here / 'out', there / 'out')
    calls = 1
    while launch(here, looks=40).code == 75:
        calls += 1
    assert 1 < calls < 20
    for name in SWEEPS:
        assert bits(here / 'root' / name) == bits(tmp_path / 'whole' / 'root' / name)

    # On a machine that has only what the first call left, in the folder of the next.
    listed = launch(there, '--state', left, '--only', 'bench_first')
    assert listed.code == 0 and 'paper_30' in listed.out
    assert [path.name for path in (there / 'root').rglob('resume/*')] == saved
    assert launch(there, '--state', left).code == 0
    assert read_curves(there) == read_curves(tmp_path / 'whole')

    members = (tmp_path / 'whole' / 'out' / 'members.csv').read_text()
    assert (here / 'out' / 'members.csv').read_text() == members
    assert (there / 'out' / 'members.csv').read_text() == members
    check_out(tmp_path / 'whole')


def check_out(folder):
    """The files of --out: few, small, and with everything that the command promises."""
    files = {path.name for path in (folder / 'out').iterdir()}
    assert files == TABLES | {'state_1_of_1.tar'}
    members = pd.read_csv(folder / 'out' / 'members.csv')
    assert members.groupby('stage').trained.sum().to_dict() == {
        'depths': 4,
        'full': 2,
        'paper_30': 6,
    }
    with tarfile.open(folder / 'out' / 'results.tar.gz') as tar:
        assert tar.getnames() == [f'{name}/results.nc' for name in SWEEPS]
    with tarfile.open(folder / 'out' / 'state_1_of_1.tar') as tar:
        snapshots = [name for name in tar.getnames() if '/snapshots/' in name]
    assert snapshots and all(name.startswith('full/') for name in snapshots)
    check_bench(pd.read_csv(folder / 'out' / 'bench.csv'))
    text = (folder / 'out' / 'stages.md').read_text()
    assert '| paper_30 | done | 6 of 6 | 100.0% |' in text
    assert '| tensorfloat32 | 4 |' in text


def check_bench(bench):
    """Rows of the full bench that have every precision and every number of lanes."""
    rows = list(zip(bench.precision, bench.lanes, strict=True))
    assert rows[0] == precisions.list_rows()[0]
    assert set(rows) <= set(precisions.list_rows())
    assert set(bench.precision) == set(PRECISIONS)
    assert set(bench.lanes) == set(precisions.LANES)
    assert (bench.share_of_matmul > 0).all()
    # Products of bfloat16 arrays are measured beside that precision alone.
    assert ((bench.native_teraflops > 0) == (bench.precision == 'bfloat16')).all()


@pytest.mark.skipif(not shutil.which('git'), reason='git is not installed')
def test_git_adds_what_the_command_leaves_without_the_state(tmp_path):
    out = tmp_path / 'analysis' / 'gallery' / 'paper_gpu'
    out.mkdir(parents=True)
    for name in TABLES:
        (out / name).touch()
    (tmp_path / 'bench.json').write_text('[]')
    portable.pack_state(tmp_path, out, 2**20, ['bench.json'], part_bytes=4096)
    assert len(list(out.glob('state_*'))) > 1
    shutil.copy(ROOT / '.gitignore', tmp_path)
    for words in (['init', '--quiet'], ['add', out]):
        subprocess.run(['git', *words], cwd=tmp_path, check=True)
    listed = subprocess.check_output(['git', 'ls-files', out], cwd=tmp_path, text=True)
    assert {line.rpartition('/')[2] for line in listed.splitlines()} == TABLES


@pytest.mark.slow
def test_a_stage_that_fails_is_in_the_table_and_the_next_one_goes_on(launch, tmp_path):
    (tmp_path / 'root').mkdir()
    for name in ('paper_30', 'depths'):
        (tmp_path / 'root' / name).write_text('in the way')
    said = launch(tmp_path)
    assert said.code == 1
    assert 'paper_30 failed: cannot use' in said.errors
    states = read_states(tmp_path)
    expected = {'bench_first': 'done', 'paper_30': 'failed', 'full': 'done'}
    assert states == expected | {'depths': 'failed', 'bench': 'done'}
    assert '| paper_30 | failed: cannot use' in (tmp_path / 'out/stages.md').read_text()


def test_it_lists_its_stages_at_their_real_size(launch, monkeypatch, capsys):
    said = in_process.run('paper_size.py', ['--list'], monkeypatch, capsys)
    assert said.code == 0
    lines = [' '.join(line.split()) for line in said.out.splitlines()]
    assert lines == [
        'bench_first 0 of 1 rows',
        'paper_30 0 of 54 members 0 of 599,400 member-steps',
        'full 0 of 2 members 0 of 155,400 member-steps',
        'depths 0 of 8 members 0 of 88,800 member-steps',
        'bench 0 of 9 rows',
    ]


@pytest.mark.parametrize(
    ('words', 'part'),
    [
        ([], '--out is missing'),
        (['--out', 'x', '--budget_s', '80'], '--budget_s=80: must be more than twice'),
        (['--out', 'x', '--reserve_s', '-1'], 'must be more than twice --reserve_s'),
        (['--out', 'x', '--state_mb', '0'], '--state_mb=0: must be from 1 to 4096'),
        (['--out', 'x', '--only', 'fast'], "invalid choice: 'fast'"),
        (['--out', 'x', '--state', 'absent'], 'absent holds no state'),
        (['--out', 'README.md'], 'cannot use README.md: README.md is not a folder'),
        (['--out', 'README.md/x'], 'cannot use README.md/x: README.md is not a fold'),
        (['--out', ''], "argument --out: '': must be the path of a folder"),
    ],
)
def test_a_mistake_is_one_line(launch, monkeypatch, capsys, tmp_path, words, part):
    words = [*words, '--shrink', '--root', str(tmp_path / 'root')]
    said = in_process.run('paper_size.py', words, monkeypatch, capsys)
    assert said.code == 2
    assert said.errors.startswith('error: ') and part in said.errors
    assert len(said.errors.splitlines()) == 1
    assert not list(tmp_path.iterdir())
