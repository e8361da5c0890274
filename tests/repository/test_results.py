"""The pages of prose beside RESULTS.md: their links, tables and numbers.

README.md and RESULTS.md are rendered (tests/analysis/test_pages.py). The pages for
details (analysis/gallery/*/details.md) are written by hand. Of them a table between
`<!-- FILE -->` and `<!-- end -->` is that file, to the letter, and every other decimal
number is one of the files that its section links, rounded as it is shown. That is a
weak test: in a table of thousands of numbers most shares occur somewhere. Outcomes of
predictions are a log, and say what the tables of their day said.
"""

import pathlib
import re
from typing import NamedTuple

import numpy as np
import pytest
import xarray as xr

ROOT = pathlib.Path(__file__).parents[2]
GALLERY = ROOT / 'analysis' / 'gallery'
README = ROOT / 'README.md'
PREDICTIONS = GALLERY / 'predictions.md'
DETAILS = tuple(sorted(GALLERY.glob('*/details.md')))
PAGES = (ROOT / 'RESULTS.md', *DETAILS)
NUMERIC_FILES = ('.csv', '.md', '.json', '.txt', '.npz', '.nc')
PROSE = ('details.md', 'predictions.md', 'commands.md')
BLOCK = re.compile(r'<!-- (analysis/gallery/\S+) -->\n(.*?)<!-- end -->', re.DOTALL)
LINK = re.compile(r'\]\(([^)#:]+)(?:#[^)]*)?\)')  # to a file of ours
HEADING_LINK = re.compile(r'\]\(([^)#:]*)#([^)]+)\)')
OUTCOME = '\nOutcome: '
# Not part of a word or of a version such as 0.10.2.
NUMBER = re.compile(r'(?<![\w.])−?(\d+\.\d+|\.\d+)(?![\w.]*\d)')


def name_page(page: pathlib.Path) -> str:
    return page.relative_to(ROOT).as_posix()


class Section(NamedTuple):
    """The text between two headings, and the folder that its links start from."""

    text: str
    folder: pathlib.Path


def read_sections() -> dict[str, Section]:
    """{'page: title': section} of every page that is written by hand."""
    sections = {}
    for page in DETAILS:
        name = name_page(page)
        parts = re.split(r'^## (.+)$', page.read_text(), flags=re.M)
        for title, text in zip(parts[1::2], parts[2::2], strict=True):
            sections[f'{name}: {title}'] = Section(text, page.parent)
    return sections


SECTIONS = read_sections()


def list_sources(section: Section) -> list[pathlib.Path]:
    """The committed files of numbers that a section links or embeds."""
    linked = [(section.folder / link).resolve() for link in LINK.findall(section.text)]
    embedded = [ROOT / name for name, _ in BLOCK.findall(section.text)]
    return [
        path
        for path in {*linked, *embedded}
        if path.is_relative_to(GALLERY)
        and path.suffix in NUMERIC_FILES
        and path.name not in PROSE
    ]


def remove_quotes(section: str) -> str:
    """The section without embedded tables, commands, code and addresses."""
    section = BLOCK.sub('', section)
    section = re.sub(r'```.*?```', '', section, flags=re.DOTALL)
    section = re.sub(r'^    .*$', '', section, flags=re.MULTILINE)
    section = re.sub(r'`[^`\n]*`', '', section)
    section = re.sub(r'\b\d{4}\.\d{5}\b', '', section)  # of arXiv
    return re.sub(r'\]\([^)]*\)', '', section)


def read_numbers(path: pathlib.Path) -> list[float]:
    """All numbers of a committed table, or of the arrays behind a figure."""
    if path.suffix not in ('.npz', '.nc'):
        words = re.findall(r'\d*\.?\d+(?:e-?\d+)?', path.read_text())
        return [float(word) for word in words]
    if path.suffix == '.npz':
        arrays = dict(np.load(path, allow_pickle=False)).values()
    else:
        arrays = [array.values for array in xr.load_dataset(path).variables.values()]
    floats = [array.ravel() for array in arrays if array.dtype.kind == 'f']
    return np.concatenate([np.zeros(0), *floats]).tolist()


@pytest.mark.parametrize('title', SECTIONS)
def test_embedded_tables_are_the_committed_files(title):
    for name, text in BLOCK.findall(SECTIONS[title].text):
        assert text.strip() == (ROOT / name).read_text().strip(), name


def test_every_prediction_says_what_came_out():
    """'Outcome: open' until the run is read."""
    _, *entries = PREDICTIONS.read_text().split('\n## ')
    for entry in entries:
        assert OUTCOME in entry, entry.splitlines()[0]


@pytest.mark.parametrize('page', (*PAGES, PREDICTIONS), ids=name_page)
def test_every_linked_file_exists(page):
    for link in LINK.findall(page.read_text()):
        assert (page.parent / link).exists(), link


def name_anchors(page: pathlib.Path) -> set[str]:
    """What links to the headings of a Markdown page end in, as GitHub makes it."""
    headings = re.findall(r'^#+ (.+)$', page.read_text(), flags=re.M)
    letters = [re.sub(r'[^\w\- ]', '', heading.lower()) for heading in headings]
    return {text.replace(' ', '-') for text in letters}


@pytest.mark.parametrize('page', (*PAGES, README), ids=name_page)
def test_every_linked_heading_exists(page):
    for link, heading in HEADING_LINK.findall(page.read_text()):
        target = page.parent / link if link else page
        assert heading in name_anchors(target), f'{link}#{heading}'


@pytest.mark.parametrize('title', SECTIONS)
def test_every_number_is_in_a_committed_file(title):
    section = SECTIONS[title]
    known: list[float] = []
    for path in list_sources(section):
        known += read_numbers(path)
    candidates = np.concatenate([known, 100 * np.array(known)])  # or per cent
    missing = []
    for text in NUMBER.findall(remove_quotes(section.text)):
        rounded = candidates.round(len(text.split('.')[1]))
        if not np.isclose(rounded, float(text), rtol=0, atol=1e-9).any():
            missing.append(text)
    assert not missing, f'{title}: no committed file has {missing}'


@pytest.mark.parametrize('page', DETAILS, ids=name_page)
def test_a_summary_has_the_numbers_of_its_sections(page):
    summary, *sections = re.split(r'^## ', page.read_text(), flags=re.M)
    said = set(NUMBER.findall(remove_quotes(summary)))
    assert said <= set(NUMBER.findall(''.join(sections)))
