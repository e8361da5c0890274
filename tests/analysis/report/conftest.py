"""Fixtures of the tests that open the report in a browser."""

import pathlib
from collections.abc import Iterator

import pytest

from analysis.report import page
from tests.support.pages import browser, node, report_sample


@pytest.fixture(scope='module')
def tab() -> Iterator[browser.Page]:
    if browser.find_executable() is None:
        names = ', '.join(browser.NAMES)
        pytest.skip(f'no Chromium here: none of {names} is on the PATH')
    with browser.open_browser() as opened:
        yield opened


@pytest.fixture(scope='module')
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> browser.Page | node.Node:
    """What evaluates scripts that need no page: the browser, or else Node."""
    if browser.find_executable() is None and node.find_executable() is not None:
        return node.Node(tmp_path_factory.mktemp('node'))
    return request.getfixturevalue('tab')


@pytest.fixture(scope='module')
def urls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The addresses of two written reports, by name."""
    folder = tmp_path_factory.mktemp('report')
    return {
        'sample': write_page(folder / 'sample.html', report_sample.make_payload()),
        'hostile': write_page(
            folder / 'hostile.html', report_sample.make_hostile_payload()
        ),
    }


@pytest.fixture
def sample(tab: browser.Page, urls: dict[str, str]) -> Iterator[browser.Page]:
    """The sample in a desktop window, which must show no problem."""
    tab.problems.clear()
    tab.resize(1280, 900, 'light')
    tab.open(urls['sample'])
    yield tab
    assert tab.problems == []


@pytest.fixture
def open_payload(tab: browser.Page, tmp_path: pathlib.Path):
    """Opens the page of a payload and returns the tab."""

    def open_page(payload: dict) -> browser.Page:
        tab.problems.clear()
        tab.resize(1280, 900, 'light')
        tab.open(write_page(tmp_path / 'report.html', payload))
        return tab

    return open_page


def write_page(path: pathlib.Path, payload: dict) -> str:
    """Writes the page of a payload; its address."""
    path.write_text(page.render(payload), encoding='utf-8')
    return path.as_uri()
