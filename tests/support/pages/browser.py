"""Chromium through Playwright, which is told of the Debian package's browser."""

import contextlib
import shutil
import time
from collections.abc import Iterator
from typing import Any

import pytest

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'chrome')
Page = Any  # of Playwright, which need not be installed


@contextlib.contextmanager
def open_browser() -> Iterator[Any]:
    """The browser; skips the test where there is none."""
    sync_api = pytest.importorskip('playwright.sync_api')
    paths = list(filter(None, map(shutil.which, NAMES)))
    if not paths:
        pytest.skip(f'no Chromium: none of {", ".join(NAMES)} is on the PATH')
    options = ['--no-sandbox', '--disable-gpu']
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=paths[0], args=options)
        yield browser
        browser.close()


def watch(tab: Page) -> list[str]:
    """A list that fills with what a reader's console would show, and with dialogs."""
    problems: list[str] = []

    def dismiss(dialog: Any) -> None:
        problems.append(f'dialog: {dialog.message}')
        dialog.dismiss()

    tab.on('console', lambda message: problems.append(message.text))
    tab.on('pageerror', lambda error: problems.append(str(error)))
    tab.on('dialog', dismiss)
    return problems


def wait_until(tab: Page, script: str, seconds: float = 10.0) -> None:
    """Waits for an expression to be true, from outside: the page forbids `eval`."""
    end = time.monotonic() + seconds
    while not tab.evaluate(script):
        if time.monotonic() > end:
            raise TimeoutError(script)
        tab.wait_for_timeout(20)
