"""What may befall the files of a chunk, drawn by hypothesis or chosen by hand."""

import os
import pathlib
import re

from hypothesis import strategies as st

from tests.support.fuzzing import BYTES, damage_bytes
from tests.support.sweeps import list_files

# One of BYTES, something else in place of the file, or a file to swap contents with.
Accident = tuple[str, float, int] | str | int

_ANY_NUMBER = st.integers(0, 10**6)
_REPLACEMENTS = st.sampled_from(['remove', 'folder', 'fifo', 'link'])
# (which file, what befalls it)
ACCIDENTS = st.tuples(_ANY_NUMBER, st.one_of(BYTES, _REPLACEMENTS, _ANY_NUMBER))

# What is read of a chunk: the newest state, the last parameters, the curves.
_READ = r'/(30|40)/(tree/(d/|ocdbt|manifest)|digests/metadata)|curves\.npz'
_WEIGHT = 3  # these files are hit three times as often as the others


def hit_any_file(folder: pathlib.Path, number: int, accident: Accident) -> None:
    """Damages one of the files below a folder, most often one that is read."""
    paths = list_files(folder)
    read = [path for path in paths if re.search(_READ, str(path))]
    targets = paths + read * (_WEIGHT - 1)
    target = targets[number % len(targets)]
    if isinstance(accident, int):
        swap_contents(target, targets[accident % len(targets)])
    else:
        hit(target, accident)


def hit(path: pathlib.Path, accident: Accident) -> None:
    """Damages the bytes of a file, removes it, or puts something else in its place."""
    if isinstance(accident, tuple):
        path.write_bytes(damage_bytes(path.read_bytes(), accident))
        return
    path.unlink()
    if accident == 'folder':
        path.mkdir()
    elif accident == 'link':
        path.symlink_to('/dev/zero')
    elif accident == 'fifo':
        os.mkfifo(path)
    else:
        assert accident == 'remove'


def swap_contents(first: pathlib.Path, second: pathlib.Path) -> None:
    data = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(data)
