"""The report in a real browser: what a reader can do with it."""

import pytest

from tests.support.pages import browser, samples

pytestmark = pytest.mark.slow

SIZES = {'desktop': (1400, 900), 'phone': (390, 844)}
CELL = '[role=gridcell]'
TITLE = '#member-title'
FIRST = 'depth 1, exception trained, γ 0.3 (0.10 at width 400), seed 0'
OTHER = 'depth 2, exception unseen, γ 0.6 (0.21 at width 400), seed 1'


def find_cell(panel: int, row: int, column: int) -> str:
    """A selector; panel 1 has the exception trained, row 1 is on top: depth 2."""
    return (
        f'#grid > div:nth-child({panel}) tbody tr:nth-child({row}) '
        f'td:nth-of-type({column})'
    )


@pytest.mark.parametrize(
    ('name', 'size'),
    [('anchors', 'desktop'), ('anchors_attacked', 'phone'), ('scan', 'phone')],
)
def test_it_fits_and_reads_in_both_themes(name, size, open_tab, pages):
    tab = open_tab(pages[name], *SIZES[size])
    tab.evaluate(
        'document.querySelectorAll("details").forEach(d => { d.open = true; })'
    )
    for theme, other in (('light', 'Dark'), ('dark', 'Light')):
        tab.emulate_media(color_scheme=theme)
        assert tab.evaluate('document.documentElement.scrollWidth <= innerWidth')
        assert tab.evaluate(LOW_CONTRAST) == []
        browser.wait_until(
            tab, f'document.getElementById("theme").textContent === "{other}"'
        )
        colours = tab.evaluate(COLOURS_OF_PICTURE)
        assert ('#000000' in colours) == ('#ffffff' in colours) == (theme == 'light')
    tab.locator('.picture').first.click()
    box = tab.locator('#large img').bounding_box()
    right, bottom = box['x'] + box['width'], box['y'] + box['height']
    assert box['x'] >= 0 and right <= SIZES[size][0] and bottom <= SIZES[size][1]
    tab.keyboard.press('Escape')
    # The check can fail.
    tab.evaluate('document.querySelector("h1").style.color = "#777"')
    assert len(tab.evaluate(LOW_CONTRAST)) == 1


# Black and white of a figure are the page's own in the dark.
COLOURS_OF_PICTURE = """atob(document.querySelector('.picture img').src.split(',')[1])
  .match(/#[0-9a-f]{6}/g)"""
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
    const silent = ['SCRIPT', 'OPTION', 'title', 'desc'].includes(e.tagName);
    if (!text || silent || !e.checkVisibility()) continue;
    const style = getComputedStyle(e);
    const pair = [rgba(e.ownerSVGElement ? style.fill : style.color), behind(e)];
    const [a, b] = pair.map(c => light(c.slice(0, 3)) + .05).sort((x, y) => y - x);
    const ratio = a / b;
    if (ratio < 4.5) bad.push(`${e.tagName} ${text.slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return bad;
})()"""


def test_a_click_chooses_a_network_and_a_link_opens_it(tab, open_tab):
    tab.click(find_cell(2, 1, 2))
    assert tab.inner_text(TITLE).startswith(OTHER.removesuffix('1'))
    tab.click('.choice button:nth-child(2)')
    assert tab.inner_text(TITLE) == OTHER
    fragment = '#depth=2&exception=unseen&gamma=0.6&seed=1'
    assert tab.evaluate('location.hash') == fragment
    assert tab.evaluate('document.activeElement.textContent') == 'seed 1'
    assert open_tab(tab.url).inner_text(TITLE) == OTHER
    unknown = open_tab(tab.url.replace('0.6', '77'))
    assert unknown.inner_text(TITLE) != OTHER


def test_the_keyboard_walks_from_panel_to_panel_and_chooses(tab):
    tab.click(find_cell(1, 2, 1))
    tab.click('.choice button:nth-child(1)')
    assert tab.inner_text(TITLE) == FIRST
    tab.focus(f'{CELL}[tabindex="0"]')
    for key in ('ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowLeft'):
        tab.keyboard.press(key)
    browser.wait_until(
        tab,
        f'document.querySelector("{TITLE}").textContent.startsWith'
        '("depth 2, exception unseen, γ 0.6")',
    )
    tab.keyboard.press('Escape')
    browser.wait_until(
        tab, f'document.querySelector("{TITLE}").textContent === "{FIRST}"'
    )
    tab.keyboard.press('Enter')
    assert 'exception=unseen&gamma=0.6' in tab.evaluate('location.hash')
    assert tab.locator(f'{CELL}[tabindex="0"]').count() == 1


def test_readings_and_filters_change_the_cells(tab):
    mean = f'{find_cell(2, 1, 1)} .mean'
    before = tab.inner_text(mean)
    tab.check('input[value="unseen_symmetric"]', force=True)
    assert tab.inner_text(mean) != before
    assert tab.locator('.range').count() > 0
    tab.select_option('.filter select', label='0')
    assert tab.locator('.range').count() == 0


def test_what_is_wrong_with_a_network_is_said_and_marked(tab, open_tab):
    start = f'{tab.url}#depth='
    diverged = open_tab(f'{start}1&exception=trained&gamma=0.6&seed=0')
    assert 'diverged at step 2' in diverged.inner_text('#detail')
    assert 'Not recorded for this member.' in diverged.inner_text('#detail')
    unconverged = open_tab(f'{start}2&exception=trained&gamma=0.9&seed=1')
    verdict = unconverged.inner_text('.verdict-line')
    assert 'not converged (loss on training examples 0.31)' in verdict
    cell = tab.locator(find_cell(1, 1, 3))
    assert 'unconverged' in cell.get_attribute('class')
    assert 'unconverged' not in tab.locator(find_cell(1, 1, 1)).get_attribute('class')
    label = tab.locator(find_cell(2, 1, 3)).get_attribute('aria-label')
    assert '1 of 2 members trained' in label


@pytest.mark.parametrize('name', ['anchors_attacked', 'scan_attacked'])
def test_hostile_names_are_shown_and_do_nothing(name, open_tab, pages):
    tab = open_tab(pages[name])
    tab.locator(CELL).nth(1).dispatch_event('click')  # long names lie above it
    assert tab.locator('img[src=x], [onerror]').count() == 0
    assert tab.evaluate('document.scripts.length') == 2
    places = ['h1', '#member-title', '.counts', '.settings']
    places += ['.claims', '#provenance dd', '.missing', '.figures summary', '#legend']
    places += ['.card figcaption', '.figure-numbers pre', '#controls']
    places.append('.question' if name == 'scan_attacked' else '#sides h3')
    for place in places:
        assert samples.HOSTILE in tab.locator(place).first.text_content(), place
