"""A corpus as tokens in files that are mapped into memory, never read whole.

tokens.bin       all documents end to end, each with its END; uint16 or uint32
documents.bin    where each document starts, uint64
corpus.json      how many of both, the tokenizer, the sources, both digests
"""

import pathlib
from typing import Any, NamedTuple

import numpy as np

from anchorjax.caching import cache_files, note_file
from anchorjax.errors import UserError, describe_cause
from anchorjax.files import read_json
from anchorjax.hashing import digest_file

TOKENS_FILE = 'tokens.bin'
DOCUMENTS_FILE = 'documents.bin'
LIST_FILE = 'corpus.json'
FORMAT = 2
DTYPES = {'uint16': np.dtype('<u2'), 'uint32': np.dtype('<u4')}
_START_DTYPE = np.dtype('<u8')


class Corpus(NamedTuple):
    """A tokenized corpus."""

    tokens: np.ndarray  # [token], mapped into memory
    start_N: np.ndarray  # of every document, mapped into memory
    vocab: int
    end: int  # the token END
    digest: str  # of the tokens, SHA-256
    tokenizer: dict[str, Any]  # its description, plain JSON
    words: tuple[str, ...] = ()  # of a tokenizer of words


def choose_dtype(vocab: int) -> str:
    """The smallest type that holds every token."""
    return 'uint16' if vocab <= 2**16 else 'uint32'


@cache_files(maxsize=8)
def open_corpus(folder: str) -> Corpus:
    """The corpus in a folder, opened once; errors as `read_corpus`."""
    return read_corpus(pathlib.Path(folder))


def digest_corpora(*folders: str) -> dict[str, str]:
    """{folder: SHA-256 of its tokens}, of those folders that are not ''."""
    return {folder: open_corpus(folder).digest for folder in folders if folder}


def read_corpus(path: pathlib.Path) -> Corpus:
    """The corpus in a folder, as it is now; its digest is that of the tokens there.

    Raises:
      UserError: there is none, or its files are not what corpus.json says.
    """
    for name in (LIST_FILE, TOKENS_FILE, DOCUMENTS_FILE):
        note_file(path / name)
    listed = _read_list(path / LIST_FILE)
    try:
        dtype = DTYPES[listed['dtype']]
        tokens = _map_file(path / TOKENS_FILE, dtype, listed['tokens'])
        start_N = _map_file(path / DOCUMENTS_FILE, _START_DTYPE, listed['documents'])
        tokenizer = listed['tokenizer']
        vocab, end = tokenizer['vocab'], tokenizer['end']
        words = tuple(tokenizer.get('words', ()))
        digest = listed['sha256']
        starts_digest = listed['documents_sha256']
    except (KeyError, TypeError) as e:
        line = f'{path / LIST_FILE}: no corpus ({describe_cause(e)})'
        raise UserError(line) from None
    for name, expected in ((TOKENS_FILE, digest), (DOCUMENTS_FILE, starts_digest)):
        if digest_file(path / name) != expected:
            raise UserError(
                f'{path / name}: damaged, its sha256 is not that of {LIST_FILE}; '
                f'delete {path} and write it anew with launch/data.py'
            )
    highest = int(tokens.max())
    if highest >= vocab:
        raise UserError(
            f'{path / TOKENS_FILE}: has token {highest}, the tokenizer of {LIST_FILE} '
            f'has tokens 0 to {vocab - 1}'
        )
    return Corpus(tokens, start_N, vocab, end, digest, tokenizer, words)


def read_document(corpus: Corpus, number: int) -> np.ndarray:
    """The tokens [token] of one document, without its END."""
    first = int(corpus.start_N[number])
    next_start = len(corpus.tokens)
    if number + 1 < len(corpus.start_N):
        next_start = int(corpus.start_N[number + 1])
    return np.asarray(corpus.tokens[first : next_start - 1])


def count_windows(num_tokens: int, seq_len: int) -> int:
    """How many windows of `seq_len` inputs and their next tokens there are."""
    return max(0, (num_tokens - 1) // seq_len)


def read_windows(tokens: np.ndarray, index: np.ndarray, seq_len: int) -> np.ndarray:
    """The windows with these numbers, [..., seq_len + 1].

    Window i begins at token i * seq_len; its last token is the first of window i + 1.
    Windows do not stop at the ends of documents.
    """
    number = np.asarray(index, np.int64)
    first = number[..., None] * seq_len
    address = first + np.arange(seq_len + 1)
    return tokens[address]


def _read_list(path: pathlib.Path) -> dict[str, Any]:
    if not path.exists():
        raise UserError(f'{path}: no such file; launch/data.py writes it from a corpus')
    listed = read_json(path)
    if not isinstance(listed, dict) or listed.get('format') != FORMAT:
        raise UserError(f'{path}: no corpus of format {FORMAT}')
    return listed


def _map_file(path: pathlib.Path, dtype: np.dtype, count: Any) -> np.ndarray:
    """The array in a file, which must have this many items."""
    if not path.is_file():
        raise UserError(f'{path}: no such file')
    size = path.stat().st_size
    is_count = isinstance(count, int) and count >= 1
    if not is_count or size != count * dtype.itemsize:
        raise UserError(f'{path}: {size:,} bytes, not {count} of {dtype.itemsize}')
    return np.memmap(path, dtype, mode='r')
