"""The text of a question of PrOntoQA, and its tokens: a token a word (DATASETS 4.2)."""

import functools
import re

from anchorjax.tasks.prontoqa import words as lexicon
from anchorjax.tasks.prontoqa.sentences import Question

_GRAMMAR = ('END', 'Q', 'A', ':', '.', 'True', 'False', 'or', 'false', 'each', 'every')
_GRAMMAR += ('is', 'are', 'a', 'an', 'not')
END, TRUE = _GRAMMAR.index('END'), _GRAMMAR.index('True')
FALSE, COLON = _GRAMMAR.index('False'), _GRAMMAR.index(':')


@functools.cache
def list_tokens() -> tuple[str, ...]:
    """The words of all ontologies; a capital at the start of a sentence is dropped."""
    words = [*_GRAMMAR, *lexicon.PEOPLE, *lexicon.PRIMES, *lexicon.list_properties()]
    for concept in lexicon.list_concepts():
        words += concept.split(' ')
        words += lexicon.make_plural(concept).split(' ')
    return tuple(dict.fromkeys(words))


@functools.cache
def _token_of() -> dict[str, int]:
    return {word: token for token, word in enumerate(list_tokens())}


def encode(text: str) -> list[int]:
    """The tokens of a text; KeyError for an unknown word."""
    tokens = _token_of()
    encoded = []
    for word in re.findall(r'[\w-]+|\S', text):
        known = word if word in tokens else word[:1].lower() + word[1:]
        encoded.append(tokens[known])
    return encoded


def write_prompt(question: Question) -> str:
    """What precedes the answer."""
    return f'Q: {question.context} True or false: {question.query} A:'


def write_answer(question: Question, chain_of_thought: bool) -> str:
    """The proof, if it is asked for, and True or False."""
    proof = [*question.chain] if chain_of_thought else []
    return ' '.join([*proof, str(question.answer)])
