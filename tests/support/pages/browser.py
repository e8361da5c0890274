"""A headless Chromium, driven over its DevTools pipe: JSON, each message ends in \\0.

The pipe (file descriptors 3 and 4) is used rather than the websocket: it needs no
library and no port.
"""

import base64
import contextlib
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'chrome')
FLAGS = (
    '--headless=new',
    '--no-sandbox',
    '--remote-debugging-pipe',
    '--disable-gpu',
    '--no-first-run',
    '--disable-extensions',
    '--hide-scrollbars',
    '--disable-dev-shm-usage',
)
TIMEOUT = 30.0  # seconds for an answer
# Moves the two descriptors to the numbers where Chromium looks for them.
_EXEC = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3])
os.dup2(read, 3)
os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
KEYS = {'Enter': '\r', ' ': ' '}
# Scrolls an element into view; the coordinates of its middle.
_LOCATE = """(element => {
  element.scrollIntoView({block: "center", behavior: "instant"});
  const box = element.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})(document.querySelector(%s))"""
_PROBLEMS = ('Runtime.exceptionThrown', 'Log.entryAdded', 'Runtime.consoleAPICalled')


def find_executable() -> str | None:
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    return None


@contextlib.contextmanager
def open_browser() -> Iterator['Page']:
    """A Page; the browser and its profile are gone afterwards."""
    browser_read, our_write = os.pipe()
    our_read, browser_write = os.pipe()
    pipes = (browser_read, browser_write)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [sys.executable, '-c', _EXEC, *map(str, pipes), find_executable()]
        command += [*FLAGS, f'--user-data-dir={profile}', 'about:blank']
        process = subprocess.Popen(command, pass_fds=pipes, stderr=subprocess.DEVNULL)
        os.close(browser_read)
        os.close(browser_write)
        try:
            yield Page(our_read, our_write)
        finally:
            # The browser ends when its pipe is closed.
            os.close(our_write)
            os.close(our_read)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()
            process.wait()


class Page:
    """One tab. `problems` collects what a reader's console would show, and dialogs."""

    def __init__(self, read: int, write: int):
        self._read = read
        self._write = write
        self._buffer = b''
        self._last_id = 0
        self._session = None
        self._loaded = False
        self.problems: list[str] = []
        target = self.send('Target.createTarget', url='about:blank')['targetId']
        attached = self.send('Target.attachToTarget', targetId=target, flatten=True)
        self._session = attached['sessionId']
        for domain in ('Page', 'Runtime', 'Log'):
            self.send(f'{domain}.enable')

    def send(self, method: str, **params: Any) -> dict:
        """The result of a DevTools command."""
        self._last_id += 1
        message = {'id': self._last_id, 'method': method, 'params': params}
        if self._session:
            message['sessionId'] = self._session
        os.write(self._write, json.dumps(message).encode() + b'\0')
        answer = self._receive()
        while answer.get('id') != self._last_id:
            self._note_event(answer)
            answer = self._receive()
        if 'error' in answer:
            raise RuntimeError(f'{method}: {answer["error"]}')
        return answer['result']

    def open(self, url: str) -> None:
        """Loads a page, even if only the fragment of its address differs."""
        for address in ('about:blank', url):
            self._loaded = False
            self.send('Page.navigate', url=address)
            while not self._loaded:
                self._note_event(self._receive())

    def resize(self, width: int, height: int, theme: str) -> None:
        """Sets the size of the window and the preferred theme, 'light' or 'dark'."""
        size = {'width': width, 'height': height}
        self.send(
            'Emulation.setDeviceMetricsOverride',
            **size,
            deviceScaleFactor=1,
            mobile=False,
        )
        feature = {'name': 'prefers-color-scheme', 'value': theme}
        self.send('Emulation.setEmulatedMedia', features=[feature])

    def value(self, script: str) -> Any:
        """What an expression evaluates to; promises are waited for."""
        answer = self.send(
            'Runtime.evaluate', expression=script, returnByValue=True, awaitPromise=True
        )
        if 'exceptionDetails' in answer:
            raise RuntimeError(f'{script}: {answer["exceptionDetails"]}')
        return answer['result'].get('value')

    def wait(self, script: str, seconds: float = 3.0) -> None:
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while not self.value(f'Boolean({script})'):
            if time.monotonic() > end:
                raise TimeoutError(script)
            time.sleep(0.02)

    def hover(self, selector: str) -> None:
        """Moves the pointer to the middle of an element."""
        x, y = self.value(_LOCATE % json.dumps(selector))
        self._send_mouse('mouseMoved', x, y, button='none')

    def click(self, selector: str) -> None:
        x, y = self.value(_LOCATE % json.dumps(selector))
        self.click_at(x, y)

    def click_at(self, x: float, y: float) -> None:
        """Clicks a point of the window."""
        self._send_mouse('mouseMoved', x, y, button='none')
        self._send_mouse('mousePressed', x, y, button='left')
        self._send_mouse('mouseReleased', x, y, button='left')

    def tap(self, selector: str) -> None:
        """Touches the middle of an element with a finger."""
        x, y = self.value(_LOCATE % json.dumps(selector))
        touch = [{'x': x, 'y': y}]
        self.send('Input.dispatchTouchEvent', type='touchStart', touchPoints=touch)
        self.send('Input.dispatchTouchEvent', type='touchEnd', touchPoints=[])

    def press(self, *keys: str) -> None:
        for key in keys:
            text = {'text': KEYS[key]} if key in KEYS else {}
            self.send('Input.dispatchKeyEvent', type='keyDown', key=key, **text)
            self.send('Input.dispatchKeyEvent', type='keyUp', key=key)

    def save_screenshot(self, path: pathlib.Path, whole: bool = True) -> None:
        shot = self.send('Page.captureScreenshot', captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot['data']))

    def _send_mouse(self, kind: str, x: float, y: float, button: str) -> None:
        event = {'type': kind, 'x': x, 'y': y, 'button': button, 'clickCount': 1}
        self.send('Input.dispatchMouseEvent', **event)

    def _receive(self) -> dict:
        """The next message."""
        while b'\0' not in self._buffer:
            readable, _, _ = select.select([self._read], [], [], TIMEOUT)
            if not readable:
                raise TimeoutError('the browser does not answer')
            received = os.read(self._read, 1 << 16)
            if not received:
                raise RuntimeError('the browser ended')
            self._buffer += received
        message, self._buffer = self._buffer.split(b'\0', 1)
        return json.loads(message)

    def _note_event(self, event: dict) -> None:
        method, params = event.get('method'), event.get('params', {})
        if method == 'Page.loadEventFired':
            self._loaded = True
        elif method == 'Page.javascriptDialogOpening':
            self.problems.append(f'dialog: {params["message"]}')
        elif method in _PROBLEMS:
            self.problems.append(f'{method}: {json.dumps(params)[:600]}')
