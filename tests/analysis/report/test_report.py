"""The report of a run: numbers of every member, and figures or why there are none."""

import json
import pathlib
import runpy
import sys

import numpy as np
import pytest

from analysis.members.selection import iterate_points
from analysis.report import checks, collect, figures, page, pictures
from analysis.report.choose import choose_members
from analysis.report.evidence import collect_evidence
from analysis.report.outcome import describe_outcome
from analysis.report.playground.describe import describe_playground
from analysis.report.playground.request import AUTO, parse_request
from analysis.report.write import write_report
from anchorjax.errors import StoreError, UserError
from anchorjax.storage import manifest
from anchorjax.storage.reader import Run, open_run
from anchorjax.tasks import AnchorsConfig
from tests.support.converged import mark_converged
from tests.support.sweeps import ROOT, opened, trained


def ignore(line: str) -> None:
    """Takes the lines about progress."""


def select_rows(
    monkeypatch: pytest.MonkeyPatch, sweep: set[str], member: set[str]
) -> None:
    """Leaves only these figures, by the names of their modules, in the report."""
    for table, names in (('SWEEP', sweep), ('MEMBER', member)):
        rows = []
        for row in getattr(figures, table):
            if row.name in names:
                rows.append(row)
        assert len(rows) == len(names)
        monkeypatch.setattr(figures, table, tuple(rows))


@pytest.fixture(scope='module')
def payload(finished: Run) -> dict:
    return collect.collect(finished, ignore)


def test_every_member_has_its_own_numbers_and_insides(finished, payload):
    json.dumps(payload, allow_nan=False)
    points = [point for _, point in iterate_points(finished)]
    assert [member['point'] for member in payload['members']] == points
    steps = len(payload['record_steps'])
    for member in payload['members']:
        agreement = finished.results.sel(member['point']).agreement
        score = float(agreement.sel(probe='unseen', mapping='symmetric'))
        shown = member['numbers']['symmetric on the unseen pair']
        assert shown == pytest.approx(score, rel=1e-3)
        assert member['agreement'][2][1][-1] == pytest.approx(score, rel=1e-3)
        assert np.shape(member['agreement']) == (3, 3, steps)
        assert np.shape(member['train_loss']) == (steps,)
        depth = member['point']['depth']
        assert np.shape(member['attention']['layers']) == (depth, 4, 4)
        assert len(member['embedding']['values']) == 80
        assert len(member['embedding']['xy']) == 80


def test_the_payload_describes_the_run(payload):
    summary = payload['summary']
    assert summary.startswith('8 networks, 0 converged, 8 not converged, 0 diverged')
    assert summary.endswith('converged: train loss at most 0.02')
    assert payload['row_axis'] == 'depth'
    assert payload['unseen']['pair'] == '(4, 3)'
    assert payload['unseen']['symmetric'] == 'x − 6'


def test_the_symmetric_answer_is_explained_for_every_network():
    """Half of the default sweep was never trained on the reversed pair."""
    trained, unseen = AnchorsConfig(), AnchorsConfig(exception='unseen')
    other = AnchorsConfig(noninferential=((3, 4, -7),))
    same_way = 'it treats the reversed pair (3, 4) in the same way'
    expected = {
        (trained,): 'the reversed pair (3, 4) was trained with this answer',
        (unseen,): same_way,
        (trained, unseen): f'{same_way}, which some of the networks were trained on',
    }
    for tasks, because in expected.items():
        assert collect.describe_unseen_pair(list(tasks))['because'] == because
    shown = collect.describe_unseen_pair([trained, other])
    assert shown['symmetric'] == 'x − 6 or x − 7'
    assert shown['inferential'] == 'x − 10'


def test_the_provenance_names_every_environment(finished, payload):
    assert payload['provenance']['experiment']['name'] == 'tiny'
    environments = manifest.read_manifest(finished.folder.workdir).environments
    shown = payload['provenance']['environment']
    assert shown['git_commit'] == environments[0].git_commit
    assert shown['versions'] == environments[0].environment.versions


def test_a_run_without_a_trained_member_is_one_line(tmp_path):
    opened(tmp_path)
    run = open_run(tmp_path)
    with pytest.raises(UserError, match='no member is trained yet'):
        choose_members(run)
    unknown = collect.collect(run, ignore)['members'][0]
    assert unknown['status'] == 'not trained'
    assert unknown['solution'] is None
    assert unknown['numbers']['training loss'] is None
    assert unknown['attention'] is None


def test_a_task_without_an_unseen_pair_is_one_line(tmp_path):
    opened(tmp_path, task__unseen=())
    with pytest.raises(UserError, match=r'task\.unseen = \(\): a solution needs'):
        choose_members(open_run(tmp_path))


def test_the_command_writes_one_page_and_says_what_is_missing(
    launched, tmp_path, monkeypatch
):
    """The run has one snapshot and one layer: no kernel distance, no cosines."""
    select_rows(monkeypatch, {'phase', 'lazy'}, {'curves', 'cosine'})
    path = tmp_path / 'page.html'
    words = ['report.py', '--run', str(launched), '--out', str(path)]
    monkeypatch.setattr(sys, 'argv', words)
    script = pathlib.Path(ROOT) / 'launch' / 'report.py'
    runpy.run_path(str(script), run_name='__main__')
    text = path.read_text()
    # The phase diagram, and the curves of the one member that is shown.
    assert text.count('data:image/png;base64,') == 2
    assert 'the most symmetric member is the most inferential one' in text
    assert 'a single snapshot' in text
    assert 'layer = 2' in text
    assert 'undecided' in text
    assert 'no converged member is inferential' in text
    assert (tmp_path / 'figures' / 'phase.npz').exists()
    assert '| undecided |' in (tmp_path / 'claims.md').read_text()


def test_a_report_elsewhere_leaves_the_run_as_it_is(launched, tmp_path, monkeypatch):
    """A run of others, on a disk that is mounted read-only, can have a report."""
    select_rows(monkeypatch, {'phase'}, {'curves'})
    before = {path: path.stat().st_mtime_ns for path in launched.rglob('*')}
    write_report(open_run(launched), tmp_path / 'page.html', ignore)
    assert {path: path.stat().st_mtime_ns for path in launched.rglob('*')} == before


def test_figures_that_cannot_be_written_end_the_report(launched, tmp_path, monkeypatch):
    """A page without figures would look as if the run did not support them."""
    select_rows(monkeypatch, {'phase'}, set())
    (tmp_path / 'figures').symlink_to(tmp_path / 'gone')
    page_path = tmp_path / 'page.html'
    with pytest.raises(StoreError, match=r'cannot write .*phase\.png'):
        write_report(open_run(launched), page_path, ignore, playground='none')
    assert not page_path.exists()


AXES = {
    'strings': (
        ('optimizer.shape', ('warmup_cosine', 'warmup_drop')),
        ['warmup_cosine', 'warmup_drop'],
    ),
    'tuples': (
        ('task.noninferential', ((), ((3, 4, -6),))),
        ['()', '((3, 4, -6),)'],
    ),
}


@pytest.fixture(scope='module', params=AXES)
def labelled(request, tmp_path_factory) -> tuple[Run, str, list[str]]:
    """A run with a static axis whose values are no numbers; the axis, its labels."""
    loop, labels = AXES[request.param]
    changes = {'grid__seed': (0,), 'train__snapshot_steps': (0, 4)}
    folder = tmp_path_factory.mktemp(request.param)
    run = trained(folder, loop=(loop,), model__depth=2, **changes)
    return run, loop[0].removeprefix('optimizer.').removeprefix('task.'), labels


@pytest.mark.slow
def test_members_are_named_by_the_labels_of_the_axes(labelled):
    run, axis, labels = labelled
    payload = collect.collect(run, ignore)
    assert payload['row_axis'] == axis
    assert payload['axes'][axis] == labels
    shown = [member['point'][axis] for member in payload['members']]
    assert shown == [labels[0]] * 2 + [labels[1]] * 2
    assert all(member['attention'] for member in payload['members'])


def check_figures(run: Run, folder: pathlib.Path) -> None:
    """Draws every figure of the tables, and a page with all of them."""
    chosen = choose_members(run)
    drawn = pictures.draw_all(run, chosen, folder, ignore)
    # Both solutions may have the same member, which is shown once.
    rows = [figure for figure in drawn if figure.module]
    assert [figure.missing for figure in rows] == [None] * len(rows)
    payload = collect.collect(run, ignore)
    payload['figures'] = pictures.describe_figures(drawn)
    evidence = collect_evidence(run, chosen, drawn, ignore)
    payload['claims'] = checks.check_claims(evidence)
    request = parse_request(AUTO)
    payload['playground'] = describe_playground(run, chosen, request, ignore)
    payload['outcome'] = describe_outcome(run, payload['claims'])
    html = page.render(payload)
    assert html.count('data:image/png;base64,') == len(rows)


@pytest.mark.slow
def test_figures_of_axes_that_are_no_numbers(labelled, tmp_path, monkeypatch):
    select_rows(monkeypatch, {'phase', 'condensation_grid'}, {'attention_flow'})
    check_figures(labelled[0], tmp_path)


def compute_figure(run: Run, row: figures.Row) -> pictures.Figure:
    """A figure of the sweep that is not drawn."""
    figure = pictures.Figure(row.name, None, None, row.name, row.title, row.caption)
    _, point = next(iterate_points(run))
    try:
        return figure._replace(result=row.compute(row.module, run, point))
    except UserError as error:
        return figure._replace(missing=str(error))


@pytest.mark.slow
def test_a_run_that_has_not_converged_decides_nothing(finished):
    """40 steps of a tiny network: noise must not hold, nor be the opposite."""
    choices = choose_members(finished)
    drawn = [compute_figure(finished, row) for row in figures.SWEEP]
    missing = {figure.name: figure.missing for figure in drawn if figure.missing}
    # All others show unconverged members too.
    assert list(missing) == ['mechanisms', 'pair_order']
    assert missing['mechanisms'].startswith('no converged member')
    assert missing['pair_order'] == 'no member has converged'
    evidence = collect_evidence(finished, choices, drawn, ignore)
    for row in checks.check_claims(evidence):
        allowed = ('undecided', 'not tested by this report')
        assert row['verdict'] in allowed, row


@pytest.mark.slow
def test_every_figure_of_axes_that_are_no_numbers(labelled, tmp_path):
    # 40 steps are too few to converge, and only converged members have mechanisms.
    check_figures(mark_converged(labelled[0]), tmp_path)
