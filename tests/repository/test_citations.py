"""Every section that the code cites is in PAPERS.md or DATASETS.md.

'PAPERS 1.2, 3.2' and 'DATASETS 3.2' cite headings, 'PAPERS quirk 11' a row of the table
of quirks.
"""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FOLDERS = ('anchorjax', 'analysis', 'configs', 'launch', 'tests')
CITATION = re.compile(
    r'\b(PAPERS|DATASETS) (quirk \d+|\d+(?:\.\d+)?)'
    r'((?:(?:,| and|, and) (?:quirk \d+|\d+\.\d+))*)'
)
PLACE = re.compile(r'quirk \d+|\d+\.\d+')
HEADING = re.compile(r'^#+ (\d+(?:\.\d+)?)\.? ', re.M)
QUIRK = re.compile(r'^\| (\d+) \|', re.M)
DIGEST = re.compile(r'\b[0-9a-f]{64}\b')


def list_citations(text: str) -> list[tuple[str, str]]:
    """(PAPERS or DATASETS, place) of every citation, also across the ends of lines."""
    joined = re.sub(r'\s+(?:# )?\s*', ' ', text)
    citations = []
    for name, first, others in CITATION.findall(joined):
        citations.append((name, first))
        citations += [(name, place) for place in PLACE.findall(others)]
    return citations


def list_places(text: str) -> list[str]:
    """Numbers of headings, and 'quirk n' for the rows of the section Quirks."""
    _, _, after = text.partition('\n# Quirks\n')
    quirks, _, _ = after.partition('\n# ')
    rows = [f'quirk {number}' for number in QUIRK.findall(quirks)]
    return HEADING.findall(text) + rows


def find_missing(text: str, places: dict[str, list[str]]) -> list[tuple[str, str]]:
    """The citations in a text that lead nowhere."""
    return [(name, at) for name, at in list_citations(text) if at not in places[name]]


def read_places() -> dict[str, list[str]]:
    places = {}
    for name in ('PAPERS', 'DATASETS'):
        places[name] = list_places((ROOT / f'{name}.md').read_text())
    return places


def test_every_place_that_is_cited_exists():
    places = read_places()
    missing, number = [], 0
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob('*.py')):
            if path == pathlib.Path(__file__):
                continue
            text = path.read_text()
            number += len(list_citations(text))
            for citation in find_missing(text, places):
                missing.append(f'{path.relative_to(ROOT)}: {" ".join(citation)}')
    assert not missing
    assert number > 50  # else the citations are no longer found


@pytest.mark.parametrize('name', ['PAPERS', 'DATASETS'])
def test_no_place_is_there_twice(name):
    places = read_places()[name]
    assert len(set(places)) == len(places) > 10


def test_the_files_of_the_catalog_are_those_of_section_11():
    _, _, section = (ROOT / 'DATASETS.md').read_text().partition('\n# 11. ')
    catalog = ROOT / 'anchorjax' / 'extras' / 'corpora' / 'official.sha256'
    digests = DIGEST.findall(catalog.read_text())
    assert digests and DIGEST.findall(section) == digests
