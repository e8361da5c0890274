"""A server on the loopback that speaks the OpenAI API, with planned accidents.

It answers as one of the solutions would, from the equations that the prompt shows.
"""

import contextlib
import http.server
import json
import re
import threading
from collections.abc import Iterator

_EQUATION = re.compile(r'\((\d+), (\d+), (\d+)\) = (-?\d+)')
_ASKED = re.compile(r'\((\d+), (\d+), (\d+)\) =$')


class Stub(http.server.ThreadingHTTPServer):
    """Answers prompts; `accidents` are what happens to the next requests instead."""

    daemon_threads = True

    def __init__(self, solution: str = 'composed'):
        super().__init__(('127.0.0.1', 0), _Handler)
        self.solution = solution
        self.accidents: list[str] = []
        self.waits: list[str] = []  # Retry-After of the next refusals
        self.bodies: list[dict] = []
        self.headers: list[dict[str, str]] = []

    @property
    def address(self) -> str:
        return f'http://127.0.0.1:{self.server_port}/v1'


@contextlib.contextmanager
def serve(solution: str = 'composed') -> Iterator[Stub]:
    stub = Stub(solution)
    thread = threading.Thread(target=stub.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        stub.shutdown()
        stub.server_close()
        thread.join()


def solve(prompt: str, solution: str) -> str:
    """What a network with this solution would say.

    Shifts of single anchors follow from the pairs (a, a); the symmetric solution knows
    pairs alone, in any order.
    """
    first, second, key = map(int, _ASKED.search(prompt).groups())
    shifts = {}
    for a, b, x, y in _EQUATION.findall(prompt):
        shifts[int(a), int(b)] = int(y) - int(x)
    if solution == 'prose':
        return 'It follows some rule of the two numbers.'
    if solution == 'wrong':
        return '1000'
    if solution == 'symmetric':
        reverse = shifts.get((second, first))
        return (
            f'({first}, {second}, {key}) = {key + shifts.get((first, second), reverse)}'
        )
    total = (shifts[first, first] + shifts[second, second]) // 2
    return f' {key + total}\n'


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
        prompt = body['messages'][0]['content']
        if accident == 'nonsense':
            self._send(200, b'{"choices": []}')
        elif accident.isdecimal():
            key = self.headers.get('Authorization', '')
            text = json.dumps({'error': f'no: {key}'}).encode()
            wait = {'Retry-After': stub.waits.pop(0)} if stub.waits else {}
            self._send(int(accident), text, **wait)
        else:
            content = solve(prompt, stub.solution)
            choice = {'message': {'content': content}, 'finish_reason': 'stop'}
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
