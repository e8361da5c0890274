"""Whether what was read is a whole published corpus, a part of it, or another one."""

import fnmatch
import pathlib
from collections.abc import Sequence
from typing import NamedTuple


class Part(NamedTuple):
    """A part of a corpus, and how much of it its authors published (DATASETS 6, 7)."""

    name: str
    patterns: tuple[str, ...]  # of its files' names, in every form
    documents: int = 0  # with the empty ones; 0: not published
    files: int = 0  # 0: they differ from form to form


def find_parts(parts: Sequence[Part], files: Sequence[pathlib.Path]) -> list[Part]:
    """The parts that these files belong to by name.

    Files of other names, such as the head of a file, are compared with the first part,
    if its documents are counted.
    """
    found = []
    for part in parts:
        for pattern in part.patterns:
            if fnmatch.filter([file.name for file in files], pattern):
                found.append(part)
                break
    if not found and parts and parts[0].documents:
        found.append(parts[0])
    return found


def count_documents(parts: Sequence[Part]) -> dict[str, int]:
    """Published documents by part, for corpus.json; {} where one is not published."""
    counts = {part.name: part.documents for part in parts}
    return counts if all(counts.values()) else {}


def compare(parts: Sequence[Part], documents: int, files: int) -> str:
    """One line: the whole published corpus, a part of it, or more than it.

    Args:
      parts: what find_parts returned.
      documents: that were read, the empty ones and rows without text included.
      files: that were read.
    """
    names = ', '.join(part.name for part in parts)
    counts = count_documents(parts)
    if counts:
        return _judge(documents, sum(counts.values()), 'documents', names)
    num_files = sum(part.files for part in parts)
    if num_files:
        line = _judge(files, num_files, 'files', names)
        return f'{line}; the number of documents is not published'
    return 'the number of documents is not published, so it is not compared'


def _judge(found: int, published: int, unit: str, names: str) -> str:
    if found > published:
        return (
            f'{found:,} {unit}, more than the {published:,} published ({names}): '
            'another corpus'
        )
    verdict = 'the whole' if found == published else 'a part'
    return f'{found:,} of {published:,} published {unit} ({names}): {verdict}'
