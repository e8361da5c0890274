"""README, RESULTS and the gallery: their numbers of ours come from committed tables."""

import functools
import re

import pytest

from analysis import pages
from analysis.claims import VERDICTS, read_table
from analysis.pages import PAGES, TEMPLATES, Row

# What no table holds yet: settings of a machine, and its times (costs.md).
UNBOUND = {
    'RESULTS.md.j2': ('What does it cost?',),
    'README.md.j2': ('Two commands',),
}
SOURCES = (*dict.fromkeys(TEMPLATES.values()), 'gallery.toml')
NUMBER = re.compile(r'(?<![\w.])\d*\.\d+(?![\w.])')
VERDICT = re.compile(rf'\*\*(?:{"|".join(VERDICTS)})\*\*')


render = functools.cache(pages.render)  # once a page, not for every mistake


def check(page: str, text: str) -> bool:
    return text == render(page)


@pytest.mark.parametrize('page', PAGES)
def test_the_committed_page_is_what_its_template_and_the_tables_give(page):
    assert check(page, (pages.ROOT / page).read_text())


def list_sections(source: str) -> list[str]:
    """The sections of a template whose numbers are bound, without settings."""
    text = (pages.FOLDER / source).read_text()
    text = re.sub(r'\{\{.*?\}\}|\{%.*?%\}|```.*?```', '', text, flags=re.DOTALL)
    text = re.sub(r'^    .*$|`[^`\n]*`|\]\([^)]*\)', '', text, flags=re.MULTILINE)
    sections = re.split(r'^## ', text, flags=re.MULTILINE)
    unbound = UNBOUND.get(source, ())
    return [one for one in sections if not one.startswith(unbound)]


@pytest.mark.parametrize('source', SOURCES)
def test_a_template_has_no_number_or_verdict_of_its_own(source):
    """But for settings and the papers' numbers, in backticks."""
    for section in list_sections(source):
        found = NUMBER.findall(section) + VERDICT.findall(section)
        assert not found, f'{section.splitlines()[0]}: {found}'


@pytest.mark.parametrize('page', PAGES)
def test_a_number_or_verdict_changed_by_hand_is_noticed(page):
    text = render(page)
    places = [*NUMBER.finditer(text), *VERDICT.finditer(text)]
    assert len(places) > 20
    for place in places[:: len(places) // 20]:
        planted = place[0][:-1] + ('0' if place[0][-1] != '0' else '1')
        assert not check(page, text[: place.start()] + planted + text[place.end() :])


def test_every_cell_of_a_row_moves_the_page(monkeypatch):
    """A number or a verdict of the tables that turns round turns the page round."""
    table = read_table(pages.GALLERY / 'p1' / 'verdicts.csv').set_index('address')
    row = table.loc['p1.fig02.w400_d2.composed'].to_dict()
    for planted in ({'value': -0.5}, {'low': -0.5}, {'verdict': 'opposite'}, {'n': 8}):
        size = pages.read_packages()
        size['p1'].fig02.w400_d2.composed = Row(row | planted)
        with monkeypatch.context() as patch:
            patch.setattr(pages, 'read_packages', lambda size=size: size)
            rendered = pages.render('RESULTS.md')
        assert rendered != render('RESULTS.md'), planted
