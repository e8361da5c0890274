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
    settings = {
        'format': token_files.FORMAT,
        'sources': files.sizes,
        'revision': files.revision,
        'source_times': files.times,
        'field': wanted.field,
        'sets': list(wanted.sets),
        'tokenizer': tokenizer.description,
        'dtype': token_files.choose_dtype(tokenizer.description['vocab']),
    }
    path = out / token_files.LIST_FILE
    with locks.hold_folder(out):
        if path.exists():
            token_files.read_corpus(out)  # compares the digests
            listed = read_json(path)
            _require_same(listed, settings, out)
            return listed
        progress = _read_progress(out, settings)
        _write_rest(files, out, tokenizer, wanted, progress)
        if progress['documents'] == 0:
            raise UserError(
                f'{files.paths[0]}: no text in {wanted.field!r}, or none of these sets'
            )
        listed = {name: progress[name] for name in (*settings, *_COUNTS)}
        listed['sha256'] = digest_file(out / token_files.TOKENS_FILE)
        listed['documents_sha256'] = digest_file(out / token_files.DOCUMENTS_FILE)
        write_json(path, listed)
        (out / PROGRESS_FILE).unlink()
        return listed


def _read_progress(out: pathlib.Path, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings, and how far an interrupted call was; zeros for a new folder."""
    progress = settings | dict.fromkeys(('file', 'rows', *_COUNTS), 0)
    if (out / PROGRESS_FILE).exists():
        found = read_json(out / PROGRESS_FILE)
        if found['documents'] > 0:  # else nothing is lost, whatever the settings were
            _require_same(found, settings, out)
            return found
    elif (out / token_files.TOKENS_FILE).exists():
        raise UserError(f'{out}: holds other files; give another --out')
    return progress


def _require_same(
    found: dict[str, Any], settings: dict[str, Any], out: pathlib.Path
) -> None:
    for name, value in settings.items():
        if found[name] != value:
            raise UserError(
                f'{out}: holds another corpus (another {name}); give another --out'
            )


def _write_rest(
    files: Files,
    out: pathlib.Path,
    tokenizer: Tokenizer,
    wanted: RowFilter,
    progress: dict[str, Any],
) -> None:
    """Tokenizes what is left of a corpus, and counts it in `progress`."""
    # Before the first token, so that whatever happens the folder is known as ours.
    write_json(out / PROGRESS_FILE, progress)
    dtype = token_files.DTYPES[progress['dtype']]
    size = progress['tokens'] * dtype.itemsize
    with (
        tqdm(initial=progress['tokens'], unit=' tokens', disable=None) as bar,
        _open_at(out / token_files.TOKENS_FILE, size) as tokens_file,
        _open_at(out / token_files.DOCUMENTS_FILE, progress['documents'] * 8) as starts,
    ):
        for path in files.paths[progress['file'] :]:
            texts = itertools.islice(read_texts(path, wanted), progress['rows'], None)
            for batch in _gather(texts):
                for document in tokenizer.encode([text for text in batch if text]):
                    starts.write(np.uint64(progress['tokens']).tobytes())
                    tokens = [*document, tokenizer.description['end']]
                    tokens_file.write(np.array(tokens, dtype).tobytes())
                    progress['tokens'] += len(tokens)
                    progress['documents'] += 1
                for file in (tokens_file, starts):
                    file.flush()
                    os.fsync(file.fileno())
                progress['rows'] += len(batch)
                progress['skipped'] += batch.count(None)
                progress['empty'] += batch.count('')
                write_json(out / PROGRESS_FILE, progress)
                bar.update(progress['tokens'] - bar.n)
            progress.update(file=progress['file'] + 1, rows=0)
            write_json(out / PROGRESS_FILE, progress)


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
    batch, size = [], 0
    for text in texts:
        batch.append(text)
        size += len(text or '') + 1
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
