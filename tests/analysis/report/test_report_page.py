"""The report: what its HTML may hold, and, in a real browser, what a reader can do with it."""

import json
import math
import re

import pytest

from analysis.drawing.style import COLOURS, ROLES
from analysis.report import page
from tests.support import browser, report_sample

SIZES = {'desktop': (1280, 900), 'phone': (360, 740)}
CELL = '[role=gridcell]'
SELECTED = f'document.querySelector("{CELL}[aria-selected=true]").ariaLabel'
TITLE = 'document.querySelector("#member-title").textContent'


def cell(row: int, column: int) -> str:
    """Row 1 is on top: the deepest networks."""
    return f'.phase tbody tr:nth-child({row}) td:nth-of-type({column})'


def data(html: str) -> dict:
    return json.loads(
        re.search(r'<script id="data"[^>]*>(.*?)</script>', html, re.S)[1]
    )


@pytest.fixture(scope='module')
def tab():
    if browser.executable() is None:
        pytest.skip(
            f'no Chromium here: none of {", ".join(browser.NAMES)} is on the PATH'
        )
    with browser.browser() as opened:
        yield opened


@pytest.fixture(scope='module')
def urls(tmp_path_factory):
    """The address of a written report, by name."""
    folder = tmp_path_factory.mktemp('report')
    made = {'sample': report_sample.payload(), 'hostile': report_sample.hostile()}
    for name, payload in made.items():
        (folder / f'{name}.html').write_text(page.render(payload), encoding='utf-8')
    return {name: (folder / f'{name}.html').as_uri() for name in made}


@pytest.fixture
def sample(tab, urls):
    tab.problems.clear()
    tab.look(*SIZES['desktop'], 'light')
    tab.open(urls['sample'])
    yield tab
    assert tab.problems == []


def test_nothing_is_loaded_from_anywhere():
    html = page.render(report_sample.payload())
    assert not re.findall(r'(?:src|href)="(?!data:|#)', html)
    assert 'url(' not in html and '@import' not in html and 'fetch(' not in html
    assert "default-src 'none'" in html and 'unsafe' not in html


def test_missing_numbers_are_null_and_points_stay_exact():
    payload = report_sample.payload()
    payload['members'][0]['point']['gamma'] = 0.123456789
    payload['members'][0]['train_loss'] = [math.nan, math.inf, 0.123456789, None]
    member = data(page.render(payload))['members'][0]
    assert member['train_loss'] == [None, None, 0.123, None]
    assert member['point']['gamma'] == 0.123456789


def test_a_hostile_name_ends_no_element_and_fills_no_placeholder():
    html = page.render(report_sample.hostile())
    assert '<img src=x' not in html
    assert html.count('</script>') == 2
    assert html.count('id="data"') == 1
    assert data(html)['members'][0]['status'] == report_sample.HOSTILE


def test_colours_are_those_of_the_figures():
    """Dark lifts the blue alone, and what is black on white is the ink of the theme."""
    style = page._joined(page.STYLES, 'css').lower().replace('#999;', '#999999;')
    for name, colour in {
        **COLOURS,
        **{f'role-{k}': v for k, v in ROLES.items()},
    }.items():
        if name not in ('role-last', 'role-noise'):
            assert re.search(rf'{name}\b.{{0,30}}{colour.lower()}', style), name


@pytest.mark.parametrize('empty', ['figures', 'claims', 'members', 'provenance'])
def test_a_page_without(empty, tab, tmp_path):
    payload = report_sample.payload()
    payload[empty] = type(payload[empty])()
    (tmp_path / 'report.html').write_text(page.render(payload), encoding='utf-8')
    tab.problems.clear()
    tab.open((tmp_path / 'report.html').as_uri())
    assert tab.problems == []
    assert tab.value(f'document.querySelectorAll("{CELL}").length') == 10


@pytest.mark.parametrize('axes', [(None, 'gamma'), ('depth', None), (None, None)])
def test_a_sweep_of_fewer_axes(axes, tab, tmp_path):
    payload = report_sample.payload()
    payload['row_axis'], payload['column_axis'] = axes
    (tmp_path / 'report.html').write_text(page.render(payload), encoding='utf-8')
    tab.problems.clear()
    tab.open((tmp_path / 'report.html').as_uri())
    tab.point(CELL)
    assert tab.problems == []
    sizes = [len(payload['axes'][axis]) for axis in axes if axis]
    assert tab.value(f'document.querySelectorAll("{CELL}").length') == math.prod(sizes)


@pytest.mark.parametrize('theme', ['light', 'dark'])
@pytest.mark.parametrize('size', SIZES)
@pytest.mark.parametrize('name', ['sample', 'hostile'])
def test_it_fits_and_reads(name, size, theme, tab, urls):
    tab.problems.clear()
    tab.look(*SIZES[size], theme)
    tab.open(urls[name])
    tab.value('document.querySelectorAll("details").forEach(d => { d.open = true; })')
    assert tab.problems == []
    assert tab.value('document.documentElement.scrollWidth <= innerWidth')
    assert tab.value(LOW_CONTRAST) == []
    tab.value('document.querySelector("h1").style.color = "#777"')
    assert len(tab.value(LOW_CONTRAST)) == 1  # the check can fail


# Every text against the colour that lies behind it (WCAG AA: 4.5 to 1).
LOW_CONTRAST = """(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map(v => v / 255)
      .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] === 255) return colour;
    }
  };
  const bad = [];
  for (const e of document.querySelectorAll('body *')) {
    const text = [...e.childNodes].map(n => n.nodeType === 3 ? n.data.trim() : '').join('');
    const silent = ['SCRIPT', 'OPTION', 'title'].includes(e.tagName);
    if (!text || silent || !e.checkVisibility()) continue;
    const style = getComputedStyle(e);
    const pair = [rgba(e.ownerSVGElement ? style.fill : style.color), behind(e)];
    const [a, b] = pair.map(c => light(c.slice(0, 3)) + .05).sort((x, y) => y - x);
    if (a / b < 4.5) bad.push(`${e.tagName} ${text.slice(0, 30)}: ${(a / b).toFixed(2)}`);
  }
  return bad;
})()"""


def test_one_cell_for_every_row_and_column(sample):
    axes = report_sample.AXES
    assert sample.value(f'document.querySelectorAll("{CELL}").length') == (
        len(axes['depth']) * len(axes['gamma'])
    )
    label = sample.value(f'document.querySelector("{cell(1, 4)}").ariaLabel')
    assert (
        label.startswith('depth 2, γ 1.2; inferential 0.5')
        and '1 of 2 members' in label
    )
    assert 'hatched' in sample.value(
        f'document.querySelector("{cell(1, 1)}").className'
    )


def test_a_click_chooses_a_member_and_writes_the_address(sample):
    sample.point(cell(1, 2))
    assert sample.value(TITLE) == 'depth 2, γ 0.6, seed 0'
    assert sample.value('location.hash') == '#depth=2&gamma=0.6&seed=0'
    assert sample.value(SELECTED).startswith('depth 2, γ 0.6')
    sample.point('.choice button:nth-child(2)')
    assert sample.value('location.hash') == '#depth=2&gamma=0.6&seed=1'
    assert sample.value('document.activeElement.textContent') == 'seed 1'


def test_a_link_opens_its_member(sample, urls):
    sample.open(f'{urls["sample"]}#depth=1&gamma=0.3&seed=1')
    assert sample.value(TITLE) == 'depth 1, γ 0.3, seed 1'
    sample.value('location.hash = "#depth=2&gamma=1.5&seed=0"')
    sample.wait(f'{TITLE} === "depth 2, γ 1.5, seed 0"')
    sample.value('location.hash = "#claims"')
    sample.open(f'{urls["sample"]}#gamma=77')
    assert sample.value(TITLE) == 'depth 2, γ 1.5, seed 0'  # none such: the first look


def test_the_keyboard_walks_previews_and_chooses(sample):
    sample.point(cell(1, 2))
    sample.press('ArrowDown', 'ArrowRight', 'ArrowRight')
    sample.wait(f'{TITLE} === "depth 1, γ 1.2, seed 0"')
    assert sample.value('location.hash') == '#depth=2&gamma=0.6&seed=0'
    sample.press('Escape')
    sample.wait(f'{TITLE} === "depth 2, γ 0.6, seed 0"')
    sample.press('End', 'ArrowRight', 'Enter')
    assert sample.value(TITLE) == 'depth 1, γ 1.5, seed 0'
    assert sample.value('location.hash') == '#depth=1&gamma=1.5&seed=0'
    assert (
        sample.value(f'document.querySelectorAll(\'{CELL}[tabindex="0"]\').length') == 1
    )


def test_the_pointer_previews_and_leaves_no_trace(sample):
    before = sample.value(TITLE)
    sample.point(cell(2, 2), kind='hover')
    sample.wait(f'{TITLE}.startsWith("depth 1, γ 0.6")')
    sample.point('h1', kind='hover')
    sample.wait(f'{TITLE} === "{before}"')
    assert sample.value('location.hash') == ''


def test_the_readings_and_filters_change_the_cells(sample):
    first = sample.value(f'document.querySelector("{cell(1, 2)} .mean").textContent')
    sample.point('input[value=symmetric]')
    second = sample.value(f'document.querySelector("{cell(1, 2)} .mean").textContent')
    assert float(first) < 0.1 and float(second) > 0.9
    sample.value(
        '(s => { s.value = "0"; s.dispatchEvent(new Event("change")); })'
        '(document.querySelector(".filter select"))'
    )
    assert sample.value('document.querySelectorAll(".range").length') == 0


def test_a_member_that_diverged_says_so_and_shows_what_there_is(sample, urls):
    sample.open(f'{urls["sample"]}#depth=1&gamma=0.6&seed=0')
    text = sample.value('document.querySelector("#detail").textContent')
    assert 'diverged at step 1250' in text and 'Not recorded for this member.' in text
    assert sample.value('document.querySelectorAll("#detail svg.chart").length') == 2


def test_every_picture_has_words(sample):
    unnamed = 'svg[role=img]:not([aria-label]), img:not([alt]), button:not([aria-label]):empty'
    assert sample.value(f'document.querySelectorAll("main :is({unnamed})").length') == 0
    flow = sample.value('document.querySelectorAll("svg.chart")[2].ariaLabel')
    assert (
        'in layer 1 the last token reads' in flow and 'Answers 89 (inferential)' in flow
    )


def test_the_theme_button_turns_the_theme(sample):
    colour = 'getComputedStyle(document.body).backgroundColor'
    before = sample.value(colour)
    sample.point('#theme')
    assert sample.value(colour) != before
    assert sample.value('document.querySelector("#theme").textContent') == 'Light'


def test_a_picture_is_enlarged_and_put_away(sample):
    sample.point('.picture')
    assert sample.value('document.querySelector("#large").open')
    sample.point('#large button')
    assert not sample.value('document.querySelector("#large").open')


def test_hostile_names_are_shown_and_do_nothing(tab, urls):
    tab.problems.clear()
    tab.look(*SIZES['desktop'], 'light')
    tab.open(urls['hostile'])
    tab.point(cell(1, 2))
    tab.point('.choice button:nth-child(2)')
    tab.point('.choice button:nth-child(1)')
    assert tab.problems == []
    assert tab.value('document.querySelectorAll("img[src=x], [onerror]").length') == 0
    assert tab.value('document.scripts.length') == 2
    for place in (
        'h1',
        '#member-title',
        '#detail .numbers',
        '.claims',
        '#provenance pre',
    ):
        shown = tab.value(f'document.querySelector("{place}").textContent')
        assert report_sample.HOSTILE in shown, place
