"""Every number in RESULTS.md is found in a committed file that its section names.

A section (##) links files below analysis/gallery. A table between `<!-- FILE -->` and
`<!-- end -->` is that file, to the letter; every other decimal number of the section
must be a number of one of the linked files, rounded as it is shown.
"""

import pathlib
import re

import numpy as np
import pytest

from analysis import law
from analysis.designs import cells, effects, table

ROOT = pathlib.Path(__file__).parents[2]
GALLERY = ROOT / 'analysis' / 'gallery'
NUMERIC_FILES = ('.csv', '.md', '.json', '.txt', '.npz')
BLOCK = re.compile(r'<!-- (analysis/gallery/\S+) -->\n(.*?)<!-- end -->', re.DOTALL)
LINK = re.compile(r'\]\((analysis/gallery/[^)#]+)\)')
# Not part of a word or of a version such as 0.10.2.
NUMBER = re.compile(r'(?<![\w.])−?(\d+\.\d+|\.\d+)(?![\w.]*\d)')


def read_sections() -> dict[str, str]:
    """{title: text} of every section."""
    parts = re.split(r'^## (.+)$', (ROOT / 'RESULTS.md').read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


SECTIONS = read_sections()


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
    numbers: list[float] = []
    if path.suffix == '.npz':
        with np.load(path, allow_pickle=False) as arrays:
            for array in arrays.values():
                if array.dtype.kind == 'f':
                    numbers += array.ravel().tolist()
        return numbers
    words = re.findall(r'\d*\.?\d+(?:e-?\d+)?', path.read_text())
    return [float(word) for word in words]


@pytest.mark.parametrize('title', SECTIONS)
def test_embedded_tables_are_the_committed_files(title):
    for name, text in BLOCK.findall(SECTIONS[title]):
        assert text.strip() == (ROOT / name).read_text().strip(), name


@pytest.mark.parametrize('title', SECTIONS)
def test_every_number_is_in_a_committed_file(title):
    section = SECTIONS[title]
    names = {name for name, _ in BLOCK.findall(section)} | set(LINK.findall(section))
    known: list[float] = []
    for name in names:
        path = ROOT / name
        assert path.exists(), f'{title}: {name} does not exist'
        if path.suffix in NUMERIC_FILES:
            known += read_numbers(path)
    missing = []
    for text in NUMBER.findall(remove_quotes(section)):
        digits = len(text.split('.')[1])
        candidates = [*known, *(100 * number for number in known)]  # per cent
        is_known = any(
            abs(round(number, digits) - float(text)) < 1e-9 for number in candidates
        )
        if not is_known:
            missing.append(text)
    assert not missing, f'{title}: no committed file has {missing}'


def test_the_check_finds_a_number_that_is_nowhere():
    assert NUMBER.findall('at γ 0.6 it is .97, −0.5 and 12 %, jax 0.10.2') == [
        '0.6',
        '.97',
        '0.5',
    ]
    assert remove_quotes('    cmd 0.1\ntext `0.2` [a](b0.3) 0.4').split() == [
        'text',
        '[a',
        '0.4',
    ]


@pytest.mark.parametrize('folder', ['law', 'fresh'])
def test_the_tables_of_members_are_computed_from_them(folder):
    members = table.read_csv(GALLERY / folder / 'members.csv')
    text = cells.format_cells(cells.summarize_cells(members))
    assert text == (GALLERY / folder / 'cells.md').read_text()


def test_the_verdicts_are_computed_from_the_members():
    members = table.read_csv(GALLERY / 'law' / 'members.csv')
    text = effects.format_verdicts(law.tabulate_verdicts(members))
    assert text == (GALLERY / 'law' / 'verdicts.md').read_text()
