"""Chromium through Playwright, which is told of the Debian package's browser."""

import contextlib
import shutil
import time
from collections.abc import Iterator

import pytest

try:
    from playwright import sync_api
except ImportError:
    sync_api = None

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'chrome')
Page = 'sync_api.Page'


def find_executable() -> str | None:
    found = [shutil.which(name) for name in NAMES]
    return next(filter(None, found), None)


def explain_absence() -> str:
    """Why there is no browser; '' if there is one."""
    if sync_api is None:
        return 'playwright is not installed (pip install playwright)'
    if find_executable() is None:
        return f'no Chromium: none of {", ".join(NAMES)} is on the PATH'
    return ''


@contextlib.contextmanager
def open_browser() -> Iterator['sync_api.Browser']:
    """The browser; skips the test where there is none."""
    if explain_absence():
        pytest.skip(explain_absence())
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_executable(), args=['--no-sandbox', '--disable-gpu']
        )
        yield browser
        browser.close()


def watch(tab: Page) -> list[str]:
    """A list that fills with what a reader's console would show, and with dialogs."""
    problems: list[str] = []

    def dismiss(dialog: 'sync_api.Dialog') -> None:
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
