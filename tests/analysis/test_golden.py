"""Committed tables of claims: the networks of members.csv give every verdict."""

import collections
import contextlib
import functools
import io
import re

import pytest

from analysis import claims
from analysis.__main__ import run_claims
from analysis.claims import TODAY
from analysis.papers import NAMES, import_claims
from anchorjax import config
from anchorjax.errors import UserError
from tests.support.sweeps import ROOT, list_specs

GALLERY = ROOT / 'analysis' / 'gallery'
FEW = ('p3', 'law')  # of these a replay takes less than three seconds
MOST_JUDGED = 5  # of a figure, whose rows share the risk by the rule of today


@pytest.mark.parametrize(
    'paper', [n if n in FEW else pytest.param(n, marks=pytest.mark.slow) for n in NAMES]
)
def test_the_committed_members_give_the_committed_verdicts(paper, tmp_path):
    """Byte for byte, members.csv itself included."""
    folder = GALLERY / paper
    members = str(folder / 'members.csv')
    run_claims([paper, '--members', members, '--out', str(tmp_path)])
    for written in tmp_path.glob('*.csv'):
        assert written.read_text() == (folder / written.name).read_text(), written.name


def test_the_table_of_another_paper_is_bad_input(tmp_path):
    members = str(GALLERY / 'p2' / 'members.csv')
    with pytest.raises(UserError, match='is no table of p1'):
        run_claims(['p1', '--members', members, '--out', str(tmp_path)])


OWN_CLAIM = """
from analysis.claims import Claim
from analysis.estimates import Group, level
from analysis.frame import list_usable as tabulate

CLAIMS = (Claim('a.b.c', 'a', 'b', ('run',), level('unseen_composd', Group('', {}))),)
"""


def test_a_column_that_no_network_has_is_bad_input(finished, tmp_path):
    path = tmp_path / 'own.py'
    path.write_text(OWN_CLAIM.replace("'run'", f'{finished.folder.workdir.name!r}'))
    words = [str(path), '--runs', str(finished.folder.workdir), '--out', str(tmp_path)]
    with pytest.raises(UserError, match=r'own\.py.*no column.*unseen_composd'):
        run_claims(words)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ['own.py']


def test_its_tables_are_written_though_nobody_reads_what_it_prints(tmp_path):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    members = str(GALLERY / 'p3' / 'members.csv')
    with contextlib.redirect_stdout(Closed()), pytest.raises(BrokenPipeError):
        run_claims(['p3', '--members', members, '--out', str(tmp_path)])
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {'members.csv', 'verdicts.csv'}


def test_an_empty_table_is_bad_input(tmp_path):
    members = tmp_path / 'members.csv'
    members.touch()
    with pytest.raises(UserError, match='cannot be read as CSV'):
        run_claims(['p1', '--members', str(members), '--out', str(tmp_path / 'out')])


@pytest.mark.parametrize('paper', NAMES)
def test_few_claims_of_a_family_are_judged(paper):
    rows = import_claims(paper).CLAIMS
    judged = collections.Counter(row.family for row in rows if row.day == TODAY)
    assert max(judged.values(), default=0) <= MOST_JUDGED
    keys = [(claim.source, claim.sentence) for claim in rows]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize('paper', NAMES)
def test_an_address_is_of_one_row_of_its_paper(paper):
    """PAPER.FIGURE.NETWORKS.NUMBER, in letters that a template can write."""
    addresses = [claim.address for claim in import_claims(paper).CLAIMS]
    assert len(set(addresses)) == len(addresses)
    for address in addresses:
        assert re.fullmatch(rf'{paper}(\.[a-z][a-z0-9_]*){{3}}', address), address


@functools.cache
def list_names():
    """The names of the sweeps of all presets."""
    return {config.load(spec).name for spec in list_specs()}


def find_origin(run, commands):
    """The preset that trained a run, its own command, or None.

    A preset with fresh seeds, or another γ, has a longer name: `_08`, `_matched`.
    """
    name = run
    while name not in list_names():
        shorter = re.sub(r'_(fresh|matched|long|\d+)$', '', name)
        if shorter == name:
            named = re.search(rf'(runs/|config\.name=){re.escape(run)}\b', commands)
            return named and named[0]
        name = shorter
    return name


@pytest.mark.parametrize('paper', NAMES)
def test_claims_are_about_presets_or_have_their_command(paper):
    pages = (GALLERY / 'log').glob('*.md')
    commands = '\n'.join(page.read_text() for page in pages)
    for claim in import_claims(paper).CLAIMS:
        for run in claim.runs:
            assert find_origin(run, commands), run
    assert not find_origin('law_of_nobody_fresh', commands)


def test_every_network_of_p1_is_read_by_a_claim():
    runs = {run for claim in import_claims('p1').CLAIMS for run in claim.runs}
    assert set(claims.read_table(GALLERY / 'p1' / 'members.csv').run) <= runs
