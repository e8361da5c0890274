"""Tokenizers with local vocabularies: GPT-2's byte pairs, words, or bytes."""

import collections
import pathlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from anchorjax.errors import UserError, describe_cause, import_extra

# DATASETS 8: the file of ranks that tiktoken itself expects.
_GPT2_SHA256 = '306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930'
_GPT2_END = 50256
# A word with its apostrophes, a number, or one other character.
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]|_")


class Tokenizer(NamedTuple):
    """Texts to tokens."""

    description: dict[str, Any]  # plain JSON, with `vocab` and `end`, END's token
    encode: Callable[[list[str]], Sequence[Sequence[int] | np.ndarray]]  # without END


def load_gpt2(path: pathlib.Path) -> Tokenizer:
    """GPT-2's 50,256 byte pairs, by tiktoken (extra `data`); END is 50256.

    What looks like END in a text is plain text.

    Raises:
      UserError: the file does not hold GPT-2's ranks, or tiktoken is missing.
    """
    tiktoken = import_extra('tiktoken', 'data')
    load = import_extra('tiktoken.load', 'data').load_tiktoken_bpe
    try:
        ranks = load(str(path), _GPT2_SHA256)
    except (OSError, ValueError) as e:
        raise UserError(
            f"--vocabulary {path}: {describe_cause(e)}: must be GPT-2's ranks "
            '(gpt2.tiktoken of the package mlx-whisper)'
        ) from None
    vocab = _GPT2_END + 1
    encoding = tiktoken.Encoding(
        'gpt2',
        pat_str=import_extra('tiktoken_ext.openai_public', 'data').r50k_pat_str,
        mergeable_ranks=ranks,
        special_tokens={'<|endoftext|>': _GPT2_END},
        explicit_n_vocab=vocab,
    )
    description = {'kind': 'gpt2', 'vocab': vocab, 'end': _GPT2_END}
    description['sha256'] = _GPT2_SHA256
    return Tokenizer(description, encoding.encode_ordinary_batch)


def make_bytes() -> Tokenizer:
    """The bytes of UTF-8; END is 256."""

    def encode(texts: list[str]) -> list[np.ndarray]:
        return [np.frombuffer(text.encode(), np.uint8) for text in texts]

    return Tokenizer({'kind': 'bytes', 'vocab': 257, 'end': 256}, encode)


def make_words(words: Sequence[str]) -> Tokenizer:
    """Words and marks, spaces left out; words beyond the vocabulary are one token."""
    token_of = {word: token for token, word in enumerate(words)}
    unknown = len(words)

    def encode(texts: list[str]) -> list[list[int]]:
        read = map(_WORD.findall, texts)
        return [[token_of.get(word, unknown) for word in words] for words in read]

    listed = [*words, '<unknown>', '<end>']
    description = {'kind': 'words', 'vocab': len(listed), 'end': unknown + 1}
    return Tokenizer(description | {'words': listed}, encode)


def count_words(texts: Iterable[str], most: int) -> tuple[list[str], float]:
    """(the most frequent words, equal ones in their order; their share of all)."""
    counts: collections.Counter[str] = collections.Counter()
    for text in texts:
        counts.update(_WORD.findall(text))
    ranked = sorted(sorted(counts), key=counts.__getitem__, reverse=True)
    kept = ranked[:most]
    share = sum(counts[word] for word in kept) / max(1, counts.total())
    return kept, share
