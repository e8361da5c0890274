"""Tokenizes a corpus once, into the files of `tasks.corpus.token_files`.

The work can be interrupted anywhere: every few megabytes the tokens are on the disk and
progress.json says how many rows they are of. The next call cuts off what came after,
skips the rows that are done, and continues; the files are the same bytes.
"""

import itertools
import os
import pathlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np
from tqdm import tqdm

from anchorjax.errors import UserError
from anchorjax.extras.corpora.texts import Files, RowFilter, read_texts
from anchorjax.extras.corpora.tokenizers import Tokenizer
from anchorjax.files import read_json, write_json
from anchorjax.hashing import digest_file
from anchorjax.storage import locks
from anchorjax.tasks.corpus import token_files

PROGRESS_FILE = 'progress.json'
_BATCH = 2**22  # characters that are tokenized and saved together
_PIECE = 2**24  # tokens that are read together
# Rows without a text are skipped, those of an empty one are empty.
_COUNTS = ('documents', 'tokens', 'skipped', 'empty')


def write_corpus(
    files: Files, out: pathlib.Path, tokenizer: Tokenizer, wanted: RowFilter
) -> dict[str, Any]:
    """Tokenizes all files of a corpus, or what is left of them.

    Returns:
      What corpus.json says.

    Raises:
      UserError: a file is damaged, or the folder holds another corpus, or a damaged
        one. What was written stays, and the next call continues.
      TemporaryError: another process writes there, or the hub does not answer.
    """
    settings = _describe(files, tokenizer, wanted)
    path = out / token_files.LIST_FILE
    with locks.hold_folder(out):
        if path.exists():
            token_files.read_corpus(out)  # compares the digests
            listed = read_json(path)
            _require_same(listed, settings, out)
            return listed
        progress = _write_rest(files, out, tokenizer, wanted, settings)
        if progress['documents'] == 0:
            raise UserError(
                f'{files.paths[0]}: no text in {wanted.field!r}, or none of these sets'
            )
        listed = settings | {key: progress[key] for key in _COUNTS}
        listed['sha256'] = digest_file(out / token_files.TOKENS_FILE)
        listed['documents_sha256'] = digest_file(out / token_files.DOCUMENTS_FILE)
        write_json(path, listed)
        (out / PROGRESS_FILE).unlink()
        return listed


def measure_unknown(out: pathlib.Path) -> float:
    """The share of the words of a corpus that its vocabulary does not have."""
    corpus = token_files.read_corpus(out)
    unknown = corpus.words.index('<unknown>')
    num_unknown = 0
    for first in range(0, len(corpus.tokens), _PIECE):
        num_unknown += np.count_nonzero(
            corpus.tokens[first : first + _PIECE] == unknown
        )
    num_words = len(corpus.tokens) - len(corpus.start_N)  # without their END
    return num_unknown / max(1, num_words)


def read_revision(out: pathlib.Path) -> str:
    """The commit on the hub of the corpus in a folder, or of one begun; or ''."""
    if (out / token_files.LIST_FILE).exists():
        return read_json(out / token_files.LIST_FILE)['revision']
    if (out / PROGRESS_FILE).exists():
        return read_json(out / PROGRESS_FILE)['settings']['revision']
    return ''


def _describe(files: Files, tokenizer: Tokenizer, wanted: RowFilter) -> dict[str, Any]:
    """What the files depend on, as plain JSON."""
    return {
        'format': token_files.FORMAT,
        'sources': files.sizes,
        'revision': files.revision,
        'source_times': files.times,
        'field': wanted.field,
        'sets': list(wanted.sets),
        'tokenizer': tokenizer.description,
        'dtype': token_files.choose_dtype(tokenizer.description['vocab']),
    }


def _write_rest(
    files: Files,
    out: pathlib.Path,
    tokenizer: Tokenizer,
    wanted: RowFilter,
    settings: dict[str, Any],
) -> dict[str, Any]:
    """Tokenizes what is left of a corpus; returns the progress at its end."""
    progress = _read_progress(out, settings)
    path = out / PROGRESS_FILE
    # Before the first token, so that whatever happens the folder is known as ours.
    write_json(path, progress)
    width = token_files.DTYPES[settings['dtype']].itemsize
    size, tokens_path = progress['tokens'] * width, out / token_files.TOKENS_FILE
    starts_path = out / token_files.DOCUMENTS_FILE
    bar = tqdm(initial=progress['tokens'], unit=' tokens', disable=None)
    with (
        bar,
        _open_at(tokens_path, size) as tokens_file,
        _open_at(starts_path, progress['documents'] * 8) as starts_file,
    ):
        for number in range(progress['file'], len(files.paths)):
            texts = read_texts(files.paths[number], wanted)
            for batch in _gather(itertools.islice(texts, progress['rows'], None)):
                _append(batch, tokenizer, tokens_file, starts_file, progress)
                write_json(path, progress)
                bar.update(progress['tokens'] - bar.n)
            progress.update(file=number + 1, rows=0)
            write_json(path, progress)
    return progress


def _append(
    batch: list[str | None],
    tokenizer: Tokenizer,
    tokens_file: BinaryIO,
    starts_file: BinaryIO,
    progress: dict[str, Any],
) -> None:
    """Writes these texts, and counts them in `progress`; then they are on the disk."""
    dtype = token_files.DTYPES[progress['settings']['dtype']]
    end = dtype.type(tokenizer.description['end'])
    starts = []
    for document in tokenizer.encode([text for text in batch if text]):
        starts.append(progress['tokens'])
        tokens = np.append(np.asarray(document, dtype), end)
        tokens_file.write(tokens.tobytes())
        progress['tokens'] += len(tokens)
    starts_file.write(np.array(starts, '<u8').tobytes())
    for file in (tokens_file, starts_file):
        file.flush()
        os.fsync(file.fileno())
    progress['rows'] += len(batch)
    progress['documents'] += len(starts)
    progress['skipped'] += batch.count(None)
    progress['empty'] += batch.count('')


def _read_progress(out: pathlib.Path, settings: dict[str, Any]) -> dict[str, Any]:
    """How far an interrupted call was; zeros for a new folder."""
    path = out / PROGRESS_FILE
    new = dict.fromkeys(('file', 'rows', *_COUNTS), 0) | {'settings': settings}
    if not path.exists():
        if (out / token_files.TOKENS_FILE).exists():
            raise UserError(f'{out}: holds other files; give another --out')
        return new
    progress = read_json(path)
    if progress['documents'] == 0:
        return new  # nothing is lost, whatever the settings were
    _require_same(progress['settings'], settings, out)
    return progress


def _require_same(
    found: dict[str, Any], settings: dict[str, Any], out: pathlib.Path
) -> None:
    for name, value in settings.items():
        if found[name] != value:
            raise UserError(
                f'{out}: holds another corpus (another {name}); give another --out'
            )


def _open_at(path: pathlib.Path, size: int) -> BinaryIO:
    """The file, cut to this size, to be appended to."""
    file = open(path, 'ab')  # noqa: SIM115
    if file.tell() < size:
        file.close()
        raise UserError(f'{path}: truncated; delete its folder to begin again')
    file.truncate(size)
    return file


def _gather(texts: Iterable[str | None]) -> Iterator[list[str | None]]:
    """Texts together, up to about `_BATCH` characters."""
    batch: list[str | None] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text or '') + 1
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
