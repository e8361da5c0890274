"""Tokenizes a corpus once, into files that are mapped into memory.

The work can be interrupted anywhere: every few megabytes the tokens are on the disk and
progress.json says how many belong to which document. The next call cuts off what came
after, skips the documents that are done, and continues; the files are the same bytes.
"""

import fnmatch
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from anchorjax.errors import TemporaryError, UserError, brief
from anchorjax.hashing import digest_file
from anchorjax.sources import fetch
from anchorjax.sources.documents import (
    Piece,
    Wanted,
    has_known_kind,
    list_files,
    read_documents,
)
from anchorjax.sources.published import Part
from anchorjax.sources.tokenizers import Tokenizer
from anchorjax.storage import atomic, locks
from anchorjax.tasks.corpus.token_files import (
    DOCUMENTS_FILE,
    FORMAT,
    LIST_FILE,
    TOKENS_FILE,
    choose_dtype,
    get_dtype,
    read_corpus,
)

PROGRESS_FILE = 'progress.json'
_BATCH = 2**22  # characters that are tokenized and saved together

# report(file name, documents, tokens)
Report = Callable[[str, int, int], None]


class Source(NamedTuple):
    """A corpus that people know by a name."""

    title: str
    licence: str
    repository: str = ''  # on the Hugging Face hub; '': not there
    pattern: str = ''  # of its files there
    # Values of meta.redpajama_set_name; () has none.
    sets: tuple[str, ...] = ()
    # Of which the published numbers are known; the first one is the training set.
    parts: tuple[Part, ...] = ()


CORPORA = {
    'tinystories': Source(
        'TinyStories (Eldan & Li 2023), version 1',
        'CDLA-Sharing-1.0: share alike, with its text',
        'roneneldan/TinyStories',
        'data/*.parquet',
        # DATASETS 6, second row; of version 2 there is no official number.
        parts=(
            Part('train', ('TinyStories-train.*', 'train-*.parquet'), 2_119_719),
            Part('validation', ('TinyStories-valid.*', 'validation-*.parquet'), 21_990),
            Part('version 2', ('TinyStoriesV2-*',)),
        ),
    ),
    'slimpajama': Source(
        'SlimPajama (Cerebras 2023)',
        'that of each part, and no single one; the GitHub part is MIT, BSD or Apache, '
        'Wikipedia CC BY-SA',
        'cerebras/SlimPajama-627B',
        'train/chunk1/*.jsonl.zst',
        (
            'RedPajamaCommonCrawl',
            'RedPajamaC4',
            'RedPajamaGithub',
            'RedPajamaBook',
            'RedPajamaArXiv',
            'RedPajamaWikipedia',
            'RedPajamaStackExchange',
        ),
        # DATASETS 7, first row: files are counted, documents are not.
        (Part('train, validation and test', ('*.jsonl.zst',), files=59_166),),
    ),
    'text': Source('texts of your own', 'yours'),
}


# Settings that folders of earlier versions do not have.
_YOUNG = ('revision', 'source_times')
_COUNTS = ('documents', 'tokens', 'skipped', 'empty')


class Written(NamedTuple):
    """What a corpus has: _COUNTS, and more."""

    documents: int
    tokens: int
    skipped: int  # rows without a text
    empty: int  # rows and documents whose text is empty
    digest: str  # SHA-256 of the tokens
    is_new: bool  # False: it was there already


class Files(NamedTuple):
    """The files of a corpus, in order."""

    folder: pathlib.Path
    paths: list[pathlib.Path]
    revision: str = ''  # the commit on the hub that they are of; '': local files


def find_files(path: pathlib.Path) -> Files:
    """A local file, or all in a folder; errors as `list_files`."""
    folder = path if path.is_dir() else path.parent
    return Files(folder, list_files(path))


def download(
    name: str, out: pathlib.Path, pattern: str = '', revision: str = ''
) -> Files:
    """Downloads the public files of a corpus, and returns exactly these.

    What is there is kept, and what was interrupted is continued, by the package
    huggingface_hub, which shows its own progress.

    Args:
      revision: the commit on the hub; by default the newest.

    Raises:
      UserError: the package is missing, nothing matches the pattern, or the hub
        refuses.
      TemporaryError: the hub does not answer, or not with every file.
    """
    source = CORPORA[name]
    if not source.repository:
        raise UserError(f'{name}: nothing of it is public; give --source PATH')
    try:
        import huggingface_hub
    except ImportError as e:
        raise UserError(f"{e}: pip install 'anchorjax[data]'") from None
    pattern = pattern or source.pattern
    try:
        commit = _fetch(huggingface_hub, source.repository, pattern, revision, out)
    except Exception as e:  # the hub's client raises many kinds
        reason = brief(str(e).splitlines()[0] if str(e) else type(e).__name__)
        line = f'{source.repository}: {reason}; a local copy can be --source PATH'
        raise (TemporaryError if _may_pass(e) else UserError)(line) from None
    names = _select_names(commit.size_of, pattern)
    if not names:
        raise UserError(f'--pattern {pattern}: {source.repository} has no such files')
    size_of = commit.size_of
    missing = [name for name in names if not _has_size(out / name, size_of[name])]
    if missing:
        raise TemporaryError(
            f'{source.repository}: {len(missing):,} of {len(names):,} files are not '
            f'whole, {missing[0]} first'
        )
    return Files(out, [out / name for name in names], commit.name)


class _Commit(NamedTuple):
    """A commit of a repository on the hub."""

    name: str
    size_of: dict[str, int]  # bytes of every file, by its path


def _fetch(
    hub: Any, repository: str, pattern: str, revision: str, out: pathlib.Path
) -> _Commit:
    """Downloads the files of a commit that match; the newest commit by default.

    Without a connection the hub's client returns what is there, whole or not: the
    sizes tell. Its errors are of many kinds.

    Args:
      hub: the package huggingface_hub.
    """
    api = hub.HfApi()
    info = api.dataset_info(repository, revision=revision or None)
    where = {'repo_type': 'dataset', 'revision': info.sha}
    # The list in `info` ends after 50,000 files.
    entries = list(api.list_repo_tree(repository, recursive=True, **where))
    hub.snapshot_download(repository, allow_patterns=[pattern], local_dir=out, **where)
    size_of = {entry.path: entry.size for entry in entries if hasattr(entry, 'size')}
    return _Commit(info.sha, size_of)


def _select_names(paths: Iterable[str], pattern: str) -> list[str]:
    """The paths that match and are of a kind that can be read, in order."""
    matching = [path for path in paths if fnmatch.fnmatch(path, pattern)]
    return sorted(path for path in matching if has_known_kind(path))


def read_revision(out: pathlib.Path) -> str:
    """The commit on the hub of the corpus in a folder, whole or begun; '' without one.

    Raises:
      StoreError: its list cannot be read.
    """
    settings: Any = {}
    if (out / LIST_FILE).exists():
        settings = atomic.read_json(out / LIST_FILE)
    elif (out / PROGRESS_FILE).exists():
        progress = atomic.read_json(out / PROGRESS_FILE)
        settings = progress.get('settings') if isinstance(progress, dict) else {}
    revision = settings.get('revision') if isinstance(settings, dict) else ''
    return revision if isinstance(revision, str) else ''


def _may_pass(error: Exception) -> bool:
    """Whether a download that failed may work the next time."""
    status = getattr(getattr(error, 'response', None), 'status_code', None)
    if status is not None:
        return fetch.is_temporary_status(status)
    # An OSError with a number, but of a connection, is of the local disk.
    is_local = isinstance(error, OSError) and error.errno is not None
    return not is_local or isinstance(error, (ConnectionError, TimeoutError))


def _has_size(path: pathlib.Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size


def write_corpus(
    source: pathlib.Path | Files,
    out: pathlib.Path,
    tokenizer: Tokenizer,
    wanted: Wanted,
    report: Report,
    published: dict[str, int] | None = None,
) -> Written:
    """Tokenizes all files of a corpus, or what is left of them.

    Args:
      source: a file or folder, or what `find_files` or `download` found.
      report: called after every few megabytes.
      published: how many documents the parts of it have that are read, kept in
        corpus.json to compare.

    Raises:
      UserError: a file is missing, damaged or foreign; or the folder holds another
        corpus, or a damaged one. What was written stays, and the next call continues.
      TemporaryError: another process writes there.
    """
    files = source if isinstance(source, Files) else find_files(source)
    settings = _describe(files, tokenizer, wanted)
    with locks.hold_folder(out):
        if (out / LIST_FILE).exists():
            return _check_whole(out, settings)
        return _write_rest(files, out, tokenizer, wanted, report, settings, published)


def _check_whole(out: pathlib.Path, settings: dict[str, Any]) -> Written:
    """What is in a folder with a whole corpus; UserError if it is not what it says."""
    listed = atomic.read_json(out / LIST_FILE)
    _require_same(listed, settings, out)
    corpus = read_corpus(out)
    listed.setdefault('empty', 0)  # of an older version, which did not count them
    counts = {key: listed.get(key) for key in _COUNTS}
    for key, count in counts.items():
        if type(count) is not int:
            raise UserError(f'{out / LIST_FILE}: no corpus ({key} = {count!r})')
    if digest_file(out / TOKENS_FILE) != corpus.digest:
        raise UserError(
            f'{out / TOKENS_FILE}: damaged, its sha256 is not that of {LIST_FILE}; '
            f'delete {out} to begin again'
        )
    return Written(*counts.values(), corpus.digest, is_new=False)


def _write_rest(
    files: Files,
    out: pathlib.Path,
    tokenizer: Tokenizer,
    wanted: Wanted,
    report: Report,
    settings: dict[str, Any],
    published: dict[str, int] | None,
) -> Written:
    """Tokenizes what is left of a corpus, and lists it; see `write_corpus`."""
    progress = _read_progress(out, settings)
    # Before the first token, so that whatever happens the folder is known as ours.
    atomic.write_json(out / PROGRESS_FILE, progress)
    dtype = get_dtype(settings['dtype'])
    num_bytes = progress['tokens'] * dtype.itemsize
    with (
        _open_at(out / TOKENS_FILE, num_bytes) as tokens_file,
        _open_at(out / DOCUMENTS_FILE, progress['documents'] * 8) as starts_file,
    ):
        writer = _Writer(tokens_file, starts_file, tokenizer, dtype, progress)
        for place in range(progress['file'], len(files.paths)):
            path = files.paths[place]
            pieces = read_documents(path, wanted)
            for batch in _gather(_skip(pieces, progress['pieces'])):
                writer.write(batch)
                atomic.write_json(out / PROGRESS_FILE, progress)
                report(path.name, progress['documents'], progress['tokens'])
            progress.update(file=place + 1, pieces=0)
            atomic.write_json(out / PROGRESS_FILE, progress)
    if progress['documents'] == 0:
        raise UserError(f'{files.folder}: has no documents; of other sets?')
    if not _has_size(out / TOKENS_FILE, progress['tokens'] * dtype.itemsize):
        raise UserError(
            f'{out / TOKENS_FILE}: not as large as what was written; delete {out} to '
            'begin again'
        )
    digest = digest_file(out / TOKENS_FILE)
    counts = {key: progress[key] for key in _COUNTS}
    listed = {**settings, **counts, 'published': published or {}, 'sha256': digest}
    atomic.write_json(out / LIST_FILE, listed)
    (out / PROGRESS_FILE).unlink()
    return Written(*counts.values(), digest, is_new=True)


class _Writer:
    """Appends tokens and starts of documents, and counts them in `progress`."""

    def __init__(
        self,
        tokens_file: BinaryIO,
        starts_file: BinaryIO,
        tokenizer: Tokenizer,
        dtype: np.dtype,
        progress: dict[str, Any],
    ):
        self._tokens_file = tokens_file
        self._starts_file = starts_file
        self._tokenizer = tokenizer
        self._dtype = dtype
        self._progress = progress

    def write(self, pieces: list[Piece]) -> None:
        """Writes these pieces; when it returns they are on the disk."""
        progress, end = self._progress, self._tokenizer.description['end']
        texts = [piece.text for piece in pieces if not piece.is_skipped]
        encoded = iter(self._tokenizer.encode(texts))
        parts, starts = [], []
        total = progress['tokens']
        for piece in pieces:
            if piece.is_skipped:
                progress['empty' if piece.is_empty else 'skipped'] += 1
                continue
            if progress['is_between']:
                starts.append(total)
            part = _to_array(next(encoded))
            if piece.ends_document:
                part = np.append(part, end)
            parts.append(part.astype(self._dtype))
            total += len(part)
            progress['is_between'] = piece.ends_document
        for part in parts:
            self._tokens_file.write(part.tobytes())
        self._starts_file.write(np.array(starts, '<u8').tobytes())
        for file in (self._tokens_file, self._starts_file):
            file.flush()
            os.fsync(file.fileno())
        progress['pieces'] += len(pieces)
        progress['tokens'] = total
        progress['documents'] += len(starts)


def _to_array(tokens: Sequence[int]) -> np.ndarray:
    if isinstance(tokens, bytes):
        return np.frombuffer(tokens, np.uint8).astype(np.int64)
    return np.array(tokens, np.int64)


def _describe(files: Files, tokenizer: Tokenizer, wanted: Wanted) -> dict[str, Any]:
    """What the files depend on, as plain JSON."""
    sizes, times = {}, {}
    for path in files.paths:
        name = str(path.relative_to(files.folder))
        sizes[name] = path.stat().st_size
        times[name] = path.stat().st_mtime_ns
    return {
        'format': FORMAT,
        'sources': sizes,
        'revision': files.revision,
        # Of local files; the revision says which the others are, however often they
        # are downloaded.
        'source_times': {} if files.revision else times,
        'field': wanted.field,
        'sets': list(wanted.sets),
        'tokenizer': tokenizer.description,
        'dtype': choose_dtype(tokenizer.description['vocab']),
    }


def _require_same(listed: Any, settings: dict[str, Any], out: pathlib.Path) -> None:
    for name, value in settings.items():
        if name in _YOUNG and isinstance(listed, dict) and name not in listed:
            continue
        if not isinstance(listed, dict) or listed.get(name) != value:
            raise UserError(
                f'{out}: holds another corpus (another {name}); give another --out'
            )


def _read_progress(out: pathlib.Path, settings: dict[str, Any]) -> dict[str, Any]:
    """How far an interrupted call was; zeros for a new folder."""
    path = out / PROGRESS_FILE
    zeros = dict.fromkeys(('file', 'pieces', *_COUNTS), 0)
    new = {'settings': settings, 'is_between': True, **zeros}
    if not path.exists():
        if (out / TOKENS_FILE).exists():
            raise UserError(f'{out}: holds other files; give another --out')
        return new
    progress = atomic.read_json(path)
    if not isinstance(progress, dict):
        raise UserError(f'{path}: damaged; delete {out} to begin again')
    if progress.get('documents') == 0 and progress.get('settings') != settings:
        return new  # nothing is lost
    _require_same(progress.get('settings'), settings, out)
    if 'empty' not in progress:  # its pieces are counted in another way
        raise UserError(f'{path}: of an older version; delete {out} to begin again')
    for name, value in zeros.items():
        if type(progress.get(name)) is not type(value):
            raise UserError(f'{path}: damaged; delete {out} to begin again')
    return {**new, **progress}


def _open_at(path: pathlib.Path, size: int) -> BinaryIO:
    """The file, cut to this size, to be appended to."""
    file = open(path, 'ab')  # noqa: SIM115
    if file.tell() < size:
        file.close()
        raise UserError(f'{path}: truncated; delete its folder to begin again')
    file.truncate(size)
    return file


def _skip(pieces: Iterator[Piece], number: int) -> Iterator[Piece]:
    for i, piece in enumerate(pieces):
        if i >= number:
            yield piece


def _gather(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Pieces together, up to about `_BATCH` characters."""
    batch: list[Piece] = []
    size = 0
    for piece in pieces:
        batch.append(piece)
        size += len(piece.text) + 1
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
