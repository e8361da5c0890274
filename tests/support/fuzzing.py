"""What the fuzz and security tests share: hostile values, accidents, and what may come of them."""

import contextlib
import os
import pathlib
import shutil
import signal

from hypothesis import settings
from hypothesis import strategies as st

from anchorjax.errors import UserError

LINE = 500  # characters of a line that is shown, without the path of a file
TEXTS = (
    *(
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
    ),
    *('x' * 101, 'x' * 3000, 'anchors', 'paper', '__class__', '$(touch x)', '\ud800'),
)
NUMBERS = (
    *(
        0,
        1,
        2,
        3,
        5,
        7,
        40,
        200,
        10**4,
        10**5,
        10**6,
        10**9,
        10**12,
        2**31,
        2**63,
        10**400,
    ),
    *(-1, -7, -(10**12), 0.0, -0.0, 0.5, 1.5, 1e-8, 1e-300, 1e9, 1e308, -1e308),
    *(float('nan'), float('inf'), float('-inf')),
)
SCALARS = st.sampled_from((*TEXTS, *NUMBERS, None, True, False))
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=4).map(tuple), max_leaves=6
)
BYTES = st.tuples(
    st.sampled_from(
        ('flip', 'truncate', 'empty', 'delete', 'insert', 'repeat', 'append')
    ),
    st.floats(0, 1, exclude_max=True),  # where
    st.integers(1, 255),
)


def fuzz(examples: int):
    """The same examples in every run; no time limit of hypothesis, whose clock is the machine's."""
    return settings(
        max_examples=examples, derandomize=True, deadline=None, database=None
    )


def damaged(data: bytes, mutation: tuple) -> bytes:
    """The bytes after one accident."""
    kind, share, value = mutation
    at = int(share * len(data))
    head, tail, extra = data[:at], data[at:], bytes([value])
    return {
        'flip': head + bytes([tail[0] ^ value]) + tail[1:] if tail else data,
        'truncate': head,
        'empty': b'',
        'delete': head + tail[value:],
        'insert': head + extra + tail,
        'repeat': head + tail[:value] * 2 + tail[value:],
        'append': data + extra * value,
    }[kind]


def copied(folder: pathlib.Path, to: pathlib.Path) -> pathlib.Path:
    shutil.rmtree(to, ignore_errors=True)
    return pathlib.Path(shutil.copytree(folder, to, symlinks=True))


def files_below(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(p for p in folder.rglob('*') if p.is_file())


def require_line(e: UserError | str, path: object = '') -> None:
    """One line that a terminal can show as it is."""
    text = str(e).replace(str(path), '')
    assert text.isprintable() and 0 < len(text) < LINE, text


@contextlib.contextmanager
def refused_or_right(path: object = '', seconds: int = 30):
    """What is inside succeeds, or says what is wrong in one line, in a bounded time."""
    before = signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(seconds)
    try:
        yield
    except UserError as e:
        require_line(e, path)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _hangs(*_):
    raise AssertionError('it hangs')


def unlinked(path: pathlib.Path) -> None:
    """Removes whatever lies there."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else os.unlink(path)
