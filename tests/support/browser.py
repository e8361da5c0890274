"""A headless Chromium, driven over its DevTools pipe: JSON, a zero byte after each message.

The pipe (file descriptors 3 and 4) rather than the websocket: nothing to install, no port.
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

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'chrome')
FLAGS = ('--headless=new', '--no-sandbox', '--remote-debugging-pipe', '--disable-gpu')
FLAGS += (
    '--no-first-run',
    '--disable-extensions',
    '--hide-scrollbars',
    '--disable-dev-shm-usage',
)
TIMEOUT = 30.0
# Puts the two descriptors where Chromium looks for them, whatever their numbers were.
_EXEC = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3])
os.dup2(read, 3), os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
KEYS = {'Enter': '\r', ' ': ' '}


def executable() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextlib.contextmanager
def browser():
    """A Page; the browser and its profile are gone afterwards."""
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            sys.executable,
            '-c',
            _EXEC,
            str(theirs_in),
            str(theirs_out),
            executable(),
        ]
        process = subprocess.Popen(
            [*command, *FLAGS, f'--user-data-dir={profile}', 'about:blank'],
            pass_fds=(theirs_in, theirs_out),
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in), os.close(theirs_out)
        try:
            yield Page(ours_in, ours_out)
        finally:
            (
                os.close(ours_out),
                os.close(ours_in),
            )  # a closed pipe is how it is told to end
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()
            process.wait()


class Page:
    """One tab. `problems` gathers what a reader's console would show, and any dialog."""

    def __init__(self, read: int, write: int):
        self._read, self._write, self._buffer = read, write, b''
        self._last, self._session, self._loaded = 0, None, False
        self.problems: list[str] = []
        target = self.send('Target.createTarget', url='about:blank')['targetId']
        attached = self.send('Target.attachToTarget', targetId=target, flatten=True)
        self._session = attached['sessionId']
        for domain in ('Page', 'Runtime', 'Log'):
            self.send(f'{domain}.enable')

    def send(self, method: str, **params) -> dict:
        self._last += 1
        message = {'id': self._last, 'method': method, 'params': params}
        if self._session:
            message['sessionId'] = self._session
        os.write(self._write, json.dumps(message).encode() + b'\0')
        while (answer := self._receive()).get('id') != self._last:
            self._notice(answer)
        if 'error' in answer:
            raise RuntimeError(f'{method}: {answer["error"]}')
        return answer['result']

    def open(self, url: str) -> None:
        """Loads a page, not only a fragment of the one that is there."""
        for address in ('about:blank', url):
            self._loaded = False
            self.send('Page.navigate', url=address)
            while not self._loaded:
                self._notice(self._receive())

    def look(self, width: int, height: int, theme: str) -> None:
        size = {
            'width': width,
            'height': height,
            'deviceScaleFactor': 1,
            'mobile': False,
        }
        self.send('Emulation.setDeviceMetricsOverride', **size)
        feature = {'name': 'prefers-color-scheme', 'value': theme}
        self.send('Emulation.setEmulatedMedia', features=[feature])

    def value(self, script: str):
        """What an expression evaluates to; promises are waited for."""
        asked = {'expression': script, 'returnByValue': True, 'awaitPromise': True}
        answer = self.send('Runtime.evaluate', **asked)
        if 'exceptionDetails' in answer:
            raise RuntimeError(f'{script}: {answer["exceptionDetails"]}')
        return answer['result'].get('value')

    def wait(self, script: str, seconds: float = 3.0) -> None:
        end = time.monotonic() + seconds
        while not self.value(f'Boolean({script})'):
            if time.monotonic() > end:
                raise TimeoutError(script)
            time.sleep(0.02)

    def point(self, selector: str, kind: str = 'click') -> None:
        """Moves the pointer to the middle of an element and, unless it is a hover, clicks."""
        quoted = json.dumps(selector)
        box = self.value(
            f'(e => {{ e.scrollIntoView({{block: "center", behavior: "instant"}});'
            f' const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2];'
            f'}})(document.querySelector({quoted}))'
        )
        kinds = ['mouseMoved'] + ['mousePressed', 'mouseReleased'] * (kind == 'click')
        for name in kinds:
            place = {'type': name, 'x': box[0], 'y': box[1], 'clickCount': 1}
            button = 'none' if name == 'mouseMoved' else 'left'
            self.send('Input.dispatchMouseEvent', **place, button=button)

    def press(self, *keys: str) -> None:
        for key in keys:
            text = {'text': KEYS[key]} if key in KEYS else {}
            self.send('Input.dispatchKeyEvent', type='keyDown', key=key, **text)
            self.send('Input.dispatchKeyEvent', type='keyUp', key=key)

    def screenshot(self, path: pathlib.Path, whole: bool = True) -> None:
        shot = self.send('Page.captureScreenshot', captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot['data']))

    def _receive(self) -> dict:
        while b'\0' not in self._buffer:
            if not select.select([self._read], [], [], TIMEOUT)[0]:
                raise TimeoutError('the browser does not answer')
            if not (more := os.read(self._read, 1 << 16)):
                raise RuntimeError('the browser ended')
            self._buffer += more
        message, self._buffer = self._buffer.split(b'\0', 1)
        return json.loads(message)

    def _notice(self, event: dict) -> None:
        method, params = event.get('method'), event.get('params', {})
        if method == 'Page.loadEventFired':
            self._loaded = True
        elif method == 'Page.javascriptDialogOpening':
            self.problems.append(f'dialog: {params["message"]}')
        elif method in (
            'Runtime.exceptionThrown',
            'Log.entryAdded',
            'Runtime.consoleAPICalled',
        ):
            self.problems.append(f'{method}: {json.dumps(params)[:600]}')
