"""The texts of a corpus, one after another.

  .txt       documents between <|endoftext|>
  .jsonl     an object a line, the text in a field
  .parquet   a column with the text

Text files are UTF-8, and may be packed (.gz, .zst). fsspec opens them, here or on the
Hugging Face hub, from where they are streamed: they are never on the disk. The memory
that this takes is that of the longest document.
"""

import fnmatch
import io
import json
import os
import pathlib
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from anchorjax.errors import TemporaryError, UserError, describe_cause, import_extra

SEPARATOR = '<|endoftext|>'
_SUFFIXES = ('.txt', '.jsonl', '.parquet')
# JSON can escape half of a letter beyond 16 bits, which UTF-8 cannot write.
_HALF_LETTER = re.compile(r'[\ud800-\udfff]')


class Files(NamedTuple):
    """The files of a corpus, in order."""

    paths: list[str]  # local, or hf://...
    sizes: dict[str, int]  # bytes, by the name inside of the corpus
    times: dict[str, int]  # of local files, in ns
    revision: str = ''  # the commit on the hub that they are of; '': local files


class RowFilter(NamedTuple):
    """Which rows of jsonl and parquet count, and where their text is."""

    field: str = 'text'
    # Values of meta.redpajama_set_name (DATASETS 7); () takes every row.
    sets: tuple[str, ...] = ()


def find_commit(repository: str) -> str:
    """The newest commit of a data set on the hub; TemporaryError without it."""
    hub = import_extra('huggingface_hub', 'data').HfApi()
    try:
        return hub.dataset_info(repository).sha
    except Exception as e:  # the hub's client raises many kinds
        line = f'{repository}: {describe_cause(e)}; a local copy can be --source PATH'
        raise TemporaryError(line) from None


def find_files(source: str, pattern: str = '') -> Files:
    """A file, or all in a folder, here or at an address, that can be read, in order.

    Hidden files are left out, and so is a text that is packed beside itself.

    Args:
      pattern: of their names inside of the folder; '' takes all.

    Raises:
      UserError: there is none, or the package is missing.
      TemporaryError: the hub does not answer.
    """
    open_address = import_extra('fsspec.core', 'data').url_to_fs
    try:
        fs, root = open_address(source)
        found = fs.find(root, detail=True)
    except (ValueError, ImportError) as e:  # no such kind of address
        raise UserError(f'--source {source!r}: {describe_cause(e)}') from None
    except Exception as e:  # the hub's client raises many kinds
        line = f'{source}: {describe_cause(e)}; a local copy can be --source PATH'
        raise TemporaryError(line) from None
    folder = root.rpartition('/')[0] if root in found else root
    info_of = {path.removeprefix(folder).lstrip('/'): found[path] for path in found}
    chosen: dict[str, str] = {}  # by the name without the packing
    for name in sorted(info_of):
        plain = re.sub(r'\.(gz|zst)$', '', name)
        is_wanted = fnmatch.fnmatch(name, pattern or '*') and plain.endswith(_SUFFIXES)
        if is_wanted and (root in found or not re.search(r'(^|/)\.', name)):
            chosen.setdefault(plain, name)
    if not chosen:
        matching = f'matches --pattern {pattern} and ' if pattern else ''
        raise UserError(f'{source}: no file that {matching}ends in one of {_SUFFIXES}')
    sizes = {name: info_of[name]['size'] for name in chosen.values()}
    paths = [info_of[name]['name'] for name in sizes]
    if '://' in source:
        return Files([fs.unstrip_protocol(path) for path in paths], sizes, {})
    stats = map(os.stat, paths)
    times = {name: stat.st_mtime_ns for name, stat in zip(sizes, stats, strict=True)}
    return Files(paths, sizes, times)


def read_texts(path: str, wanted: RowFilter) -> Iterator[str | None]:
    """The texts of one file; None for a row without one.

    Raises:
      UserError: the file is missing, cut, or holds something else; the line names it,
        and the number of its document, line or row.
      TemporaryError: a file of the hub cannot be read now.
    """
    fsspec, number = import_extra('fsspec', 'data'), 0
    try:
        with fsspec.open(path, 'rb', compression='infer') as file:
            for row in _read_rows(file, path, wanted):
                number += 1
                is_row = isinstance(row, dict)
                if wanted.sets and not (is_row and _find_set(row) in wanted.sets):
                    continue
                text = row.get(wanted.field) if is_row else None
                is_text = isinstance(text, str)
                yield _HALF_LETTER.sub('\ufffd', text) if is_text else None
    except Exception as e:  # fsspec, pyarrow and the decompressors raise many kinds
        kind = TemporaryError if '://' in path else UserError
        line = f'{path}: cannot be read after row {number} ({describe_cause(e)})'
        raise kind(f'{line}; truncated?') from None


def _read_rows(file: Any, path: str, wanted: RowFilter) -> Iterator[Any]:
    if path.endswith('.parquet'):
        parquet = import_extra('pyarrow.parquet', 'data').ParquetFile(file)
        for batch in parquet.iter_batches(1_000):
            yield from batch.to_pylist()
        return
    lines = io.TextIOWrapper(file, 'utf-8-sig')
    if '.jsonl' in pathlib.PurePath(path).suffixes:
        yield from (json.loads(line) for line in lines if line.strip())
        return
    for text in _split_documents(lines):
        yield {wanted.field: text}


def _split_documents(lines: io.TextIOWrapper) -> Iterator[str]:
    """Documents between separators, without the line ends around them."""
    parts: list[str] = []
    for line in lines:
        if '\0' in line:
            raise ValueError('a zero byte: must be UTF-8')
        *ends, rest = line.split(SEPARATOR)
        for end in ends:
            yield ''.join([*parts, end]).strip('\n')
            parts = []
        parts.append(rest)
    last = ''.join(parts).strip('\n')
    if last:
        yield last


def _find_set(row: dict[str, Any]) -> str | None:
    """The part of SlimPajama that a row is of; None if it does not say."""
    meta = row.get('meta')
    if isinstance(meta, str):  # in some mirrors (DATASETS 7)
        meta = json.loads(meta)
    return meta.get('redpajama_set_name') if isinstance(meta, dict) else None
