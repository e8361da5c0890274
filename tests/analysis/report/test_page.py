"""The HTML of the report: what it may contain."""

import copy
import json
import math
import re
import shutil
import subprocess

import pytest

from analysis.report import page
from tests.support.pages import samples


@pytest.fixture
def payload(planted_payload) -> dict:
    return copy.deepcopy(planted_payload)


def read_data(html: str) -> dict:
    """The data of the page's script."""
    found = re.search(r'<script id="data"[^>]*>(.*?)</script>', html, re.S)
    return json.loads(found[1])


@pytest.mark.skipif(not shutil.which('node'), reason='no Node.js')
def test_the_script_of_the_page_can_be_parsed(payload, tmp_path):
    script = re.search(r'<script>(.*?)</script>', page.render(payload), re.S)
    path = tmp_path / 'page.js'
    path.write_text(script[1], encoding='utf-8')
    subprocess.run(('node', '--check', path), check=True)


def test_nothing_is_loaded_from_anywhere(payload):
    html = page.render(payload)
    assert not re.findall(r'(?:src|href)="(?!data:|#)', html)
    assert 'url(' not in html
    assert '@import' not in html
    assert 'fetch(' not in html
    assert "default-src 'none'" in html.replace('&#39;', "'")
    assert 'unsafe' not in html


def test_missing_numbers_are_null_and_points_stay_exact(payload):
    payload['data']['members'][0]['point']['gamma'] = 0.123456789
    payload['data']['members'][0]['train_loss'] = [math.nan, math.inf, 0.123, None]
    member = read_data(page.render(payload))['members'][0]
    assert member['train_loss'] == [None, None, 0.123, None]
    assert member['point']['gamma'] == 0.123456789


def test_a_hostile_name_ends_no_element_and_fills_no_placeholder(payload):
    html = page.render(samples.attack(payload))
    assert '<img src=x' not in html
    assert html.count('</script>') == 2
    assert html.count('id="data"') == 1
    assert samples.HOSTILE in json.dumps(read_data(html), ensure_ascii=False).replace(
        '\\"', '"'
    )
