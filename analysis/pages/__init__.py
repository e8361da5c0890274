"""README.md, RESULTS.md and the pages of the gallery, rendered from committed tables.

A template is the page with addresses in place of numbers of ours:

  {{ p1.fig02.w400_d2.composed }}          0.39 [0.06, 0.72]
  {{ p1.fig02.w400_d2.composed.signed }}   +0.39 [0.06, 0.72]
  {{ p1.fig02.w400_d2.composed.status }}   **holds**, p 0.027
  {{ gap('p1/exploration', 'unseen_composed', {'gamma': 1.7}, {'gamma': 0.72}) }}
                                           a difference that is no claim
  {{ cells('p1/members', 'unseen_symmetric', run='paper_size_pair', gamma=0.5) }}
                                           0.82, 0.92, ...: the cells of a table

Settings, and the papers' own numbers, stand in the template as they are, in backticks.

  python -m analysis pages
"""

import functools
import pathlib
import re
from types import SimpleNamespace
from typing import Any

import jinja2
import numpy as np
import pandas as pd
import scipy.stats

from analysis import claim_words, claims, estimates, papers, stats
from analysis.pages import gallery
from analysis.papers import GALLERY, import_claims
from analysis.tables.text import list_records
from anchorjax import files
from anchorjax.tasks.solution import SEEN_ENOUGH

FOLDER = pathlib.Path(__file__).parent
ROOT = FOLDER.parents[1]
PAPERS = {f'analysis/gallery/{name}/README.md': name for name in papers.NAMES}
TEMPLATES = {
    'README.md': 'README.md.j2',
    'RESULTS.md': 'RESULTS.md.j2',
    'analysis/gallery/README.md': 'gallery.md.j2',
    'analysis/gallery/depth.md': 'depth.md.j2',
}
PAGES = (*TEMPLATES, *PAPERS)
WORDS = ('no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine')
WORDS += ('ten', 'eleven', 'twelve')


class Row:
    """A row of a table of claims, as a page writes its numbers."""

    def __init__(self, row: dict[str, Any]) -> None:
        self._row = row

    def __str__(self) -> str:
        """Its number: '0.39 [0.06, 0.72]'."""
        return write_mean(self._read('value'))

    @property
    def signed(self) -> str:
        """'+0.39 [0.06, 0.72]'."""
        return write_mean(self._read('value'), '+')

    @property
    def turned(self) -> str:
        """Of the opposite difference: '0.78 [0.51, 1.00]' for −0.78."""
        found = self._read('value')
        return write_mean(stats.Mean(-found.mean, -found.high, -found.low))

    @property
    def mean(self) -> str:
        return write_number(self._row['value'])

    @property
    def ends(self) -> str:
        """'[0.06, 0.72]'."""
        return str(self).partition(' ')[2]

    @property
    def first(self) -> str:
        """The mean of its first group."""
        return write_number(self._row['first'])

    @property
    def second(self) -> str:
        return write_number(self._row['second'])

    @property
    def second_range(self) -> str:
        """The second group's mean with its interval."""
        return write_mean(self._read('second'))

    @property
    def bound(self) -> str:
        return self._row['bound']

    @property
    def bounded(self) -> str:
        """'at least 8.05 [6.76, 9.58]'; nothing of a row without networks."""
        return f'{self.bound} {self}'.strip()

    @property
    def groups(self) -> str:
        """'small 0.42, large 0.03: ': the means that its number compares."""
        if np.isnan(self._row['second']) or np.isnan(self._row['first']):
            return ''
        groups = []
        for side in ('first', 'second'):
            bound = self._row[f'{side}_bound']
            words = (self._row[f'{side}_name'], bound, getattr(self, side))
            groups.append(' '.join(filter(None, words)))
        return f'{", ".join(groups)}: '

    @property
    def address(self) -> str:
        return self._row['address']

    @property
    def claim(self) -> str:
        return self._row['claim']

    @property
    def note(self) -> str:
        return self._row['note']

    @property
    def kind(self) -> str:
        """'difference': what its number is."""
        return self._row['kind']

    @property
    def n(self) -> int:
        return self._row['n']

    @property
    def null(self) -> str:
        return write_number(self._row['null'])

    @property
    def power(self) -> str:
        return write_number(self._row['power'])

    @property
    def p(self) -> str:
        return claim_words.format_p_value(self._row['p_corrected'])

    @property
    def verdict(self) -> str:
        verdict = self._row['verdict']
        if verdict:
            return f'**{verdict}**'
        against = self._row['against']
        return f'exploratory, {against} {self.paper}' if against else 'exploratory'

    @property
    def word(self) -> str:
        """In a sentence: 'undecided'."""
        return self.verdict.strip('*')

    @property
    def paper(self) -> str:
        """'P1' of 'P1 v1 Fig 6'."""
        found = re.search(r'P\d', self._row['source'])
        return found[0] if found else 'our own claim'

    @property
    def figure(self) -> str:
        """'Figs 5 (a, b), 10', as its source names it."""
        (figure,) = re.findall(r'Figs? [\da-dA-D (),]*[\dA-D)]', self._row['source'])
        return figure

    @property
    def width(self) -> int:
        """400 of 'p1.fig02.w400_d2.composed'."""
        return int(re.findall(r'\.w(\d+)', self.address)[0])

    @property
    def depth(self) -> int:
        return int(re.findall(r'_d(\d+)\.', self.address)[0])

    @property
    def rule(self) -> str:
        """What its verdict takes: '6 seeds, Holm over the paper'; '': it has none."""
        return self._row['rule'] if self._row['verdict'] else ''

    @property
    def p_alone(self) -> str:
        """Before Holm's correction."""
        return claim_words.format_p_value(self._row['p'])

    def excludes(self, size: float) -> str:
        """The p-value of Student's t test of its mean against this size.

        From its interval, which must not be cut at what is possible.
        """
        found, degrees = self._read('value'), self.n - 1
        half = scipy.stats.t.ppf(0.975, degrees)
        error = (found.high - found.low) / (2 * half)
        if abs(found.high + found.low - 2 * found.mean) > 1e-3 * abs(error):
            raise ValueError(f'{self.address}: its interval is cut')
        p_value = 2 * scipy.stats.t.sf(abs(found.mean - size) / error, degrees)
        return claim_words.format_p_value(p_value)

    @property
    def number(self) -> float:
        return self._row['value']

    @property
    def status(self) -> str:
        """The verdict, with p where it is close: '**holds**, p 0.027'."""
        is_close = 0.01 <= self._row['p_corrected'] < 0.1
        return f'{self.verdict}, p {self.p}' if is_close else self.verdict

    def _read(self, side: str) -> stats.Mean:
        prefix = '' if side == 'value' else f'{side}_'
        low, high = self._row[f'{prefix}low'], self._row[f'{prefix}high']
        return stats.Mean(self._row[side], low, high)


class Cells:
    """The cells of one column of a committed table, in some of its rows."""

    def __init__(self, rows: pd.DataFrame, column: str) -> None:
        self._values = rows[column].dropna()

    def __str__(self) -> str:
        return ', '.join(map(write_number, self._values))

    @property
    def mean(self) -> str:
        return write_number(self._values.mean())

    @property
    def n(self) -> int:
        return len(self._values)

    @property
    def kinds(self) -> int:
        """How many values there are."""
        return self._values.nunique()

    @property
    def steps(self) -> str:
        """'110 to 131', or 'never' of moments that never come."""
        ends = [f'{end:,.0f}' for end in (self._values.min(), self._values.max())]
        return ' to '.join(ends).replace('inf to inf', 'never')

    def above(self, border: float) -> int:
        return int((self._values > border).sum())


def write_number(number: float, sign: str = '') -> str:
    """'0.39'; with the sign '+', '+0.39'."""
    if np.isnan(number):
        return claim_words.NOTHING
    text = stats.format_number(number)
    if sign and not text.startswith('-'):
        text = sign + text
    return text.replace('-', '−')


def write_mean(found: stats.Mean, sign: str = '') -> str:
    mean = write_number(found.mean, sign)
    if np.isnan(found.low):
        return mean
    return f'{mean} [{write_number(found.low)}, {write_number(found.high)}]'


def write_word(number: int) -> str:
    """'four' of 4."""
    return WORDS[number] if number < len(WORDS) else str(number)


def read_rows(paper: str) -> dict[str, Row]:
    """The claims of a paper by address, in the order of its table.

    Without a committed table none of them has networks.
    """
    path = GALLERY / paper / 'verdicts.csv'
    if path.exists():
        table = claims.read_table(path)
    else:
        table = claims.list_untrained(import_claims(paper).CLAIMS)
    return {row['address']: Row(row) for row in list_records(table)}


def read_packages() -> dict[str, SimpleNamespace]:
    """The rows of all papers by their addresses: p1.fig02.w400_d2.composed."""
    root = SimpleNamespace()
    for paper in papers.NAMES:
        for address, row in read_rows(paper).items():
            *path, name = address.split('.')
            place = root
            for part in path:
                if not hasattr(place, part):
                    setattr(place, part, SimpleNamespace())
                place = getattr(place, part)
            setattr(place, name, row)
    return vars(root)


@functools.cache
def read_cells(name: str) -> pd.DataFrame:
    return pd.read_csv(GALLERY / f'{name}.csv')


def select_cells(name: str, column: str, **levels: object) -> Cells:
    """Some cells of analysis/gallery/NAME.csv.

    Raises:
      LookupError: no row has these values.
    """
    rows = estimates.select(read_cells(name), levels)
    if not len(rows):
        raise LookupError(f'{name}.csv: no row with {levels}')
    return Cells(rows, column)


def select_best(name: str, column: str, **levels: object) -> Cells:
    """For each seed the highest of these cells: over the learning rates, in P1."""
    rows = estimates.select(read_cells(name), levels)
    return Cells(rows.groupby('seed')[[column]].max(), column)


def list_seeds(**levels: object) -> SimpleNamespace:
    """The seeds of P1's networks that answer mostly composed, symmetric, neither."""
    rows = estimates.select(read_cells('p1/members'), levels)
    composed, symmetric = rows.unseen_composed > 0.5, rows.unseen_symmetric > 0.5
    groups = {'composed': composed, 'symmetric': symmetric}
    groups['neither'] = ~composed & ~symmetric
    return SimpleNamespace(
        **{name: tuple(rows.seed[of]) for name, of in groups.items()}
    )


def count_shadow(run: str, **levels: object) -> str:
    """'18 of 18': cells of a map that are in P1's shadow."""
    rows = claims.select(read_cells('p1/members'), {'run': run, **levels})
    known = rows.groupby(['gamma', 'depth']).seen_heldout_assigned.mean()
    return f'{(known < SEEN_ENOUGH).sum()} of {len(known)}'


def subtract_groups(
    name: str,
    column: str,
    first: estimates.Levels,
    second: estimates.Levels,
    **levels: object,
) -> Row:
    """A difference of two groups of analysis/gallery/NAME.csv, paired by seed.

    Args:
      levels: of everything else that varies.
    """
    groups = estimates.Group('', first), estimates.Group('', second)
    members = estimates.select(read_cells(name), levels)[[*first, 'seed', column]]
    return Row(claims.list_numbers(estimates.difference(column, *groups)(members)))


def read_effect(outcome: str, block: str, lower: str) -> Row:
    """A row of the law's effects of γ, from this lower value on."""
    rows = read_cells('law/law_effects')
    levels = {'outcome': outcome, 'block': block, 'factor': 'gamma'}
    rows = estimates.select(rows, levels)
    (row,) = list_records(rows[rows.lower.str.startswith(f'{lower} ')])
    return Row({**row, 'value': row['mean'], 'n': row['settings']})


def require(verdict: str, *rows: Row) -> str:
    """Nothing, before a sentence that is true only of rows with this verdict.

    Raises:
      ValueError: one has another.
    """
    for row in rows:
        if row.word != verdict:
            raise ValueError(f'{row.address}: {row.word}, a sentence has {verdict}')
    return ''


def render(page: str) -> str:
    """The text of one of PAGES; `sets.j2` names what several sentences show.

    A paper's page is `paper.md.j2`, or the paper's own page.md.j2, which extends it.
    """
    templates = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        loader=jinja2.FileSystemLoader((FOLDER, papers.ANALYSIS)),
    )
    templates.filters['word'] = write_word
    if page in PAPERS:
        names = (f'{PAPERS[page]}/page.md.j2', 'paper.md.j2')
        template = templates.select_template(names)
    else:
        sets = (FOLDER / 'sets.j2').read_text()
        template = templates.from_string(sets + (FOLDER / TEMPLATES[page]).read_text())
    tables = {'cells': select_cells, 'gap': subtract_groups, 'effect': read_effect}
    tables |= {'best': select_best, 'seeds_of': list_seeds, 'shadow': count_shadow}
    tables |= {'require': require, 'earlier': claims.EARLIER, 'today': claims.TODAY}
    text = template.render(read_packages() | tables | _list_contents(page))
    return f'{text.rstrip()}\n'


def _list_contents(page: str) -> dict[str, Any]:
    """What the template of a page of the gallery goes through."""
    if page in PAPERS:
        package = PAPERS[page]
        return {
            'package': package,
            'title': papers.find_paper(package).title,
            'introduction': import_claims(package).INTRODUCTION,
            'sections': gallery.list_sections(package, read_rows(package)),
        }
    if page == 'analysis/gallery/README.md':
        rows = {name: read_rows(name) for name in papers.NAMES}
        return {'rows': gallery.list_rows(rows), 'papers': papers.list_papers()}
    return {}


def write_pages() -> list[pathlib.Path]:
    for page in PAGES:
        files.write_text(ROOT / page, render(page))
    return [ROOT / page for page in PAGES]
