"""The report in a real browser: what a reader can do with it."""

import math

import pytest

from tests.support.pages import general_sample, report_sample

SIZES = {'desktop': (1280, 900), 'phone': (360, 740)}
CELL = '[role=gridcell]'
CELLS = f'document.querySelectorAll("{CELL}").length'
SELECTED = f'document.querySelector("{CELL}[aria-selected=true]").ariaLabel'
TITLE = 'document.querySelector("#member-title").textContent'


def find_cell(row: int, column: int) -> str:
    """A selector; row 1 is on top, the deepest networks."""
    return f'.phase tbody tr:nth-child({row}) td:nth-of-type({column})'


def find_mean(row: int, column: int) -> str:
    """A script for the number that a cell shows."""
    return f'document.querySelector("{find_cell(row, column)} .mean").textContent'


@pytest.mark.parametrize('empty', ['figures', 'claims', 'members', 'provenance'])
def test_a_page_without(empty, open_payload):
    payload = report_sample.make_payload()
    payload[empty] = type(payload[empty])()
    tab = open_payload(payload)
    assert tab.problems == []
    assert tab.value(CELLS) == 10


@pytest.mark.parametrize('axes', [(None, 'gamma'), ('depth', None), (None, None)])
def test_a_sweep_of_fewer_axes(axes, open_payload):
    payload = report_sample.make_payload()
    payload['row_axis'], payload['column_axis'] = axes
    tab = open_payload(payload)
    tab.click(CELL)
    assert tab.problems == []
    sizes = [len(payload['axes'][axis]) for axis in axes if axis]
    assert tab.value(CELLS) == math.prod(sizes)


def test_an_axis_of_texts(open_payload):
    """The label of a tuple is text: a cell, the address and a filter work with it."""
    payload = report_sample.make_payload()
    labels = {1: '()', 2: '((3, 4, -6),)'}
    payload['axes'] = {**payload['axes'], 'depth': list(labels.values())}
    for member in payload['members']:
        member['point'] = {**member['point'], 'depth': labels[member['point']['depth']]}
    tab = open_payload(payload)
    tab.click(find_cell(2, 2))
    assert tab.value(TITLE) == 'depth (), γ 0.6, seed 0'
    address = tab.value('location.href')
    tab.click(find_cell(1, 4))
    assert tab.value(TITLE) == 'depth ((3, 4, -6),), γ 1.2, seed 0'
    tab.open(address)
    assert tab.value(TITLE) == 'depth (), γ 0.6, seed 0'
    assert tab.problems == []


@pytest.mark.parametrize('theme', ['light', 'dark'])
@pytest.mark.parametrize('size', SIZES)
@pytest.mark.parametrize('name', ['sample', 'hostile'])
def test_it_fits_and_reads(name, size, theme, tab, urls):
    tab.problems.clear()
    tab.resize(*SIZES[size], theme)
    tab.open(urls[name])
    tab.value('document.querySelectorAll("details").forEach(d => { d.open = true; })')
    assert tab.problems == []
    assert tab.value('document.documentElement.scrollWidth <= innerWidth')
    assert tab.value(LOW_CONTRAST) == []
    # The check can fail.
    tab.value('document.querySelector("h1").style.color = "#777"')
    assert len(tab.value(LOW_CONTRAST)) == 1


# Every text against the colour behind it (WCAG AA: 4.5 to 1).
LOW_CONTRAST = """(() => {
  const canvas = document.createElement('canvas')
    .getContext('2d', {willReadFrequently: true});
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
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
  const own = (e) => [...e.childNodes]
    .map(n => n.nodeType === 3 ? n.data.trim() : '').join('');
  const bad = [];
  for (const e of document.querySelectorAll('body *')) {
    const text = own(e);
    const silent = ['SCRIPT', 'OPTION', 'title'].includes(e.tagName);
    if (!text || silent || !e.checkVisibility()) continue;
    const style = getComputedStyle(e);
    const pair = [rgba(e.ownerSVGElement ? style.fill : style.color), behind(e)];
    const [a, b] = pair.map(c => light(c.slice(0, 3)) + .05).sort((x, y) => y - x);
    const ratio = a / b;
    if (ratio < 4.5) bad.push(`${e.tagName} ${text.slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return bad;
})()"""


def test_one_cell_for_every_row_and_column(sample):
    axes = report_sample.AXES
    assert sample.value(CELLS) == len(axes['depth']) * len(axes['gamma'])
    label = sample.value(f'document.querySelector("{find_cell(1, 4)}").ariaLabel')
    assert label.startswith('depth 2, γ 1.2; inferential 0.5')
    assert '1 of 2 members' in label
    classes = sample.value(f'document.querySelector("{find_cell(1, 1)}").className')
    assert 'hatched' in classes


def test_a_click_chooses_a_member_and_writes_the_address(sample):
    sample.click(find_cell(1, 2))
    assert sample.value(TITLE) == 'depth 2, γ 0.6, seed 0'
    assert sample.value('location.hash') == '#depth=2&gamma=0.6&seed=0'
    assert sample.value(SELECTED).startswith('depth 2, γ 0.6')
    sample.click('.choice button:nth-child(2)')
    assert sample.value('location.hash') == '#depth=2&gamma=0.6&seed=1'
    assert sample.value('document.activeElement.textContent') == 'seed 1'


def test_a_link_opens_its_member(sample, urls):
    sample.open(f'{urls["sample"]}#depth=1&gamma=0.3&seed=1')
    assert sample.value(TITLE) == 'depth 1, γ 0.3, seed 1'
    sample.value('location.hash = "#depth=2&gamma=1.5&seed=0"')
    sample.wait(f'{TITLE} === "depth 2, γ 1.5, seed 0"')
    sample.value('location.hash = "#claims"')
    # No such member: the page shows the one that it shows first.
    sample.open(f'{urls["sample"]}#gamma=77')
    assert sample.value(TITLE) == 'depth 2, γ 1.5, seed 0'


def test_the_keyboard_walks_previews_and_chooses(sample):
    sample.click(find_cell(1, 2))
    sample.press('ArrowDown', 'ArrowRight', 'ArrowRight')
    sample.wait(f'{TITLE} === "depth 1, γ 1.2, seed 0"')
    assert sample.value('location.hash') == '#depth=2&gamma=0.6&seed=0'
    sample.press('Escape')
    sample.wait(f'{TITLE} === "depth 2, γ 0.6, seed 0"')
    sample.press('End', 'ArrowRight', 'Enter')
    assert sample.value(TITLE) == 'depth 1, γ 1.5, seed 0'
    assert sample.value('location.hash') == '#depth=1&gamma=1.5&seed=0'
    focusable = f'document.querySelectorAll(\'{CELL}[tabindex="0"]\').length'
    assert sample.value(focusable) == 1


def test_the_pointer_previews_and_leaves_no_trace(sample):
    before = sample.value(TITLE)
    sample.hover(find_cell(2, 2))
    sample.wait(f'{TITLE}.startsWith("depth 1, γ 0.6")')
    sample.hover('h1')
    sample.wait(f'{TITLE} === "{before}"')
    assert sample.value('location.hash') == ''


def test_the_readings_and_filters_change_the_cells(sample):
    inferential = float(sample.value(find_mean(1, 2)))
    sample.click('input[value=symmetric]')
    symmetric = float(sample.value(find_mean(1, 2)))
    assert inferential < 0.1
    assert symmetric > 0.9
    sample.value(
        '(s => { s.value = "0"; s.dispatchEvent(new Event("change")); })'
        '(document.querySelector(".filter select"))'
    )
    assert sample.value('document.querySelectorAll(".range").length') == 0


def test_a_member_that_diverged_says_so_and_shows_what_there_is(sample, urls):
    sample.open(f'{urls["sample"]}#depth=1&gamma=0.6&seed=0')
    text = sample.value('document.querySelector("#detail").textContent')
    assert 'diverged at step 1250' in text
    assert 'Not recorded for this member.' in text
    assert sample.value('document.querySelectorAll("#detail svg.chart").length') == 2


def test_a_member_that_has_not_converged_says_so_and_is_marked(sample, urls):
    cell = f'document.querySelector("{find_cell(1, 3)}")'
    assert 'unconverged' in sample.value(f'{cell}.className')
    assert '1 of 2 not converged' in sample.value(f'{cell}.ariaLabel')
    other = f'document.querySelector("{find_cell(1, 1)}").className'
    assert 'unconverged' not in sample.value(other)
    sample.open(f'{urls["sample"]}#depth=2&gamma=0.9&seed=1')
    line = sample.value('document.querySelector(".verdict-line").textContent')
    assert 'not converged (train loss 0.31)' in line


def test_the_member_shows_its_answers_by_position_of_the_key(sample, urls):
    sample.open(f'{urls["sample"]}#depth=2&gamma=0.6&seed=0')
    assert sample.value('document.querySelectorAll(".column").length') == 14
    text = sample.value('document.querySelectorAll("svg.chart")[1].ariaLabel')
    assert text.startswith('Agreement on the unseen pair by the position of the key')
    assert '6: inferential 0.00, symmetric' in text


def test_half_and_half_and_third_solutions_are_named(open_payload):
    payload = report_sample.make_payload()
    payload['members'][0] |= {'solution': 'half and half'}
    payload['members'][1] |= {'solution': 'third', 'answer': '(4, 4) (share 0.97)'}
    tab = open_payload(payload)
    lines = {}
    for seed in (0, 1):
        tab.open(f'{tab.value("location.href.split(`#`)[0]")}#gamma=0.3&seed={seed}')
        lines[seed] = tab.value('document.querySelector(".verdict-line").textContent')
    assert 'half and half' in lines[0]
    assert 'inferential with the key at some positions' in lines[0]
    assert 'third' in lines[1]
    assert 'most frequent answer to (4, 3): (4, 4) (share 0.97)' in lines[1]
    swatch = 'document.querySelector(".verdict-line .swatch").className'
    assert tab.value(swatch) == 'swatch third'


def test_every_claim_has_its_null_and_who_was_left_out(sample):
    first = sample.value('document.querySelector(".claims tbody tr").textContent')
    assert 'the other half: 0.07' in first
    assert '1 of 19 members left out: 1 not converged' in first
    tally = sample.value('document.querySelector("#claims .meta").textContent')
    assert tally == 'holds: 1 · does not hold: 1 · not tested by this report: 1'


def test_every_picture_has_words(sample):
    unnamed = (
        'svg[role=img]:not([aria-label])',
        'img:not([alt])',
        'button:not([aria-label]):empty',
    )
    selector = f'main :is({", ".join(unnamed)})'
    assert sample.value(f'document.querySelectorAll("{selector}").length') == 0
    flow = sample.value('document.querySelectorAll("svg.chart")[3].ariaLabel')
    assert 'in layer 1 the last token attends most to the' in flow
    assert 'Answers 89 (inferential)' in flow


def test_the_theme_button_turns_the_theme(sample):
    colour = 'getComputedStyle(document.body).backgroundColor'
    before = sample.value(colour)
    sample.click('#theme')
    assert sample.value(colour) != before
    assert sample.value('document.querySelector("#theme").textContent') == 'Light'


def test_a_picture_is_enlarged_and_put_away(sample):
    sample.click('.picture')
    assert sample.value('document.querySelector("#large").open')
    sample.click('#large button')
    assert not sample.value('document.querySelector("#large").open')


def test_hostile_names_are_shown_and_do_nothing(tab, urls):
    tab.problems.clear()
    tab.resize(*SIZES['desktop'], 'light')
    tab.open(urls['hostile'])
    tab.click(find_cell(1, 2))
    tab.click('.choice button:nth-child(2)')
    tab.click('.choice button:nth-child(1)')
    assert tab.problems == []
    assert tab.value('document.querySelectorAll("img[src=x], [onerror]").length') == 0
    assert tab.value('document.scripts.length') == 2
    places = ('h1', '#member-title', '#detail .numbers', '.claims', '#provenance pre')
    for place in (
        *places,
        '#provenance details:last-of-type summary',
        '#sides h3',
        '.counts tbody',
        '.counts thead',
        '.missing',
        '.card figcaption',
        '.figure-numbers pre',
        '.figure-numbers .note',
    ):
        shown = tab.value(f'document.querySelector("{place}").textContent')
        assert report_sample.HOSTILE in shown, place


def test_the_page_of_another_task(open_payload, tmp_path):
    tab = open_payload(general_sample.make_payload(tmp_path / 'run'))
    assert tab.problems == []
    assert tab.value(CELLS) == 4  # gammas and decays; seeds are averaged over
    links = 'document.querySelectorAll("nav a, #map a").length'
    assert tab.value(links) == 4
    assert tab.value('document.querySelectorAll("nav [href=\\"#try\\"]").length') == 0
    shown = tab.value(
        'document.querySelector("#controls select").selectedOptions[0].text'
    )
    assert shown == 'test'
    before = tab.value(find_mean(1, 1))
    tab.value(
        '(s => { s.value = "seen_train assigned tokens"; '
        's.dispatchEvent(new Event("change")); })'
        '(document.querySelector("#controls select"))'
    )
    assert tab.value(find_mean(1, 1)) != before
    tab.click(find_cell(1, 2))
    assert tab.value(TITLE).startswith('γ 0.7')
    panels = tab.value(
        '[...document.querySelectorAll("#detail figcaption strong")]'
        '.map(e => e.textContent)'
    )
    assert panels == ['Answers', 'Loss', 'Right answers by group']
    groups = 'document.querySelectorAll("#detail .groups tbody tr").length'
    assert tab.value(groups) == 6
    left_out = tab.value('document.querySelector("#left-out .lead").textContent')
    assert left_out.startswith('The playground')
    tab.resize(*SIZES['phone'], 'dark')
    assert tab.value('document.documentElement.scrollWidth <= innerWidth')
    assert tab.value(LOW_CONTRAST) == []


def test_hostile_names_of_another_task_stay_text(open_payload, tmp_path):
    tab = open_payload(general_sample.make_hostile_payload(tmp_path / 'run'))
    tab.click(find_cell(1, 2))
    assert tab.problems == []
    assert tab.value('document.querySelectorAll("img[src=x], [onerror]").length') == 0
    assert tab.value('document.scripts.length') == 2
    places = ('h1', '.question', '.counts', '.settings', '#left-out pre', '#legend')
    places += ('#controls select', '#detail .numbers', '#detail .groups')
    for place in places:
        shown = tab.value(f'document.querySelector("{place}").textContent')
        assert report_sample.HOSTILE in shown, place


def test_the_numbers_of_a_figure_are_opened_and_copied_by_keyboard(sample):
    sample.value('navigator.clipboard.writeText = () => Promise.reject(new Error())')
    sample.value('document.querySelector(".figure-numbers summary").focus()')
    sample.press('Enter')
    sample.wait('document.querySelector(".figure-numbers").open')
    assert '9,999' in sample.value(
        'document.querySelector(".figure-numbers").innerText'
    )
    sample.value('document.querySelector(".figure-numbers .copy").focus()')
    sample.press('Enter')
    sample.wait('document.querySelector("#copied").open')
    text = sample.value('document.querySelector("#copied textarea").value')
    assert text == report_sample.NUMBERS['numbers']['text']


def test_the_first_table_is_copied_with_its_columns_in_place(sample):
    sample.value('navigator.clipboard.writeText = () => Promise.reject(new Error())')
    sample.click('.counts + .copy')
    sample.wait('document.querySelector("#copied").open')
    text = sample.value('document.querySelector("#copied textarea").value')
    rows = [line.split('\t') for line in text.splitlines()]
    assert {len(row) for row in rows} == {9}  # name, all, five gammas, two depths
    assert rows[1][2:] == ['0.3', '0.6', '0.9', '1.2', '1.5', '1', '2']
    assert rows[2][1:4] == ['2', '0', '0']
