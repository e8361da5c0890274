"""What may befall the files of a chunk, drawn by hypothesis or chosen by hand."""

import pathlib
import re

from hypothesis import strategies as st

from tests.support.fuzzing import BYTES, damage_bytes
from tests.support.sweeps import list_files

Accident = tuple[str, float, int] | str  # one of BYTES, or 'remove'

# (which file, what befalls it)
ACCIDENTS = st.tuples(st.integers(0, 10**6), st.one_of(BYTES, st.just('remove')))

# What is read of a chunk: the newest state, the last parameters, the curves.
_READ = r'/(30|40)/(tree/(d/|ocdbt|manifest)|digests/metadata)|curves\.npz'
_WEIGHT = 3  # these files are hit three times as often as the others


def hit_any_file(folder: pathlib.Path, number: int, accident: Accident) -> None:
    """Damages one of the files below a folder, most often one that is read."""
    paths = list_files(folder)
    read = [path for path in paths if re.search(_READ, str(path))]
    targets = paths + read * (_WEIGHT - 1)
    hit(targets[number % len(targets)], accident)


def hit(path: pathlib.Path, accident: Accident) -> None:
    """Damages the bytes of a file, or removes it."""
    if accident == 'remove':
        path.unlink()
    else:
        path.write_bytes(damage_bytes(path.read_bytes(), accident))
