"""The pages of results: their links, and the log of predictions.

README.md, RESULTS.md and the pages of the gallery are rendered, and their numbers
looked up (tests/analysis/test_pages.py). Outcomes of predictions are a log, and say
what the tables of their day said.
"""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
GALLERY = ROOT / 'analysis' / 'gallery'
PREDICTIONS = tuple(sorted(GALLERY.glob('log/predictions_*.md')))
PAGES = (ROOT / 'README.md', ROOT / 'RESULTS.md', *sorted(GALLERY.rglob('*.md')))
LINK = re.compile(r'\]\(([^)#:]+)(?:#[^)]*)?\)|src="([^"]+)"')  # to a file of ours
HEADING_LINK = re.compile(r'\]\(([^)#:]*)#([^)]+)\)')
OUTCOME = '\nOutcome: '


def name_page(page: pathlib.Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize('page', PREDICTIONS, ids=name_page)
def test_every_prediction_says_what_came_out(page):
    """'Outcome: open' until the run is read."""
    _, *entries = page.read_text().split('\n## ')
    assert entries
    for entry in entries:
        assert OUTCOME in entry, entry.splitlines()[0]


@pytest.mark.parametrize('page', PAGES, ids=name_page)
def test_every_linked_file_exists(page):
    for link, picture in LINK.findall(page.read_text()):
        assert (page.parent / (link or picture)).exists(), link or picture


def name_anchors(page: pathlib.Path) -> set[str]:
    """What links to the headings of a Markdown page end in, as GitHub makes it."""
    headings = re.findall(r'^#+ (.+)$', page.read_text(), flags=re.M)
    letters = [re.sub(r'[^\w\- ]', '', heading.lower()) for heading in headings]
    return {text.replace(' ', '-') for text in letters}


@pytest.mark.parametrize('page', PAGES, ids=name_page)
def test_every_linked_heading_exists(page):
    for link, heading in HEADING_LINK.findall(page.read_text()):
        target = page.parent / link if link else page
        assert heading in name_anchors(target), f'{link}#{heading}'
