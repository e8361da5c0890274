"""The texts of a corpus, one after another, read by the package datasets.

  .txt       documents between <|endoftext|>
  .jsonl     an object a line, the text in a field
  .parquet   a column with the text

Text files may be packed (.gz, .zst). Files on the Hugging Face hub are streamed: they
are never on the disk. The memory that this takes is that of the longest document.
"""

import fnmatch
import glob
import json
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from anchorjax.errors import TemporaryError, UserError, brief

SEPARATOR = '<|endoftext|>'
_KINDS = ('.txt', '.jsonl', '.parquet')
_SUFFIXES = (*_KINDS, '.txt.gz', '.txt.zst', '.jsonl.gz', '.jsonl.zst')
# JSON can escape half of a letter beyond 16 bits, which UTF-8 cannot write.
_HALF_LETTER = re.compile(r'[\ud800-\udfff]')


class Files(NamedTuple):
    """The files of a corpus, in order."""

    paths: list[str]  # local, or hf://...
    sizes: dict[str, int]  # bytes, by the name inside of the corpus
    times: dict[str, int]  # of local files, in ns
    revision: str = ''  # the commit on the hub that they are of; '': local files


class Wanted(NamedTuple):
    """Which rows of jsonl and parquet count, and where their text is."""

    field: str = 'text'
    # Values of meta.redpajama_set_name (DATASETS 7); () takes every row.
    sets: tuple[str, ...] = ()


def find_local(path: pathlib.Path) -> Files:
    """A file, or all in a folder that can be read; UserError if there is none."""
    found = sorted(path.rglob('*')) if path.is_dir() else [path]
    found = [file for file in found if file.is_file() and file.name.endswith(_SUFFIXES)]
    if not found:
        raise UserError(f'{path}: no file that ends in one of {_SUFFIXES}')
    folder = path if path.is_dir() else path.parent
    sizes, times = {}, {}
    for file in found:
        if '::' in str(file):  # datasets might read nothing, and say nothing
            raise UserError(f"{file}: must have no '::', which chains addresses")
        name = str(file.relative_to(folder))
        sizes[name] = file.stat().st_size
        times[name] = file.stat().st_mtime_ns
    return Files([str(file) for file in found], sizes, times)


def find_public(repository: str, pattern: str, revision: str = '') -> Files:
    """The files of a data set on the hub that match a pattern.

    Args:
      revision: the commit; by default the newest.

    Raises:
      UserError: nothing matches, or the package is missing.
      TemporaryError: the hub does not answer.
    """
    try:
        import huggingface_hub
    except ImportError as e:
        raise UserError(f"{e}: pip install 'anchorjax[data]'") from None
    hub = huggingface_hub.HfApi()
    try:
        commit = hub.dataset_info(repository, revision=revision or None).sha
        # The list in `dataset_info` ends after 50,000 files.
        entries = hub.list_repo_tree(
            repository, recursive=True, revision=commit, repo_type='dataset'
        )
        size_of = {entry.path: getattr(entry, 'size', None) for entry in entries}
    except Exception as e:  # the hub's client raises many kinds
        reason = brief(f'{type(e).__name__}: {e}')
        line = f'{repository}: {reason}; a local copy can be --source PATH'
        raise TemporaryError(line) from None
    sizes = {}
    for name in sorted(fnmatch.filter(size_of, pattern)):
        if name.endswith(_SUFFIXES):
            sizes[name] = size_of[name]
    if not sizes:
        raise UserError(f'--pattern {pattern}: {repository} has no such files')
    folder = f'hf://datasets/{repository}@{commit}'
    return Files([f'{folder}/{name}' for name in sizes], sizes, {}, commit)


def read_texts(path: str, wanted: Wanted) -> Iterator[str | None]:
    """The texts of one file; None for a row without one.

    Raises:
      UserError: the file is missing, cut, or holds something else; the line names it,
        and the number of its line or row.
      TemporaryError: a file of the hub cannot be read now.
    """
    try:
        for text in _read_kind(path, wanted):
            yield text if text is None else _HALF_LETTER.sub('\ufffd', text)
    except UserError:
        raise
    except Exception as e:  # datasets, pyarrow and the decompressors raise many kinds
        reason = brief(f'{type(e).__name__}: {e}')
        kind = TemporaryError if '://' in path else UserError
        raise kind(f'{path}: cannot be read ({reason}); truncated?') from None


def _read_kind(path: str, wanted: Wanted) -> Iterator[str | None]:
    if path.endswith('.parquet'):
        columns = [wanted.field, 'meta'] if wanted.sets else [wanted.field]
        rows = enumerate(_load('parquet', path, columns=columns), 1)
        return _select(((f'{path}, row {n}', row) for n, row in rows), wanted)
    # Some official text is damaged (DATASETS 6); it is not mended.
    options = {'keep_linebreaks': True, 'encoding_errors': 'replace'}
    lines = (row['text'] for row in _load('text', path, **options))
    if '.jsonl' in pathlib.PurePath(path).suffixes:
        return _select(_parse_lines(lines, path), wanted)
    return _split_documents(lines)


def _load(kind: str, path: str, **options: Any) -> Iterable[dict[str, Any]]:
    """The rows of a file, streamed."""
    try:
        import datasets
    except ImportError as e:
        raise UserError(f"{e}: pip install 'anchorjax[data]'") from None
    files = [path if '://' in path else glob.escape(path)]
    return datasets.load_dataset(
        kind, data_files=files, split='train', streaming=True, **options
    )


def _split_documents(lines: Iterable[str]) -> Iterator[str]:
    """Documents between separators, without the line ends around them."""
    parts: list[str] = []
    for line in lines:
        *ends, rest = line.split(SEPARATOR)
        for end in ends:
            yield ''.join([*parts, end]).strip('\n')
            parts = []
        parts.append(rest)
    last = ''.join(parts).strip('\n')
    if last:
        yield last


def _parse_lines(lines: Iterable[str], path: str) -> Iterator[tuple[str, Any]]:
    """(path and line number, the value there) of lines of JSON."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            where = f'{path}, line {number}'
            yield where, _parse(line, where)


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as e:
        raise UserError(f'{where}: not JSON ({brief(str(e))}); truncated?') from None


def _select(rows: Iterable[tuple[str, Any]], wanted: Wanted) -> Iterator[str | None]:
    """The texts of the rows (where, row) whose set is wanted."""
    for where, row in rows:
        if not isinstance(row, dict):
            yield None
            continue
        if wanted.sets:
            meta = row.get('meta')
            if isinstance(meta, str):  # in some mirrors (DATASETS 7)
                meta = _parse(meta, f'{where}, meta')
            name = meta.get('redpajama_set_name') if isinstance(meta, dict) else None
            if name not in wanted.sets:
                continue
        text = row.get(wanted.field)
        yield text if isinstance(text, str) else None
