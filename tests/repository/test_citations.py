"""Every section that the code cites is in PAPERS.md or DATASETS.md.

'PAPERS 1.2, 3.2' and 'DATASETS 3.2' cite headings, 'PAPERS quirk 11' a row of the table
of quirks.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
FOLDERS = ('anchorjax', 'analysis', 'configs', 'launch', 'tests')
CITATION = re.compile(
    r'\b(PAPERS|DATASETS) (quirk \d+|\d+(?:\.\d+)?)'
    r'((?:(?:,| and|, and) (?:quirk \d+|\d+\.\d+))*)'
)
PLACE = re.compile(r'quirk \d+|\d+\.\d+')
HEADING = re.compile(r'^#+ (\d+(?:\.\d+)?)\.? ', re.M)
QUIRK = re.compile(r'^\| (\d+) \|', re.M)


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


def test_every_place_that_is_cited_exists_once():
    places = {}
    for name in ('PAPERS', 'DATASETS'):
        places[name] = list_places((ROOT / f'{name}.md').read_text())
        assert len(set(places[name])) == len(places[name])
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob('*.py')]
    number = 0
    for path in paths:
        if path == pathlib.Path(__file__):
            continue
        for name, place in list_citations(path.read_text()):
            assert place in places[name], f'{path}: {name} {place}'
            number += 1
    assert number > 50  # else the citations are no longer found
