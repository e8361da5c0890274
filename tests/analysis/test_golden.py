"""Committed tables of claims: the networks of members.csv give every verdict."""

import collections
import functools
import re

import pytest

from analysis.__main__ import run_claims
from analysis.figure import PACKAGES, import_claims
from anchorjax import config
from anchorjax.errors import UserError
from tests.support.presets import list_specs
from tests.support.sweeps import ROOT

GALLERY = ROOT / 'analysis' / 'gallery'
MOST_JUDGED = 5  # of a family, which shares the risk: P2 Fig 3 has four and one


@pytest.mark.parametrize('paper', PACKAGES)
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


def test_an_empty_table_is_bad_input(tmp_path):
    members = tmp_path / 'members.csv'
    members.touch()
    with pytest.raises(UserError, match='cannot be read as CSV'):
        run_claims(['p1', '--members', str(members), '--out', str(tmp_path / 'out')])


@pytest.mark.parametrize('paper', PACKAGES)
def test_few_claims_of_a_family_are_judged(paper):
    rows = import_claims(paper).CLAIMS
    judged = collections.Counter(row.family for row in rows if row.rule)
    assert max(judged.values()) <= MOST_JUDGED
    keys = [(claim.source, claim.sentence) for claim in rows]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize('paper', PACKAGES)
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


@pytest.mark.parametrize('paper', ['p2', 'p3', 'p4', 'text_tasks'])
def test_claims_are_about_presets_that_exist(paper):
    """Or about one of them with fresh seeds, or another γ: `_08`, `_matched`."""
    for claim in import_claims(paper).CLAIMS:
        for run in claim.runs:
            name = re.sub(r'(_(fresh|matched|long|\d+))+$', '', run)
            assert name in list_names(), run
