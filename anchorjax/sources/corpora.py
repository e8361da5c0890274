"""Tokenizes a corpus once, into files that are mapped into memory.

The work can be interrupted anywhere: every few megabytes the tokens are on the disk and
progress.json says how many belong to which document. The next call cuts off what came
after, skips the documents that are done, and continues; the files are the same bytes.
"""

import hashlib
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from anchorjax.errors import UserError
from anchorjax.sources.documents import Piece, Wanted, list_files, read_documents
from anchorjax.sources.published import Part
from anchorjax.sources.tokenizers import Tokenizer
from anchorjax.storage import atomic
from anchorjax.tasks.corpus.token_files import (
    DOCUMENTS_FILE,
    FORMAT,
    LIST_FILE,
    TOKENS_FILE,
    choose_dtype,
    get_dtype,
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


_COUNTS = ('documents', 'tokens', 'skipped', 'empty')


class Written(NamedTuple):
    """What a corpus has: _COUNTS, and more."""

    documents: int
    tokens: int
    skipped: int  # rows without a text
    empty: int  # rows and documents whose text is empty
    digest: str  # SHA-256 of the tokens
    is_new: bool  # False: it was there already


def download(name: str, out: pathlib.Path, pattern: str = '') -> pathlib.Path:
    """Downloads the public files of a corpus; returns their folder.

    What is there is kept, and what was interrupted is continued, by the package
    huggingface_hub, which shows its own progress.

    Raises:
      UserError: the package is missing, or there is no connection.
    """
    source = CORPORA[name]
    if not source.repository:
        raise UserError(f'{name}: nothing of it is public; give --source PATH')
    try:
        import huggingface_hub
    except ImportError as e:
        raise UserError(f"{e}: pip install 'anchorjax[data]'") from None
    try:
        folder = huggingface_hub.snapshot_download(
            source.repository,
            repo_type='dataset',
            allow_patterns=[pattern or source.pattern],
            local_dir=out,
        )
    except Exception as e:  # its client raises many kinds
        reason = str(e).splitlines()[0] if str(e) else type(e).__name__
        raise UserError(
            f'{source.repository}: {reason[:200]}; run the command again to continue, '
            'or give --source PATH'
        ) from None
    return pathlib.Path(folder)


def write_corpus(
    source: pathlib.Path,
    out: pathlib.Path,
    tokenizer: Tokenizer,
    wanted: Wanted,
    report: Report,
    published: dict[str, int] | None = None,
) -> Written:
    """Tokenizes all files of a corpus, or what is left of them.

    Args:
      source: a file or folder.
      report: called after every few megabytes.
      published: how many documents the parts of it have that are read, kept in
        corpus.json to compare.

    Raises:
      UserError: a file is missing, damaged or foreign; or the folder holds another
        corpus. What was written stays, and the next call continues.
    """
    files = list_files(source)
    settings = _describe(files, source, tokenizer, wanted)
    if (out / LIST_FILE).exists():
        listed = atomic.read_json(out / LIST_FILE)
        _require_same(listed, settings, out)
        listed.setdefault('empty', 0)  # of an older version, which did not count them
        counts = [listed[key] for key in _COUNTS]
        return Written(*counts, listed['sha256'], is_new=False)
    out.mkdir(parents=True, exist_ok=True)
    progress = _read_progress(out, settings)
    dtype = get_dtype(settings['dtype'])
    num_bytes = progress['tokens'] * dtype.itemsize
    with (
        _open_at(out / TOKENS_FILE, num_bytes) as tokens_file,
        _open_at(out / DOCUMENTS_FILE, progress['documents'] * 8) as starts_file,
    ):
        writer = _Writer(tokens_file, starts_file, tokenizer, dtype, progress)
        for place in range(progress['file'], len(files)):
            pieces = read_documents(files[place], wanted)
            for batch in _gather(_skip(pieces, progress['pieces'])):
                writer.write(batch)
                atomic.write_json(out / PROGRESS_FILE, progress)
                name = files[place].name
                report(name, progress['documents'], progress['tokens'])
            progress.update(file=place + 1, pieces=0)
            atomic.write_json(out / PROGRESS_FILE, progress)
    if progress['documents'] == 0:
        raise UserError(f'{source}: has no documents; of other sets?')
    with open(out / TOKENS_FILE, 'rb') as f:
        digest = hashlib.file_digest(f, 'sha256').hexdigest()
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


def _describe(
    files: list[pathlib.Path],
    source: pathlib.Path,
    tokenizer: Tokenizer,
    wanted: Wanted,
) -> dict[str, Any]:
    """What the files depend on, as plain JSON."""
    root = source if source.is_dir() else source.parent
    sizes = {str(file.relative_to(root)): file.stat().st_size for file in files}
    return {
        'format': FORMAT,
        'sources': sizes,
        'field': wanted.field,
        'sets': list(wanted.sets),
        'tokenizer': tokenizer.description,
        'dtype': choose_dtype(tokenizer.description['vocab']),
    }


def _require_same(listed: Any, settings: dict[str, Any], out: pathlib.Path) -> None:
    for name, value in settings.items():
        if not isinstance(listed, dict) or listed.get(name) != value:
            raise UserError(
                f'{out}: holds another corpus (another {name}); give another --out'
            )


def _read_progress(out: pathlib.Path, settings: dict[str, Any]) -> dict[str, Any]:
    """How far an interrupted call was; zeros for a new folder."""
    path = out / PROGRESS_FILE
    if not path.exists():
        if (out / TOKENS_FILE).exists():
            raise UserError(f'{out}: holds other files; give another --out')
        zeros = dict.fromkeys(('file', 'pieces', *_COUNTS), 0)
        return {'settings': settings, 'is_between': True, **zeros}
    progress = atomic.read_json(path)
    if not isinstance(progress, dict):
        raise UserError(f'{path}: damaged; delete {out} to begin again')
    _require_same(progress.get('settings'), settings, out)
    if 'empty' not in progress:  # its pieces are counted in another way
        raise UserError(f'{path}: of an older version; delete {out} to begin again')
    return progress


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
