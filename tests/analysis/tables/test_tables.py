"""Tables are read as they were written; patterns of --runs find the folders of runs."""

import pathlib

import pandas as pd
import pytest

from analysis import frame
from analysis.tables.folders import find_run_folders
from analysis.tables.text import format_csv
from anchorjax.errors import UserError
from anchorjax.storage.manifest import MANIFEST_FILE


@pytest.mark.parametrize('name', ['007', 'nan', '1e3', 'True', 'NA', 'phase'])
def test_the_name_of_a_run_is_a_text(tmp_path, name):
    members = pd.DataFrame(
        {'run': [name, name], 'seed': [0, 1], 'converged': [True, False]}
    )
    path = tmp_path / 'members.csv'
    path.write_text(format_csv(members))
    pd.testing.assert_frame_equal(frame.read_csv(path), members, check_dtype=False)


@pytest.mark.parametrize('row', ['a,zero,True', 'a,0,', 'a,,True', 'a,0.5,True'])
def test_what_is_no_seed_or_flag_is_refused_in_one_line(tmp_path, row):
    path = tmp_path / 'members.csv'
    path.write_text(f'run,seed,converged\n{row}\n')
    with pytest.raises(UserError, match=r'members\.csv: cannot be read as CSV'):
        frame.read_csv(path)


@pytest.fixture
def runs(tmp_path, monkeypatch) -> pathlib.Path:
    """A folder of two runs, which is the current one, and of a folder that is none."""
    for name in ('b', 'a'):
        (tmp_path / name).mkdir()
        (tmp_path / name / MANIFEST_FILE).touch()
    (tmp_path / 'c').mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_patterns_find_runs_in_the_order_of_their_names(runs):
    for pattern in ('*', './*', f'{runs}/*', '**'):
        found = find_run_folders([pattern])
        assert [folder.name for folder in found] == ['a', 'b']
    assert find_run_folders(['a/', 'a']) == [pathlib.Path('a')]


def test_the_folder_one_is_in_is_found_with_its_name(runs, monkeypatch):
    monkeypatch.chdir(runs / 'a')
    for pattern in ('.', './'):
        assert find_run_folders([pattern]) == [runs / 'a']
    (runs / 'a' / 'figures').mkdir()
    monkeypatch.chdir(runs / 'a' / 'figures')
    assert find_run_folders(['..']) == [runs / 'a']


@pytest.mark.parametrize(
    ('name', 'patterns', 'found'),
    [
        ('fresh[1]', ['fresh[1]'], ['fresh[1]']),
        ('fresh[1]', ['a', 'fresh[1]', 'c'], ['a', 'fresh[1]']),  # as a shell gives *
        ('[ab]', ['[ab]'], ['[ab]']),  # not the runs that the pattern would match
        ('lr=[1e-3]/d', ['lr=[1e-3]/*'], ['d']),
        ('lr=[1e-3]/d', ['**'], ['a', 'b', 'd']),
        ('d', ['d', './d', 'c/../d'], ['d']),
    ],
)
def test_what_exists_is_taken_literally(runs, name, patterns, found):
    (runs / name).mkdir(parents=True)
    (runs / name / MANIFEST_FILE).touch()
    assert [folder.name for folder in find_run_folders(patterns)] == found


@pytest.mark.parametrize('pattern', ['.', '/', '', 'c', '**x', 'a/**x'])
def test_a_pattern_of_no_run_is_one_line(runs, pattern):
    with pytest.raises(UserError, match=r'--runs .*: no folder of a run matches'):
        find_run_folders([pattern])
