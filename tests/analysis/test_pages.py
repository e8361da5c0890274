"""README, RESULTS and the gallery: their numbers of ours come from committed tables."""

import functools
import pathlib
import re
from types import SimpleNamespace

import pytest

from analysis import pages, papers
from analysis.claims import VERDICTS
from analysis.figure import find_figures
from analysis.pages import PAGES, WORDS, gallery

# What no table holds yet: settings of a machine, and its times (costs.md).
UNBOUND = {'README.md.j2': ('Two commands', 'Reproduce a figure')}
TEMPLATES = sorted(papers.ANALYSIS.glob('*/*.md.j2'))
SOURCES = (*TEMPLATES, *sorted(papers.ANALYSIS.glob('*/gallery.toml')))
NUMBER = re.compile(r'(?<![\w.])\d*\.\d+(?![\w.])')
INTEGER = re.compile(r'(?<![\w.:,+−])(?!20\d\d)\d{3,}(?![\w.,:])')  # but a year
# In prose too, without bold: what decides is the table. A sentence about the rule, or
# of the papers, may have them.
VERDICT = re.compile(rf'\b(?:{"|".join(VERDICTS)})\b')
# What the words of the gallery say is compared with the tables (test_gallery.py).
COUNTED = re.compile(
    rf'\b(?:{"|".join(WORDS[2:])}|\d+) (?:\w+ )?(?:seeds|networks|cells)\b|\bFigs? \d+',
    re.IGNORECASE,
)
FREE = {'README.md.j2', 'RESULTS.md.j2'}


@pytest.mark.parametrize('page', PAGES)
def test_the_committed_page_is_what_its_template_and_the_tables_give(page):
    assert pages.render(page) == (pages.ROOT / page).read_text()


def list_sections(source: pathlib.Path) -> list[str]:
    """The sections of a template, without addresses, settings, code and links."""
    text = source.read_text()
    text = re.sub(r'\{\{.*?\}\}|\{%.*?%\}|```.*?```', '', text, flags=re.DOTALL)
    text = re.sub(
        r'^    .*$|<[^>]*>|`[^`\n]*`|\]\([^)]*\)', '', text, flags=re.MULTILINE
    )
    text = re.sub(r'(?<=\d),(?=\d{3}\b)', '', text)  # 1,781
    return re.split(r'^## ', text, flags=re.MULTILINE)


@pytest.mark.parametrize('source', SOURCES, ids=lambda path: '/'.join(path.parts[-2:]))
def test_a_template_has_no_number_or_verdict_of_its_own(source):
    """Nor a count, nor a figure; but for settings and the papers' numbers."""
    for section in list_sections(source):
        found = VERDICT.findall(section)
        if not section.startswith(UNBOUND.get(source.name, ())):
            found += NUMBER.findall(section)
            found += COUNTED.findall(section) if source.name in FREE else []
            for number in INTEGER.findall(section):
                if float(number) not in find_settings():
                    found.append(number)
        assert not found, f'{section.splitlines()[0]}: {found}'


@functools.cache
def find_settings() -> set[float]:
    """Every number of PAPERS.md, of a configuration, and of an axis of the networks."""
    texts = [(pages.ROOT / 'PAPERS.md').read_text()]
    texts += [path.read_text() for path in (pages.ROOT / 'configs').glob('*.py')]
    found = re.findall(r'\d+\.?\d*(?:e-?\d+)?', ' '.join(texts).replace(',', ''))
    settings = {float(number) for number in found}
    for package in ('p1', 'p2', 'p3', 'p4', 'text_tasks', 'law'):
        table = pages.read_cells(f'{package}/members')
        for column in (
            'gamma',
            'gamma_at_400',
            'learning_rate',
            'weight_decay',
            'seed',
        ):
            if column in table:
                settings |= set(table[column].round(3)) | set(table[column].round(2))
    return settings


def test_what_stands_in_backticks_is_a_setting_or_a_papers_number():
    settings = find_settings()
    for source in TEMPLATES:
        text = source.read_text()
        text = re.sub(r'\{\{.*?\}\}|\{%.*?%\}', '', text, flags=re.DOTALL)
        for number in re.findall(r'`[+−]?(\d*\.\d+)(?: %)?`', text):
            is_share = round(float(number) * 100, 3) in settings
            assert float(number) in settings or is_share, f'{source}: {number}'


def test_the_readme_has_the_figures_of_its_modules():
    readme = (pages.ROOT / 'README.md').read_text()
    rows = re.findall(r'^\| (P1 Figs? [^|]*) \| [^|]* \| (`[^|]*) \|', readme, re.M)
    assert rows
    for paper, names in rows:
        drawn = set()
        for name in re.findall(r'`(\w+)`', names):
            drawn |= gallery.list_figures(find_figures()[name])
        named = SimpleNamespace(__name__='analysis.p1.row', PAPER=paper)
        assert gallery.list_figures(named) == drawn, paper


def pick(changed, cells, name):
    table = changed(name)
    return cells(name) if table is None else table


def test_a_changed_network_moves_the_page(monkeypatch):
    """Cells of a table of networks, which a page counts and averages."""
    committed = (pages.ROOT / 'RESULTS.md').read_text()
    table = pages.read_cells('p1/members')
    is_pair = table.run == 'paper_size_pair'
    for column, value in (
        ('unseen_symmetric', 0.5),
        ('unseen_composed', 0.5),
        ('converged', False),
    ):
        changed = table.copy()
        changed[column] = changed[column].mask(is_pair, value)
        with monkeypatch.context() as patch:
            read = {'p1/members': changed}.get
            cells = pages.read_cells
            patch.setattr(pages, 'read_cells', functools.partial(pick, read, cells))
            assert pages.render('RESULTS.md') != committed, column
