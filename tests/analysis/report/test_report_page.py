"""The HTML of the report: what it may contain."""

import json
import math
import re

from analysis.drawing.style import COLOURS, ROLES
from analysis.report import page
from tests.support.pages import report_sample


def read_data(html: str) -> dict:
    """The data of the page's script."""
    found = re.search(r'<script id="data"[^>]*>(.*?)</script>', html, re.S)
    return json.loads(found[1])


def test_nothing_is_loaded_from_anywhere():
    html = page.render(report_sample.make_payload())
    assert not re.findall(r'(?:src|href)="(?!data:|#)', html)
    assert 'url(' not in html
    assert '@import' not in html
    assert 'fetch(' not in html
    assert "default-src 'none'" in html.replace('&#39;', "'")
    assert 'unsafe' not in html


def test_missing_numbers_are_null_and_points_stay_exact():
    payload = report_sample.make_payload()
    payload['members'][0]['point']['gamma'] = 0.123456789
    payload['members'][0]['train_loss'] = [math.nan, math.inf, 0.123456789, None]
    member = read_data(page.render(payload))['members'][0]
    assert member['train_loss'] == [None, None, 0.123, None]
    assert member['point']['gamma'] == 0.123456789


def test_a_hostile_name_ends_no_element_and_fills_no_placeholder():
    payload = report_sample.make_hostile_payload()
    payload['figures'][0]['png_base64'] = report_sample.HOSTILE
    html = page.render(payload)
    assert '<img src=x' not in html
    assert html.count('</script>') == 2
    assert html.count('id="data"') == 1
    assert read_data(html)['members'][0]['status'] == report_sample.HOSTILE


def test_colours_are_those_of_the_figures():
    """The dark theme has a lighter blue; black on white is the ink of the theme."""
    style = page.join_files('styles', page.STYLES, 'css').lower()
    style = style.replace('#999;', '#999999;')
    expected = {}
    for solution, colour in COLOURS.items():
        expected[solution.replace(' ', '-')] = colour
    for role, colour in ROLES.items():
        if role not in ('last', 'noise'):
            expected[f'role-{role}'] = colour
    for name, colour in expected.items():
        assert re.search(rf'{name}\b.{{0,30}}{colour.lower()}', style), name
