"""A tiny text of our own, so that a config of this task runs without any files.

It is read as bytes; END is 256.
"""

import hashlib

import numpy as np

from anchorjax.tasks.corpus.token_files import Corpus

BYTE_VOCAB = 257
BYTE_END = 256

# Self-written, in the two kinds that P1 trains on: code, and an encyclopedia.
DOCUMENTS = (
    'def add(a, b):\n    """The sum of two numbers."""\n    return a + b\n',
    'def repeat(word, times):\n    words = [word] * times\n'
    '    return " ".join(words)\n',
    'for step in range(10):\n    if step % 2 == 0:\n        print(step, "even")\n',
    'The heron is a tall bird of shallow water. It stands still and waits for fish.\n',
    'A tide is the slow rise and fall of the sea. The moon and the sun cause it.\n',
    'class Stack:\n    def __init__(self):\n        self.items = []\n\n'
    '    def push(self, item):\n        self.items.append(item)\n',
    'Flax is a plant with blue flowers. Its fibre has been spun for a long time.\n',
)
_REPEATS = 40


def make_tokens() -> np.ndarray:
    """The documents _REPEATS times over, each with its END, [token] uint16."""
    tokens: list[int] = []
    for _ in range(_REPEATS):
        for document in DOCUMENTS:
            tokens += document.encode()
            tokens.append(BYTE_END)
    return np.array(tokens, np.uint16)


def make_corpus() -> Corpus:
    """The sample as if it had been read from files."""
    tokens = make_tokens()
    start_N = np.flatnonzero(np.append(BYTE_END, tokens[:-1]) == BYTE_END)
    digest = hashlib.sha256(tokens.astype('<u2').tobytes()).hexdigest()
    tokenizer = {'kind': 'bytes', 'vocab': BYTE_VOCAB, 'end': BYTE_END}
    return Corpus(tokens, start_N, BYTE_VOCAB, BYTE_END, digest, tokenizer)
