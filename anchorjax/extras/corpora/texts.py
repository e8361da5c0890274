"""The texts of a corpus, one after another.

  .txt       documents between <|endoftext|>
  .jsonl     an object a line, the text in a field
  .parquet   a column with the text

Text files are UTF-8, and may be packed (.gz, .zst). Files on the Hugging Face hub are
streamed: they are never on the disk. The memory that this takes is that of the longest
document.
"""

import fnmatch
import glob
import gzip
import io
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from anchorjax.errors import TemporaryError, UserError, describe_cause, import_extra
from anchorjax.files import parse_json
from anchorjax.tasks.text_files import decode_text

SEPARATOR = '<|endoftext|>'
_KINDS = ('.txt', '.jsonl', '.parquet')
_PACKINGS = ('.gz', '.zst')
_SUFFIXES = (*_KINDS, '.txt.gz', '.txt.zst', '.jsonl.gz', '.jsonl.zst')
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


def find_local(path: pathlib.Path, pattern: str = '') -> Files:
    """A file, or all in a folder that can be read; UserError if there is none.

    Hidden files and folders are left out, and so is a text that is there twice: packed
    beside itself, or by a link.

    Args:
      pattern: of their names inside of the folder; '' takes all.
    """
    names, folder = [path.name], path.parent
    if path.is_dir():
        found = [str(file.relative_to(path)) for file in sorted(path.rglob('*'))]
        names, folder = [name for name in found if not _is_hidden(name)], path
    paths, sizes, times, targets = [], {}, {}, set()
    for name in _choose_names(names, pattern):
        file = folder / name
        if not file.is_file() or file.resolve() in targets:
            continue
        targets.add(file.resolve())
        if '::' in str(file):  # datasets might read nothing, and say nothing
            raise UserError(f"{file}: must have no '::', which chains addresses")
        sizes[name] = file.stat().st_size
        times[name] = file.stat().st_mtime_ns
        paths.append(str(file))
    if not paths:
        matching = f'matches --pattern {pattern} and ' if pattern else ''
        raise UserError(f'{path}: no file that {matching}ends in one of {_SUFFIXES}')
    return Files(paths, sizes, times)


def find_public(repository: str, pattern: str, revision: str = '') -> Files:
    """The files of a data set on the hub that match a pattern.

    Args:
      revision: the commit; by default the newest.

    Raises:
      UserError: nothing matches, or the package is missing.
      TemporaryError: the hub does not answer.
    """
    hub = import_extra('huggingface_hub', 'data').HfApi()
    try:
        commit = hub.dataset_info(repository, revision=revision or None).sha
        # The list in `dataset_info` ends after 50,000 files.
        entries = hub.list_repo_tree(
            repository, recursive=True, revision=commit, repo_type='dataset'
        )
        sizes = _select_entries(entries, pattern)
    except Exception as e:  # the hub's client raises many kinds
        reason = describe_cause(e)
        line = f'{repository}: {reason}; a local copy can be --source PATH'
        raise TemporaryError(line) from None
    if not sizes:
        raise UserError(f'--pattern {pattern}: {repository} has no such files')
    folder = f'hf://datasets/{repository}@{commit}'
    return Files([f'{folder}/{name}' for name in sizes], sizes, {}, commit)


def _select_entries(entries: Iterable[Any], pattern: str) -> dict[str, int]:
    """{path: bytes} of the files on the hub that match and can be read, in order."""
    entry_of = {entry.path: entry for entry in entries if not _is_hidden(entry.path)}
    names = _choose_names(sorted(entry_of), pattern)
    return {name: entry_of[name].size for name in names}


def _choose_names(names: Iterable[str], pattern: str) -> list[str]:
    """Those of sorted names that match and can be read; of a text there twice, one."""
    chosen: dict[str, str] = {}
    for name in names:
        matches = not pattern or fnmatch.fnmatch(name, pattern)
        if matches and name.endswith(_SUFFIXES):
            plain = name
            for packing in _PACKINGS:
                plain = plain.removesuffix(packing)
            chosen.setdefault(plain, name)
    return list(chosen.values())


def _is_hidden(name: str) -> bool:
    return any(part.startswith('.') for part in pathlib.PurePath(name).parts)


def read_texts(path: str, wanted: RowFilter) -> Iterator[str | None]:
    """The texts of one file; None for a row without one.

    Raises:
      UserError: the file is missing, cut, or holds something else; the line names it,
        and the number of its line or row.
      TemporaryError: a file of the hub cannot be read now.
    """
    try:
        for text in _read_kind(path, wanted):
            if text is not None:
                text = _HALF_LETTER.sub('\ufffd', text)
            yield text
    except UserError:
        raise
    except Exception as e:  # datasets, pyarrow and the decompressors raise many kinds
        kind = TemporaryError if '://' in path else UserError
        line = f'{path}: cannot be read ({describe_cause(e)}); truncated?'
        raise kind(line) from None


def _read_kind(path: str, wanted: RowFilter) -> Iterator[str | None]:
    if path.endswith('.parquet'):
        return _select(_number_rows(path, wanted), wanted)
    if '.jsonl' in pathlib.PurePath(path).suffixes:
        return _select(_parse_lines(path), wanted)
    return _split_documents(path)


def _load_parquet(path: str, columns: list[str]) -> Iterable[dict[str, Any]]:
    """The rows of a file, streamed."""
    datasets = import_extra('datasets', 'data')
    if '://' not in path:
        path = glob.escape(path)
    return datasets.load_dataset(
        'parquet', data_files=[path], split='train', streaming=True, columns=columns
    )


def _list_lines(path: str) -> Iterator[str]:
    """The lines of a text file, which all end in \\n; UserError if it is not UTF-8."""
    with _open_packed(path) as file:
        place = 0
        for line in file:
            text = decode_text(line, path, place)
            yield from io.StringIO(text, newline=None)
            place += len(line)


def _open_packed(path: str) -> io.BufferedIOBase:
    """The bytes of a file, unpacked."""
    if '://' in path:
        file = import_extra('fsspec', 'data').open(path, 'rb').open()
    else:
        file = open(path, 'rb')  # noqa: SIM115
    if path.endswith('.gz'):
        return gzip.open(file)
    if path.endswith('.zst'):
        unpacker = import_extra('zstandard', 'data').ZstdDecompressor()
        reader = unpacker.stream_reader(file, read_across_frames=True)
        return io.BufferedReader(reader)
    return file


def _split_documents(path: str) -> Iterator[str]:
    """Documents between separators, without the line ends around them."""
    parts: list[str] = []
    for line in _list_lines(path):
        *ends, rest = line.split(SEPARATOR)
        for end in ends:
            yield ''.join([*parts, end]).strip('\n')
            parts = []
        parts.append(rest)
    last = ''.join(parts).strip('\n')
    if last:
        yield last


def _parse_lines(path: str) -> Iterator[tuple[str, Any]]:
    """(path and line number, the value there) of lines of JSON."""
    for number, line in enumerate(_list_lines(path), 1):
        if line.strip():
            where = f'{path}, line {number}'
            yield where, parse_json(line, where)


def _number_rows(path: str, wanted: RowFilter) -> Iterator[tuple[str, Any]]:
    """(path and row number, the row) of a parquet file."""
    columns = [wanted.field]
    if wanted.sets:
        columns.append('meta')
    for number, row in enumerate(_load_parquet(path, columns), 1):
        yield f'{path}, row {number}', row


def _select(rows: Iterable[tuple[str, Any]], wanted: RowFilter) -> Iterator[str | None]:
    """The texts of the rows (where, row) whose set is wanted."""
    for where, row in rows:
        if not isinstance(row, dict):
            yield None
            continue
        if wanted.sets and _find_set(row, where) not in wanted.sets:
            continue
        text = row.get(wanted.field)
        yield text if isinstance(text, str) else None


def _find_set(row: dict[str, Any], where: str) -> str | None:
    """The part of SlimPajama that a row is of; None if it does not say."""
    meta = row.get('meta')
    if isinstance(meta, str):  # in some mirrors (DATASETS 7)
        meta = parse_json(meta, f'{where}, meta')
    if not isinstance(meta, dict):
        return None
    return meta.get('redpajama_set_name')
