"""Stages in order, under a budget: what is done, stopped, failed, and written down."""

import itertools
import tarfile

import pytest

from anchorjax.bench import precisions
from anchorjax.errors import StoreError
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.portable import pack_state
from anchorjax.storage.sweep_folder import read_folder
from anchorjax.sweeps import stages
from anchorjax.sweeps.ledger import LEDGER_FILE, Entry, read_ledger, write_ledger
from anchorjax.sweeps.signals import Preempted
from anchorjax.sweeps.stage_tables import collect_tables, describe_stages
from tests.support.faults import ONE
from tests.support.sweeps import experiment, opened


class Work:
    """Stages that count: a piece adds one to its stage and notes its name."""

    def __init__(self):
        self.log = []
        self.done = {}
        self.kept = 0

    def make(self, name, num_pieces=2, fail=None, rate=0.0, operations=0.0):
        self.done[name] = 0

        def piece(should_stop):
            self.log.append(name)
            if should_stop():
                raise Preempted
            if fail is not None:
                raise fail
            self.done[name] += 1

        def measure():
            return stages.Amount(self.done[name], num_pieces, f'{self.done[name]} of 2')

        return stages.Stage(
            name, [piece] * num_pieces, measure, lambda: rate, operations
        )

    def keep(self):
        self.kept += 1


def never():
    return False


def make_budget(num_looks, reserve=0):
    """A budget whose clock advances by one whenever somebody looks at it."""
    return stages.Budget(num_looks, reserve, never, itertools.count().__next__)


def test_stages_run_in_order_and_what_is_done_is_skipped():
    work = Work()
    made = [work.make('a'), work.make('b'), work.make('c', 1)]
    work.done['b'] = 2
    ledger = {}
    assert stages.run_stages(made, make_budget(1e9), ledger, 'a device', work.keep)
    assert work.log == ['a', 'a', 'c']
    assert work.kept == 3
    states = {name: (entry.state, entry.device) for name, entry in ledger.items()}
    assert states == {
        'a': ('done', 'a device'),
        'b': ('done', ''),
        'c': ('done', 'a device'),
    }


def test_the_budget_ends_a_piece_and_nothing_begins_after_it():
    work = Work()
    made = [work.make('a'), work.make('b')]
    ledger = {}
    # Looks: before the stage, before and in its first piece, before and in its second.
    assert not stages.run_stages(made, make_budget(5), ledger, '', work.keep)
    assert work.log == ['a', 'a']
    assert (work.done['a'], work.kept) == (1, 2)
    assert {name: entry.state for name, entry in ledger.items()} == {'a': 'stopped'}
    assert stages.run_stages(made, make_budget(1e9), ledger, '', work.keep)
    assert work.done == {'a': 3, 'b': 2}


def test_no_piece_begins_in_the_reserve_before_the_last_second():
    budget = make_budget(10, reserve=3)  # stops at 7, and begins nothing from 4 on
    looks = [budget.is_too_late() for _ in range(4)]
    assert looks == [False, False, False, True]
    assert [budget.is_over() for _ in range(3)] == [False, False, True]


def test_a_signal_ends_the_budget():
    budget = stages.Budget(1e9, 0, is_requested=lambda: True)
    assert budget.is_over() and budget.is_too_late()


@pytest.mark.parametrize(
    ('error', 'part'),
    [
        (StoreError('a|b is damaged'), 'a/b is damaged'),
        (KeyError('gone'), "KeyError: 'gone' (test_stages.py, line "),
    ],
)
def test_a_stage_that_fails_is_reported_and_the_next_one_goes_on(capsys, error, part):
    work = Work()
    made = [work.make('a', fail=error), work.make('b')]
    ledger = {}
    assert stages.run_stages(made, make_budget(1e9), ledger, '', work.keep)
    assert work.log == ['a', 'b', 'b']
    assert ledger['a'].state == 'failed' and part in ledger['a'].message
    assert f'a failed: {part}' in capsys.readouterr().err
    table = describe_stages(made, ledger, speed=0)
    assert f'| a | failed: {part}' in table and '| b | done |' in table


def test_a_stage_that_cannot_be_measured_is_reported_and_the_next_one_goes_on(capsys):
    work = Work()
    broken, intact = work.make('a'), work.make('b')

    def measure():
        raise KeyError('gone')

    made = [broken._replace(measure=measure), intact]
    ledger = {}
    assert stages.run_stages(made, make_budget(1e9), ledger, '', work.keep)
    assert work.log == ['b', 'b']
    assert {name: entry.state for name, entry in ledger.items()} == {
        'a': 'failed',
        'b': 'done',
    }
    assert "a failed: KeyError: 'gone' (test_stages.py" in capsys.readouterr().err


def make_sweep_stage(root, name):
    """A stage of a tiny sweep that has begun, and whose only piece reads it."""
    opened(root / name, **ONE)

    def measure():
        return stages.measure_sweep(experiment(**ONE), root / name)

    return stages.Stage(name, [lambda _: read_folder(root / name)], measure, float)


def test_a_damaged_sweep_costs_no_other_stage_its_time_or_its_state(tmp_path):
    root, out = tmp_path / 'root', tmp_path / 'out'
    work = Work()
    made = [make_sweep_stage(root, 'a'), make_sweep_stage(root, 'b'), work.make('c')]
    (root / 'a' / MANIFEST_FILE).write_text('{')
    (root / 'a' / 'link').symlink_to(tmp_path)
    tables = []

    def keep():
        collect_tables(root, ['a', 'b'], out)
        assert pack_state(root, out, 2**20, ['a', 'b']) == []
        tables.append(describe_stages(made, ledger, speed=0))

    ledger = {}
    line = f'{root}/a/{MANIFEST_FILE} is not JSON'
    before = describe_stages(made, ledger, speed=0)
    assert f'| a | unknown: {line}' in before and '| ? of 1 | ? | 0 |  | un' in before
    assert stages.run_stages(made, make_budget(1e9), ledger, '', keep)
    assert work.log == ['c', 'c']
    assert f'| a | failed: {line}' in tables[-1] and '| c | done |' in tables[-1]
    with tarfile.open(out / 'state_1_of_1.tar') as tar:
        names = tar.getnames()
    assert names[:2] == [f'b/{MANIFEST_FILE}', 'a']  # others first
    assert f'a/{MANIFEST_FILE}' in names and 'a/link' not in names


def test_a_damaged_table_of_the_bench_is_a_problem_of_its_stage(tmp_path):
    path = tmp_path / 'bench.json'
    path.write_text('{')
    rows = [('float32', 1)]
    stage = precisions.make_stage('bench', rows, precisions.Scale(), path)
    assert not stage.is_done
    assert f'| bench | unknown: {path}' in describe_stages([stage], {}, speed=0)


def test_a_stage_that_fails_after_its_last_member_is_failed_until_it_succeeds(capsys):
    work = Work()
    problems = [StoreError('cannot write tables')]
    (piece, *_), measure, rate = work.make('a', 1)[1:4]

    def write_tables(should_stop):
        if problems:
            raise problems.pop()

    stage = stages.Stage('a', [piece, write_tables], measure, rate)
    ledger = {}
    assert stages.run_stages([stage], make_budget(1e9), ledger, '', work.keep)
    assert stage.is_done and ledger['a'].state == 'failed'
    table = describe_stages([stage], ledger, speed=0)
    assert '| a | failed: cannot write tables |' in table

    assert stages.run_stages([stage], make_budget(1e9), ledger, '', work.keep)
    assert (ledger['a'].state, ledger['a'].message) == ('done', '')
    assert '| a | done |' in describe_stages([stage], ledger, speed=0)


def test_the_table_estimates_what_is_left_from_the_rate_or_from_the_speed():
    work = Work()
    made = [work.make('a', 100), work.make('b', 100, operations=1e6), work.make('c')]
    work.done['a'] = 40
    ledger = {'a': Entry(state='stopped', seconds=12.0, rate=2.0, device='gpu')}
    lines = describe_stages(made, ledger, speed=2e4).splitlines()[2:]
    assert lines == [
        '| a | stopped | 40 of 2 | 40.0% | 12 | 2 | about 30 s | gpu |',
        '| b | waiting | 0 of 2 | 0.0% | 0 |  | about 50 s |  |',
        '| c | waiting | 0 of 2 | 0.0% | 0 |  | unknown |  |',
    ]


def test_the_ledger_is_read_back_and_a_damaged_one_is_only_a_warning(tmp_path, capsys):
    assert read_ledger(tmp_path) == {}
    ledger = {'a': Entry('done', 1.5, 20.0, 'gpu'), 'b': Entry('failed', message='x')}
    write_ledger(tmp_path, ledger)
    assert read_ledger(tmp_path) == ledger
    for text in ('{', '[]', '{"a": 1}', '{"a": {"state": 1}}'):
        (tmp_path / LEDGER_FILE).write_text(text)
        assert read_ledger(tmp_path) == {}
        assert LEDGER_FILE in capsys.readouterr().err
