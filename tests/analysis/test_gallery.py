"""The gallery: a picture is where its paper and its figure say, and can be drawn."""

import re

import matplotlib
import numpy as np
import pandas as pd
import PIL.Image
import pytest
import xarray as xr

from analysis import papers
from analysis.figure import find_figures
from analysis.p1 import trajectories
from analysis.p4 import decay_windows
from analysis.pages import gallery
from tests.support.official_data import find_official

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


def measure_distance(path, other):
    """Mean absolute difference of two pictures, each as 96 by 96 levels of grey.

    0 for the same picture drawn again. Measured for all: 0.5 to 2.7 with all letters in
    another font (8 with the official runs left out), from 4.2 on to another picture of
    the same module.
    """
    levels = []
    for picture in (path, other):
        grey = PIL.Image.open(picture).convert('L')
        levels.append(grey.resize((96, 96), PIL.Image.Resampling.BOX))
    first, second = (np.asarray(level, float) for level in levels)
    return np.abs(first - second).mean()


FURTHEST = 3.0
DRAWN_BY = '3.11.2'  # matplotlib: of this one the same pixels, so that one number shows
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
    if matplotlib.__version__ == DRAWN_BY:
        pixels = [PIL.Image.open(path).convert('RGB') for path in (picture.path, again)]
        np.testing.assert_array_equal(*pixels)
    assert measure_distance(picture.path, again) < FURTHEST


@pytest.mark.parametrize(('name', 'other'), [
    ('fig05ab_condensation_small', 'fig05ab_condensation_large'),
    ('e11_decay_windows_paper_sgd', 'e11_decay_windows_half'),  # the nearest of all
])  # fmt: skip
def test_another_picture_is_not_taken_for_it(name, other, tmp_path):
    by_name = {picture.path.stem: picture for picture in DRAWN}
    again = gallery.draw_again(by_name[other], tmp_path)
    assert measure_distance(by_name[name].path, again) > FURTHEST


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
