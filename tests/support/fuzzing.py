"""What the fuzz and security tests share: hostile values, accidents and limits."""

import contextlib
import pathlib
import shutil
import signal
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

from hypothesis import settings
from hypothesis import strategies as st

from anchorjax.errors import UserError

LINE = 1_000  # characters of an error, without the path of a file
TEXTS = (
    '',
    ' ',
    '.',
    '..',
    '../x',
    '/etc',
    'a/b',
    '-rf',
    'x\n',
    '\x1b[2J',
    '\0',
    'é',
    '\u202eb',
    'x' * 101,
    'x' * 3000,
    'anchors',
    'paper',
    '__class__',
    '$(touch x)',
    '\ud800',
)
_SMALL = (0, 1, 2, 3, 5, 7, 40, 200, 10**4, 10**5, 10**6)
_LARGE = (10**9, 10**12, 2**31, 2**63, 10**400)
_NEGATIVE = (-1, -7, -(10**12))
_FLOATS = (0.0, -0.0, 0.5, 1.5, 1e-8, 1e-300, 1e9, 1e308, -1e308)
_NOT_FINITE = (float('nan'), float('inf'), float('-inf'))
NUMBERS = (*_SMALL, *_LARGE, *_NEGATIVE, *_FLOATS, *_NOT_FINITE)
SCALARS = st.sampled_from((*TEXTS, *NUMBERS, None, True, False))


def _make_tuples(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(values, max_size=4).map(tuple)


VALUES = st.recursive(SCALARS, _make_tuples, max_leaves=6)
# An accident to some bytes: its kind, where (as a share of them), and a number.
_ACCIDENTS = ('flip', 'truncate', 'empty', 'delete', 'insert', 'repeat', 'append')
BYTES = st.tuples(
    st.sampled_from(_ACCIDENTS),
    st.floats(0, 1, exclude_max=True),
    st.integers(1, 255),
)


def fuzz(examples: int) -> settings:
    """The same examples in every run, and as much time for each as it takes."""
    return settings(
        max_examples=examples, derandomize=True, deadline=None, database=None
    )


def damage_bytes(data: bytes, accident: tuple[str, float, int]) -> bytes:
    """The bytes after one accident of BYTES."""
    kind, share, number = accident
    at = int(share * len(data))
    head, tail = data[:at], data[at:]
    extra = bytes([number])
    if kind == 'flip':
        return head + bytes([tail[0] ^ number]) + tail[1:] if tail else data
    results = {
        'truncate': head,
        'empty': b'',
        'delete': head + tail[number:],
        'insert': head + extra + tail,
        'repeat': head + tail[:number] * 2 + tail[number:],
        'append': data + extra * number,
    }
    return results[kind]


def copy_folder(source: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    """Replaces `target` by a copy of a folder, links as links; returns `target`."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)
    return target


def require_line(error: UserError | str, path: object = '') -> None:
    """Fails unless the error is one line.

    Args:
      path: left out of the line before its length counts.
    """
    text = str(error).replace(str(path), '')
    assert len(text.splitlines()) == 1 and len(text) < LINE, text


@contextlib.contextmanager
def refused_or_right(path: object = '', seconds: int = 30) -> Iterator[None]:
    """What is inside succeeds, or says what is wrong in one line, in a bounded time."""
    former = signal.signal(signal.SIGALRM, _fail)
    signal.alarm(seconds)
    try:
        yield
    except UserError as e:
        require_line(e, path)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)


def _fail(number: int, frame: FrameType | None) -> NoReturn:
    raise AssertionError('it hangs')
