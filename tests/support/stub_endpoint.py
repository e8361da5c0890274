"""A server on the loopback that speaks the OpenAI API, with planned accidents."""

import contextlib
import http.server
import json
import threading
from collections.abc import Iterator


class Stub(http.server.ThreadingHTTPServer):
    """Answers 7; `accidents` are what happens to the next requests instead."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(('127.0.0.1', 0), _Handler)
        self.accidents: list[str] = []
        self.waits: list[str] = []  # Retry-After of the next refusals
        self.bodies: list[dict] = []
        self.headers: list[dict[str, str]] = []

    @property
    def address(self) -> str:
        return f'http://127.0.0.1:{self.server_port}/v1'


@contextlib.contextmanager
def serve() -> Iterator[Stub]:
    stub = Stub()
    thread = threading.Thread(target=stub.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        stub.shutdown()
        stub.server_close()
        thread.join()


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Stub
    protocol_version = 'HTTP/1.1'

    def do_POST(self) -> None:
        length = int(self.headers['Content-Length'])
        body = json.loads(self.rfile.read(length))
        stub = self.server
        stub.bodies.append(body)
        stub.headers.append(dict(self.headers.items()))
        accident = stub.accidents.pop(0) if stub.accidents else ''
        if accident == 'nonsense':
            self._send(200, b'{"choices": []}')
        elif accident.isdecimal():
            key = self.headers.get('Authorization', '')
            text = json.dumps({'error': f'no: {key}'}).encode()
            wait = {'Retry-After': stub.waits.pop(0)} if stub.waits else {}
            self._send(int(accident), text, **wait)
        else:
            choice = {'message': {'content': ' 7\n'}, 'finish_reason': 'stop'}
            self._send(200, json.dumps({'choices': [choice]}).encode())

    def _send(self, status: int, data: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header('Content-Length', str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Says nothing."""
