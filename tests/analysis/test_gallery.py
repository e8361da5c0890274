"""The gallery: a picture is where its paper and its figure say, and can be drawn."""

import functools
import re

import matplotlib
import numpy as np
import pandas as pd
import PIL.Image
import pytest
import xarray as xr

from analysis import papers
from analysis.estimates import select
from analysis.figure import find_figures
from analysis.p1 import trajectories
from analysis.p4 import decay_windows
from analysis.pages import WORDS, gallery, read_cells, write_word
from analysis.papers import import_claims
from anchorjax import config
from tests.support.official_data import find_official
from tests.support.sweeps import ROOT

PICTURES = [
    picture for package in papers.NAMES for picture in gallery.list_pictures(package)
]
DRAWN = [picture for picture in PICTURES if picture.numbers]


def name_picture(picture: gallery.Picture) -> str:
    return f'{picture.path.parent.name}/{picture.path.stem}'


def test_every_picture_lies_in_the_folder_of_a_paper():
    found = {path for path in gallery.GALLERY.rglob('*.png')}
    assert found == {picture.path for picture in PICTURES}


@pytest.mark.parametrize('picture', PICTURES, ids=name_picture)
def test_a_picture_is_named_by_the_figures_of_its_module(picture):
    """fig05cd_embedding_large: of the module that draws Fig 5, and of no other."""
    figures = gallery.list_figures(picture.module)
    assert set(picture.figures) <= figures
    assert bool(picture.figures) == bool(figures)


@pytest.mark.parametrize('package', papers.NAMES)
def test_the_page_of_a_paper_shows_its_pictures_and_says_of_which_networks(package):
    page = (gallery.GALLERY / package / 'README.md').read_text()
    for picture in gallery.list_pictures(package):
        assert f']({picture.path.name})' in page
        assert picture.networks in page


def test_words_are_about_pictures_that_exist():
    assert set(gallery.read_words()['networks']) == {p.path.stem for p in PICTURES}


def test_the_gallery_has_a_row_for_every_figure_that_is_drawn():
    rows = {row['figure'] for row in gallery.read_words()['rows']}
    drawn = [n for n, module in find_figures().items() if gallery.list_figures(module)]
    assert rows == set(drawn)


def test_what_has_a_picture_is_shown_in_the_gallery():
    page = (gallery.GALLERY / 'README.md').read_text()
    shown = [picture.module for picture in PICTURES if picture.figures]
    for module in shown:
        name = module.__name__.rpartition('.')[2]
        rows = [line for line in page.splitlines() if f'| `{name}`, ' in line]
        assert any('<img' in row for row in rows), name


@pytest.mark.parametrize('text, figures', [
    ('P1 Fig 5 (c, d), P3 Fig 5 B', {'fig05'}),
    ('P1 Figs 12, 13', {'fig12', 'fig13'}),
    ('P1 v1 Fig 6, P1 Fig 8', {'fig08'}),
    ('P1 Sec 5', {'sec05'}),
    ('P1 E2, E4 to E6', {'e02', 'e04', 'e05', 'e06'}),
    ('P3 Fig 8', set()),
    ('ours', set()),
])  # fmt: skip
def test_figures_of_a_paper_are_read_from_what_a_module_says(
    text, figures, monkeypatch
):
    module = find_figures()['cosine']
    monkeypatch.setattr(module, 'PAPER', text)
    assert gallery.list_figures(module) == figures


def test_a_picture_that_no_module_draws_is_named():
    with pytest.raises(LookupError, match='no module of analysis/p2 draws it'):
        gallery.read_picture(gallery.GALLERY / 'p2' / 'fig04_cosine_small.png')


@functools.cache
def read_networks():
    tables = [read_cells(f'{package}/members') for package in papers.NAMES]
    return pd.concat(tables, ignore_index=True)


def read_about(path):
    if path.suffix == '.nc':
        return xr.open_dataset(path).about
    return pd.read_csv(path).about[0]


@pytest.mark.parametrize('picture', PICTURES, ids=name_picture)
def test_the_words_of_a_picture_are_true_of_its_networks(picture):
    """How many, which seeds, and which one network, as what it was drawn from says."""
    words = picture.networks.replace('`', '')
    run = re.search(r'\((\w+)\)', words)
    if run is None:  # of the law, or of the picture before
        return
    table = read_networks()
    table = table[table.run == run[1]]
    if not len(table):
        table = pd.read_csv(picture.numbers)
    pattern = rf'\b({"|".join(WORDS)}|\d+) (?:[a-z]+ )?(seeds|networks)\b'
    for count, noun in re.findall(pattern, words):
        number = table.seed.nunique() if noun == 'seeds' else len(table)
        assert count in (str(number), write_word(number)), words
    widths = set(table.width.dropna()) if 'width' in table else set()
    for width in re.findall(r'(?<!at )width (\d+)', words):
        assert float(width) in widths or not widths, words
    for gamma, wide in re.findall(r'γ ([\d.]+) \(([\d.]+) at width 400\)', words):
        here = select(table, {'gamma': float(gamma)})
        assert here.gamma_at_400.round(2).eq(float(wide)).any(), words
    named = {f'fig{int(number):02}' for number in re.findall(r'Fig (\d+)', words)}
    assert named <= set(picture.figures)
    for first, last in re.findall(r'(?:seeds|of) (\d+) to (\d+)', words):
        assert (table.seed.min(), table.seed.max()) == (int(first), int(last))
    if not picture.numbers:
        return
    about = read_about(picture.numbers)
    assert about.startswith(run[1])
    about = about.partition(': ')[2].split(', ')
    one = [part for part in about if part.startswith(('depth', 'γ', 'seed'))]
    assert all(part in words for part in one), one
    kinds = set(re.findall(r'symmetric|composing', words))
    if kinds and len(one) == 3:
        depth, gamma, seed = (float(part.split()[1]) for part in one)
        levels = {'depth': depth, 'gamma': gamma, 'seed': seed}
        (network,) = select(table, levels).itertuples()
        is_composing = network.unseen_composed > 0.5
        assert is_composing or network.unseen_symmetric > 0.5
        assert kinds == {'composing' if is_composing else 'symmetric'}


def find_numbers(source):
    """Those of its figures: {'5', '10'} of 'P1 Figs 5 (a, b), 10, width 64'."""
    return set(re.findall(r'\d+', re.sub(r'(P|v|width |depth )\d+', '', source)))


@pytest.mark.parametrize('row', gallery.read_words()['rows'], ids=lambda r: r['says'])
def test_a_row_names_the_figure_and_the_networks_of_its_claims(row):
    module = find_figures()[row['figure']]
    if 'picture' in row:
        path = gallery.GALLERY / gallery.name_package(module) / f'{row["picture"]}.png'
        assert gallery.read_picture(path).module is module
    trained = getattr(config.load(f'{ROOT}/{row["config"]}').model, 'width', 0)
    if row['size'].startswith('width'):
        assert str(trained) in re.findall(r'(?:width|drawn:) (\d+)', row['size'])
    claims = [(row['says'], row['claim'])] if 'claim' in row else []
    named = row.get('paper', module.PAPER)
    own = {'p1.w400': "P1's width", 'p4.w64': "P4's size"}
    for says, address in [*claims, *row.get('more', [])]:
        paper, _, networks, number = address.split('.')
        if (says, address) == claims[0]:
            sources = {row.address: row.source for row in import_claims(paper).CLAIMS}
            figures = find_numbers(sources[address])
            assert not figures or figures & find_numbers(named), named
        width, _, depth = networks.partition('_d')
        if width[1:].isdigit() and row['size'] != '–':
            words = own.get(f'{paper}.{width}', f'width {width[1:]}')
            assert words in row['size'], address
        layers = re.findall(r'(\w+) (?:layers|blocks)', says)
        if depth and layers:
            assert write_word(int(depth.partition('_')[0])) in layers, says
        counts = re.findall(r'\d{3,}', says.replace(',', ''))
        assert not counts or number.rpartition('_')[2] in counts, says


DRAWN_BY = '3.11.2'  # matplotlib: one number that moved shows in the pixels
CHEAP = (
    'fig02_phase_diagram',
    'fig02_answers_diagram',
    'fig05ab_condensation_small',
    'e11_decay_windows_paper_sgd',
)


@pytest.mark.parametrize(
    'picture',
    [
        picture
        if picture.path.stem in CHEAP
        else pytest.param(picture, marks=pytest.mark.slow)
        for picture in DRAWN
    ],
    ids=name_picture,
)
def test_a_picture_is_drawn_again_from_the_numbers_beside_it(picture, tmp_path):
    extra = {}
    if picture.path.stem == 'fig02_trajectories':  # beside P1's own runs
        extra['official'] = trajectories.read_official(find_official('official'))
    again = gallery.draw_again(picture, tmp_path, **extra)
    pixels = [PIL.Image.open(path).convert('RGB') for path in (picture.path, again)]
    if matplotlib.__version__ == DRAWN_BY:
        np.testing.assert_array_equal(*pixels)
    else:  # its letters may be a pixel wider
        assert pixels[0].size == pytest.approx(pixels[1].size, rel=0.01)


@pytest.mark.parametrize(
    'picture',
    [picture for picture in DRAWN if picture.module is decay_windows],
    ids=name_picture,
)
def test_a_picture_of_windows_is_of_the_networks_of_its_table(picture):
    """One training for both: seed by seed, not in the mean alone."""
    numbers = xr.load_dataset(picture.numbers)
    (run,) = re.findall(r'\(`(\w+)`\)', picture.networks)
    table = pd.read_csv(picture.path.parent / 'members.csv')
    table = table[table.run == run]
    column = 'unseen' if numbers.measure == 'accuracy' else 'moment'
    last = table.num_steps if numbers.measure == 'moment' else np.nan
    expected = sorted(table[column].fillna(last))
    assert len(expected) == numbers.value.size
    np.testing.assert_allclose(np.sort(numbers.value, axis=None), expected, atol=1e-6)
