"""The pages of analysis/gallery: a folder for each paper, its pictures in its order.

A picture is named by the figures of the paper that it shows, as its module's PAPER has
them, by its module, and by what distinguishes it: p1/fig04_cosine_small.png. The
numbers that it was drawn from lie beside it as .csv or .nc, where they were kept.

The words around numbers and verdicts are in analysis/PAPER/gallery.toml, settings in
`backticks`: the rows of the table of all figures, and which networks a picture shows. A
row names the module that draws its `figure`; after what it `says` stands the number of
its `claim`, if it has one, and those of `more`: none that speaks against the paper is
left out. A row without a claim says what is drawn.
"""

import collections
import functools
import itertools
import pathlib
import re
import tomllib
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import pandas as pd
import xarray as xr

from analysis import papers
from analysis.drawing import style
from analysis.figure import find_figures, name_module
from analysis.papers import GALLERY
from anchorjax.errors import UserError

OURS = 'Ours'  # the section of what is about no figure of the paper
# What a paper numbers, in the order of its page: by the start of a picture's name.
KINDS = {'fig': 'Fig', 'tab': 'Table', 'e': 'E', 'sec': 'Sec', 'app': 'App'}

# 'Figs 5 (c, d)' of 'P1 Fig 5 (c, d), P3 Fig 5 B'; 'E2, E4 to E11'; 'App 2'.
_OF_PAPER = re.compile(r'(P\d) (?:(Fig|Table|Sec|App)s? |(?=E\d))([^P;]*)')
_RANGE = re.compile(r'(\d+) to E?(\d+)')
_SHORT = {word: kind for kind, word in KINDS.items()}
# 'fig05cd_' of 'fig05cd_embedding_large'; 'p1v1_fig06' of an address.
_PREFIX = re.compile(rf'({"|".join(KINDS)})((?:\d\d[a-z]*_)+)(.+)')
_ADDRESS = re.compile(rf'(?:(p\d)(v\d)?_)?({"|".join(KINDS)})(\d\d)[a-z]*(?:_new)?')


class Picture(NamedTuple):
    """A committed picture, and what drew it."""

    path: pathlib.Path
    module: ModuleType
    figures: tuple[str, ...]  # 'fig05': those that its name says; () of ours
    variant: str  # 'large'; '' where there is one

    @property
    def numbers(self) -> pathlib.Path | None:
        """The file that it was drawn from."""
        for suffix in ('.csv', '.nc'):
            if self.path.with_suffix(suffix).exists():
                return self.path.with_suffix(suffix)
        return None

    @property
    def networks(self) -> str:
        return read_words()['networks'][self.path.stem]


class Section(NamedTuple):
    """What a paper's page has about one of its figures."""

    title: str  # 'Fig 5'
    pictures: list[Picture]
    rows: list[Any]  # of its table of claims


@functools.cache
def read_words() -> dict[str, Any]:
    """The words of all papers: `rows` of the table, and `networks` of the pictures."""
    words: dict[str, Any] = {'rows': [], 'networks': {}}
    files = [papers.ANALYSIS / name / 'gallery.toml' for name in papers.NAMES]
    for path in filter(pathlib.Path.exists, files):
        found = tomllib.loads(path.read_text())
        words['rows'] += found.get('rows', [])
        words['networks'] |= found.get('networks', {})
    return words


def name_package(module: ModuleType) -> str:
    """'p1' of analysis.p1.cosine: the folder of a module and of its pictures."""
    return module.__name__.split('.')[1]


def list_figures(module: ModuleType) -> set[str]:
    """{'fig12', 'fig13'}: what its PAPER says of the paper of its package."""
    package = name_package(module)
    paper = papers.find_paper(package).title.partition("'")[0]  # P1's text tasks
    figures = set()
    for name, kind, text in _OF_PAPER.findall(module.PAPER):
        if name == paper:
            text = _RANGE.sub(_expand, text)
            numbers = re.findall(r'\bE?(\d+)', text)
            start = _SHORT[kind or 'E']
            figures |= {f'{start}{int(number):02}' for number in numbers}
    return figures


def _expand(match: re.Match) -> str:
    first, last = map(int, match.groups())
    return ', '.join(map(str, range(first, last + 1)))


def read_picture(path: pathlib.Path) -> Picture:
    """What a picture is, by its folder and its name.

    Raises:
      LookupError: no module of this package draws it.
    """
    prefixed = _PREFIX.fullmatch(path.stem)
    kind, numbers, rest = prefixed.groups() if prefixed else ('', '', path.stem)
    figures = [f'{kind}{number}' for number in re.findall(r'\d\d', numbers)]
    names = []
    for name, module in find_figures().items():
        is_named = f'{rest}_'.startswith(f'{name}_')
        if is_named and name_package(module) == path.parent.name:
            names.append(name)
    if not names:
        raise LookupError(f'{path}: no module of analysis/{path.parent.name} draws it')
    name = max(names, key=len)
    module = find_figures()[name]
    return Picture(path, module, tuple(figures), rest[len(name) + 1 :])


@functools.cache
def list_pictures(package: str) -> list[Picture]:
    return [read_picture(path) for path in sorted((GALLERY / package).glob('*.png'))]


def draw_again(picture: Picture, folder: pathlib.Path, **extra: Any) -> pathlib.Path:
    """Writes a picture from the numbers beside the committed one; returns its path.

    Args:
      extra: what its module draws besides, and is not in its numbers.
    """
    module = picture.module
    layout = module.layout
    if extra:
        layout = partial(layout, **extra)
    looks = partial(module.draw, **extra), layout
    if picture.numbers is None:
        raise UserError(f'{picture.path}: its numbers were not kept')
    numbers = _read_numbers(picture.numbers)
    path = folder / picture.path.stem
    (drawn,) = style.write_pictures(numbers, *looks, path, kinds=('png',))
    return drawn


def _read_numbers(path: pathlib.Path) -> pd.DataFrame | xr.Dataset:
    """What a picture is drawn from, as `figure.compute` returned it."""
    if path.suffix == '.nc':
        return xr.load_dataset(path)
    texts = {'setting': str, 'averaged': str}  # which may be empty in every row
    table = pd.read_csv(path, keep_default_na=False, na_values=[''], dtype=texts)
    texts = table.select_dtypes(exclude=['number', 'bool']).columns
    table = table.fillna(dict.fromkeys(texts, ''))
    table.attrs['about'] = table.pop('about')[0]
    return table


def name_section(figure: str) -> str:
    """'Fig 3' of 'fig03a', 'P1 v1 Fig 6' of 'p1v1_fig06', 'E2' of 'e02a'."""
    found = _ADDRESS.fullmatch(figure)
    if found is None:
        return OURS
    paper, version, kind, number = found.groups()
    name = f'{KINDS[kind]}{"" if kind == "e" else " "}{int(number)}'
    return ' '.join(filter(None, ((paper or '').upper(), version, name)))


def list_sections(package: str, rows: dict[str, Any]) -> list[Section]:
    """The page of a paper: figures, experiments, sections, and what is ours.

    Args:
      rows: of its claims, by address.
    """
    sections: dict[str, Section] = {}
    order: dict[str, tuple] = {}
    contents = []
    for picture in list_pictures(package):
        contents.append((next(iter(picture.figures), ''), 'pictures', picture))
    for address, row in rows.items():
        contents.append((address.split('.')[1], 'rows', row))
    for figure, part, content in contents:
        title = name_section(figure)
        section = sections.setdefault(title, Section(title, [], []))
        getattr(section, part).append(content)
        order[title] = _rank(figure)
    return sorted(sections.values(), key=lambda section: order[section.title])


def _rank(figure: str) -> tuple[bool, str, int, int]:
    """Ours last, before it figures of other papers; else the order of the paper."""
    found = _ADDRESS.fullmatch(figure)
    if found is None:
        return True, '', 0, 0
    paper, version, kind, number = found.groups()
    return False, f'{paper or ""}{version or ""}', list(KINDS).index(kind), int(number)


def list_rows(packages: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the gallery's table, in the order of gallery.toml.

    Args:
      packages: the rows of claims by address, by paper.
    """
    table = []
    for row in read_words()['rows']:
        module = find_figures()[row['figure']]
        package = name_package(module)
        path = GALLERY / package / f'{row.get("picture", "")}.png'
        addresses = [row['claim']] if 'claim' in row else []
        more = row.get('more', [])
        addresses += [address for _, address in more]
        claims = [packages[address.partition('.')[0]][address] for address in addresses]
        says = [row['says'], *(words for words, _ in more)]
        table.append(
            {
                'paper': row.get('paper', module.PAPER),
                'title': module.TITLE,
                'package': package,
                'name': name_module(module),
                'picture': path.relative_to(GALLERY) if 'picture' in row else None,
                'lines': list(itertools.zip_longest(says, claims)),
                'rest': _count_rest(addresses, packages),
                'size': row['size'],
                'config': row['config'],
            }
        )
    return table


def _count_rest(addresses: list[str], packages: dict[str, dict[str, Any]]) -> str:
    """'2 exploratory, 1 **undecided**': the figures' other rows, by verdict."""
    figures = {tuple(address.split('.')[:2]) for address in addresses}
    counts = collections.Counter()
    for rows in packages.values():
        for address, row in rows.items():
            if tuple(address.split('.')[:2]) in figures and address not in addresses:
                counts[row.verdict] += 1
    return ', '.join(f'{number} {verdict}' for verdict, number in counts.items())
