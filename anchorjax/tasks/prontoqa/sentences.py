"""Rules and facts of PrOntoQA as English sentences, and back (DATASETS 4.1)."""

import functools
from typing import NamedTuple

import numpy as np

from anchorjax.tasks.prontoqa import words as lexicon


class Statement(NamedTuple):
    """'every cat is a feline' (a rule) or 'Max is not red' (a fact)."""

    subject: str  # a concept, or an entity
    predicate: str  # a concept, or a property
    is_true: bool = True  # False: 'is not'

    def negate(self) -> 'Statement':
        return self._replace(is_true=not self.is_true)


class Question(NamedTuple):
    """What a text of the data set holds, as sentences."""

    rules: tuple[str, ...]
    premise: str
    query: str
    chain: tuple[str, ...]  # premise, then (rule, derived fact) for every hop
    answer: bool  # whether the query follows

    @property
    def context(self) -> str:
        return ' '.join([*self.rules, self.premise])


def write_rule(rule: Statement, random: np.random.Generator) -> str:
    """The rule in one of its three forms: plural, 'Each' or 'Every'."""
    is_plural = random.random() < 0.5
    if is_plural:
        subject = lexicon.make_plural(rule.subject)
        if rule.predicate in lexicon.list_concepts():
            predicate = lexicon.make_plural(rule.predicate)
        else:
            predicate = _describe(rule)
        return f'{subject[0].upper()}{subject[1:]} are {predicate}.'
    word = 'Each' if random.random() < 0.5 else 'Every'
    return f'{word} {rule.subject} is {_describe(rule)}.'


def write_fact(fact: Statement) -> str:
    """'Max is a wumpus.' or 'Max is not red.'"""
    return f'{fact.subject} is {_describe(fact)}.'


def _describe(statement: Statement) -> str:
    """What follows 'is': 'an impus', 'red', 'not red'."""
    predicate = statement.predicate
    if predicate in lexicon.list_concepts():
        article = 'an' if predicate[0] in 'aeiou' else 'a'
        predicate = f'{article} {predicate}'
    return predicate if statement.is_true else f'not {predicate}'


def parse(sentence: str) -> Statement:
    """The statement of a rule or fact as it is written; ValueError if it is none."""
    words = sentence.removesuffix('.').split(' ')
    if words[0] in ('Each', 'Every'):
        words = words[1:]
    verb = 'are' if 'are' in words else 'is'
    if verb not in words or not sentence.endswith('.'):
        raise ValueError(f'{sentence!r} is no sentence of PrOntoQA')
    at = words.index(verb)
    subject = ' '.join(words[:at])
    rest = words[at + 1 :]
    is_true = rest[:1] != ['not']
    if not is_true:
        rest = rest[1:]
    if rest[:1] in (['a'], ['an']):
        rest = rest[1:]
    names = _known_names()
    predicate = ' '.join(rest)
    lowered = subject[:1].lower() + subject[1:]
    for name in (subject, lowered):
        if name in names and predicate in names:
            return Statement(names[name], names[predicate], is_true)
    raise ValueError(f'{sentence!r} is no sentence of PrOntoQA')


@functools.cache
def _known_names() -> dict[str, str]:
    """{name as written: name}: concepts in both numbers, entities, properties."""
    names = {}
    for concept in lexicon.list_concepts():
        names[lexicon.make_plural(concept)] = concept
        names[concept] = concept
    for name in (*lexicon.PEOPLE, *lexicon.PRIMES, *lexicon.list_properties()):
        names[name] = name
    return names
