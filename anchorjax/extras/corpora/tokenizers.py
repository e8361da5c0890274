"""Tokenizers with local vocabularies: GPT-2's byte pairs, words, or bytes.

A tokenizer has `description` (plain JSON, with `vocab` and `end`, the token that ends a
document) and `encode`: texts to tokens, without END.
"""

import collections
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from anchorjax.errors import UserError, brief

# DATASETS 8: the file of ranks that tiktoken itself expects.
_GPT2_SHA256 = '306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930'
_GPT2_END = 50256
# A word with its apostrophes, a number, or one other character.
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]|_")


class Tokenizer(Protocol):
    """Texts to tokens."""

    description: dict[str, Any]

    def encode(self, texts: list[str]) -> list[Sequence[int] | np.ndarray]:
        """The tokens of every text, without END."""


class Gpt2:
    """GPT-2's 50,256 byte pairs, by tiktoken (extra `data`); END is 50256.

    Raises:
      UserError: the file does not hold GPT-2's ranks, or tiktoken is missing.
    """

    def __init__(self, path: pathlib.Path):
        try:
            import tiktoken.load
            from tiktoken_ext import openai_public
        except ImportError as e:
            raise UserError(f"{e}: pip install 'anchorjax[data]'") from None
        try:
            ranks = tiktoken.load.load_tiktoken_bpe(str(path), _GPT2_SHA256)
        except OSError as e:
            raise UserError(f'--vocabulary {path}: {e.strerror}') from None
        except ValueError:
            raise UserError(
                f"--vocabulary {path}: not GPT-2's ranks, of sha256 {_GPT2_SHA256} "
                '(gpt2.tiktoken of the package mlx-whisper)'
            ) from None
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
            'sha256': _GPT2_SHA256,
        }

    def encode(self, texts: list[str]) -> list[list[int]]:
        """See `Tokenizer`; what looks like END in a text is plain text."""
        return self._encoding.encode_ordinary_batch(texts)


class Bytes:
    """The bytes of UTF-8; END is 256."""

    def __init__(self) -> None:
        self.description = {'kind': 'bytes', 'vocab': 257, 'end': 256}

    def encode(self, texts: list[str]) -> list[np.ndarray]:
        """See `Tokenizer`."""
        return [np.frombuffer(text.encode(), np.uint8) for text in texts]


class Words:
    """Words and marks, spaces left out; words beyond the vocabulary are one token."""

    def __init__(self, words: Sequence[str]):
        listed = [*words, '<unknown>', '<end>']
        self._token_of = {word: token for token, word in enumerate(words)}
        self._unknown = len(words)
        self.description = {
            'kind': 'words',
            'vocab': len(listed),
            'end': len(words) + 1,
            'words': listed,
        }

    def encode(self, texts: list[str]) -> list[list[int]]:
        """See `Tokenizer`."""
        encoded = []
        for text in texts:
            words = split_words(text)
            encoded.append([self._token_of.get(word, self._unknown) for word in words])
        return encoded


def split_words(text: str) -> list[str]:
    return _WORD.findall(text)


def count_words(texts: Iterable[str], most: int) -> tuple[list[str], float]:
    """(the most frequent words, equal ones in their order; their share of all)."""
    counts: collections.Counter[str] = collections.Counter()
    for text in texts:
        counts.update(split_words(text))
    ranked = sorted(sorted(counts), key=counts.__getitem__, reverse=True)
    kept = ranked[:most]
    share = sum(counts[word] for word in kept) / max(1, counts.total())
    return kept, share


def read_words(path: pathlib.Path) -> list[str]:
    """A vocabulary of words, one a line.

    Raises:
      UserError: it is missing, empty, or has a word twice.
    """
    try:
        words = [word for word in path.read_text('utf-8').split('\n') if word]
    except (OSError, UnicodeDecodeError) as e:
        raise UserError(f'--vocabulary {path}: {brief(str(e))}') from None
    if not words or len(set(words)) != len(words):
        raise UserError(f'--vocabulary {path}: must have distinct words, one a line')
    return words
