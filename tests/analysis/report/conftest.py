"""Fixtures of the tests that open the report in a browser."""

import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from analysis.report import page
from tests.support.pages import browser, samples


@pytest.fixture(scope='module')
def chromium() -> Iterator[Any]:
    with browser.open_browser() as opened:
        yield opened


@pytest.fixture(scope='module')
def engine(chromium):
    """An empty page, which evaluates scripts."""
    return chromium.new_page()


@pytest.fixture(scope='session')
def pages(
    tmp_path_factory: pytest.TempPathFactory, planted_payload: dict[str, Any]
) -> dict[str, str]:
    """The addresses of written reports: of anchors and of SCAN, and their attacks."""
    folder = tmp_path_factory.mktemp('report')
    of_scan = samples.make_payload(samples.plant_scan(folder / 'scan'))
    urls = {}
    for name, payload in (('anchors', planted_payload), ('scan', of_scan)):
        urls[name] = write_page(folder / f'{name}.html', payload)
        attacked = samples.attack(payload)
        urls[f'{name}_attacked'] = write_page(folder / f'{name}_2.html', attacked)
    return urls


@pytest.fixture(scope='session')
def planted_payload(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the page of anchors shows; a test that changes it takes a copy."""
    folder = tmp_path_factory.mktemp('planted') / 'run'
    return samples.make_payload(samples.plant_anchors(folder))


@pytest.fixture
def open_tab(chromium):
    """A function: a tab with this page, which must show no problem at the end."""
    opened = []

    def open_page(url: str, width: int = 1400, height: int = 900, **options: Any):
        size = {'width': width, 'height': height}
        tab = chromium.new_page(viewport=size, has_touch=True, **options)
        opened.append((tab, browser.watch(tab)))
        tab.goto(url)
        return tab

    yield open_page
    for tab, problems in opened:
        tab.close()
        assert problems == []


@pytest.fixture
def tab(open_tab, pages):
    """The page of anchors in a desktop window."""
    return open_tab(pages['anchors'])


def write_page(path: pathlib.Path, payload: dict[str, Any]) -> str:
    """Writes the page of a payload; its address."""
    path.write_text(page.render(payload), encoding='utf-8')
    return path.as_uri()
