"""A text of our own without end, so that a config runs without any files.

It is drawn, the same every time, so that what is held out of it is not trained as well.
Its first documents are read as bytes; END is 256.
"""

import hashlib
import itertools
from collections.abc import Iterator

import numpy as np

from anchorjax.tasks.corpus.token_files import Corpus

BYTE_VOCAB = 257
BYTE_END = 256

# In the two kinds that P1 trains on: code, and an encyclopedia.
TEMPLATES = (
    'while {0} < {1} :\n    {0} = {0} + {4}\n    return {1} * {5}\n',
    'for {0} in range( {4} ):\n    if {1} == {5} :\n        print( {0} )\n',
    'The {0} is a {2} kind of {1}. It {3} the {6} for {4} days.\n',
    'A {0} {3} a {2} {1}. The {6} has {4} of them, and {5} in a year.\n',
)
NOUNS = ('heron', 'tide', 'flax', 'river', 'moon', 'stone', 'reed', 'harbour')
ADJECTIVES = ('tall', 'slow', 'blue', 'old', 'quiet', 'small', 'bright', 'deep')
VERBS = ('watches', 'follows', 'leaves', 'feeds', 'covers', 'carries', 'crosses')
_MOST_NUMBERS = 20
_NUM_DOCUMENTS = 400  # that are read as bytes


def write_documents() -> Iterator[str]:
    """The documents of the text, one after another, without end."""
    random = np.random.default_rng(0)
    while True:
        kind, *picks = random.integers(2**31, size=8).tolist()
        first, second, third, adjective, verb, *numbers = picks
        yield TEMPLATES[kind % len(TEMPLATES)].format(
            NOUNS[first % len(NOUNS)],
            NOUNS[second % len(NOUNS)],
            ADJECTIVES[adjective % len(ADJECTIVES)],
            VERBS[verb % len(VERBS)],
            *(number % _MOST_NUMBERS for number in numbers),
            NOUNS[third % len(NOUNS)],
        )


def make_tokens() -> np.ndarray:
    """The bytes of the first documents, each with its END, [token] uint16."""
    tokens: list[int] = []
    for document in itertools.islice(write_documents(), _NUM_DOCUMENTS):
        tokens += document.encode()
        tokens.append(BYTE_END)
    return np.array(tokens, np.uint16)


def make_corpus() -> Corpus:
    """These documents as if they had been read from files."""
    tokens = make_tokens()
    start_N = np.flatnonzero(np.append(BYTE_END, tokens[:-1]) == BYTE_END)
    digest = hashlib.sha256(tokens.astype('<u2').tobytes()).hexdigest()
    tokenizer = {'kind': 'bytes', 'vocab': BYTE_VOCAB, 'end': BYTE_END}
    return Corpus(tokens, start_N, BYTE_VOCAB, BYTE_END, digest, tokenizer)
