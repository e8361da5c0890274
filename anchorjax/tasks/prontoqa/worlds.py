"""Draws a question of PrOntoQA: a chain of concepts, a walk in it, a distractor.

The process is that of the generator's branch v1 with its defaults (DATASETS 4.1), not
its stream of random numbers.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from anchorjax.tasks.prontoqa import words
from anchorjax.tasks.prontoqa.sentences import (
    Question,
    Statement,
    write_fact,
    write_rule,
)

Ontology = Literal['fictional', 'false', 'true']
Order = Literal['postorder', 'preorder', 'random']
# What contradicts the conclusion, about a concept that the entity is not.
#   original  one rule; its concept occurs nowhere else, which gives the answer away
#   twin      a second chain of the same shape: only the premise says which one applies
Distractor = Literal['original', 'twin']

MOST_CONCEPTS = 9  # of a chain
_NEGATED_SHARE = 1 / 3  # of the properties
# Weights of ending a walk on a property; going on to the parent has 1.
_POSITIVE_WEIGHT, _NEGATED_WEIGHT = 0.3, 0.7


class Chain(NamedTuple):
    """Concepts from the root on; each `is a` the one before it."""

    concepts: tuple[str, ...]
    properties: tuple[Any, ...]  # a Statement about each; None about the root


class Walk(NamedTuple):
    """A proof: from the concept at level `start` up, to the property at `end`."""

    start: int
    end: int


def draw_question(
    random: np.random.Generator,
    hops: int,
    ontology: Ontology = 'fictional',
    order: Order = 'postorder',
    distractor: Distractor = 'original',
) -> Question:
    """One question whose proof has exactly `hops` hops."""
    while True:
        chain, spare = _draw_chain(random, hops, ontology, distractor)
        walk = _draw_walk(random, chain, hops)
        if walk is not None:
            break
    if distractor == 'twin':
        chain, twin = _draw_twins(random, chain, walk.end, spare)
        rules = _shuffle_together(
            random,
            _order_rules(random, chain, order),
            _order_rules(random, twin, order),
        )
    else:
        rules = _order_rules(random, chain, order)
        conclusion = chain.properties[walk.end]
        is_true = ontology == 'true'
        concept = words.DISTRACTORS[conclusion.predicate] if is_true else spare[0]
        odd_one = conclusion.negate()._replace(subject=concept)
        rules.insert(random.integers(len(rules) + 1), odd_one)
    is_number = ontology == 'true' and chain.concepts[0] == 'number'
    entity = str(random.choice(words.PRIMES if is_number else words.PEOPLE))
    return _write(random, chain, walk, rules, entity)


def count_rules(ontology: Ontology, hops: int) -> int:
    """The most rules that a chain may have."""
    if ontology != 'true':
        return 2 * (MOST_CONCEPTS - 1)
    most = 0
    for levels in words.TRUE:
        known = [level for level in levels if level.fewest_hops <= hops]
        num_properties = sum(bool(level.options) for level in known)
        most = max(most, len(known) - 1 + num_properties)
    return most


def _draw_chain(
    random: np.random.Generator, hops: int, ontology: Ontology, distractor: Distractor
) -> tuple[Chain, tuple[str, ...]]:
    """(the chain, names of concepts that are not in it)."""
    if ontology == 'true':
        return _draw_true_chain(random, hops), ()
    known = words.FICTIONAL
    if ontology == 'false':
        known = words.FALSE[random.integers(len(words.FALSE))]
    if distractor == 'twin':
        known = words.FICTIONAL + words.TWINS
    names = _shuffle(random, known)
    number = 1
    while number < MOST_CONCEPTS:
        may_stop = random.random() < 1 / (hops + 2)
        if may_stop and random.random() < 0.5:
            break
        number += 1
    concepts = names[:number]
    return Chain(concepts, _draw_properties(random, concepts)), names[number:]


def _draw_true_chain(random: np.random.Generator, hops: int) -> Chain:
    """One of the chains of the world, with what is said of its concepts."""
    levels = words.TRUE[random.integers(len(words.TRUE))]
    concepts, properties = [], []
    for level in levels:
        if level.fewest_hops > hops:
            continue
        concepts.append(level.concept)
        said = None
        if level.options:
            name, is_true = level.options[random.integers(len(level.options))]
            said = Statement(level.concept, name, is_true)
        properties.append(said)
    return Chain(tuple(concepts), tuple(properties))


def _draw_properties(
    random: np.random.Generator, concepts: tuple[str, ...]
) -> tuple[Statement | None, ...]:
    """A property of another family for every concept but the root."""
    properties: list[Statement | None] = [None]
    for concept, family in zip(
        concepts[1:], _shuffle(random, words.FAMILIES), strict=False
    ):
        name = family[random.integers(len(family))]
        is_true = random.random() >= _NEGATED_SHARE
        properties.append(Statement(concept, name, is_true))
    return tuple(properties)


def _draw_walk(random: np.random.Generator, chain: Chain, hops: int) -> Walk | None:
    """A walk of exactly `hops` steps, the last to a property; None if it failed."""
    num_levels = len(chain.concepts)
    if num_levels <= hops:
        return None
    start = level = int(random.integers(hops, num_levels))
    for step in range(1, hops + 1):
        said = chain.properties[level]
        weight = _weigh_end(said)
        parent_weight = float(level > 0)
        if weight + parent_weight == 0:
            return None
        if random.random() * (weight + parent_weight) < weight:
            return Walk(start, level) if step == hops else None
        level -= 1
    return None


def _weigh_end(said: Statement | None) -> float:
    """The weight of ending a walk on a property."""
    if said is None:
        return 0.0
    return _POSITIVE_WEIGHT if said.is_true else _NEGATED_WEIGHT


def _draw_twins(
    random: np.random.Generator, chain: Chain, end: int, spare: tuple[str, ...]
) -> tuple[Chain, Chain]:
    """The chain, and one of other concepts that says the opposite at level `end`.

    Exchanged, they would be as likely: each level has `not` in both or in neither, but
    for the one at the end, where a coin decides which of the two has it.
    """
    concepts = spare[: len(chain.concepts)]
    conclusion = chain.properties[end]._replace(is_true=bool(random.random() < 0.5))
    families = [f for f in words.FAMILIES if conclusion.predicate not in f]
    families = _shuffle(random, families)
    properties: list[Statement | None] = [None]
    for level in range(1, len(concepts)):
        family = families[level - 1]
        name = family[random.integers(len(family))]
        is_true = chain.properties[level].is_true
        properties.append(Statement(concepts[level], name, is_true))
    properties[end] = conclusion.negate()._replace(subject=concepts[end])
    own = [*chain.properties]
    own[end] = conclusion
    return Chain(chain.concepts, tuple(own)), Chain(concepts, tuple(properties))


def _order_rules(
    random: np.random.Generator, chain: Chain, order: Order
) -> list[Statement]:
    """All rules of a chain; 'postorder' begins with the deepest concept."""
    rules = []
    for level, said in enumerate(chain.properties):
        if level > 0:
            rules.append(Statement(chain.concepts[level], chain.concepts[level - 1]))
        if said is not None:
            rules.append(said)
    if order == 'postorder':
        rules.reverse()
    if order == 'random':
        rules = list(_shuffle(random, rules))
    return rules


def _shuffle_together(random: np.random.Generator, first: list, second: list) -> list:
    """Both lists in one, each in its own order."""
    is_first = np.arange(len(first) + len(second)) < len(first)
    left, right = iter(first), iter(second)
    joined = []
    for takes_first in random.permutation(is_first):
        joined.append(next(left if takes_first else right))
    return joined


def _shuffle(random: np.random.Generator, items: Sequence) -> tuple:
    """The items in a random order."""
    return tuple(items[i] for i in random.permutation(len(items)))


def _write(
    random: np.random.Generator,
    chain: Chain,
    walk: Walk,
    rules: list[Statement],
    entity: str,
) -> Question:
    """The sentences of a question; a rule is written once and quoted in the proof."""
    sentences = {rule: write_rule(rule, random) for rule in rules}
    premise = write_fact(Statement(entity, chain.concepts[walk.start]))
    proof = [premise]
    for level in range(walk.start, walk.end, -1):
        parent = chain.concepts[level - 1]
        proof.append(sentences[Statement(chain.concepts[level], parent)])
        proof.append(write_fact(Statement(entity, parent)))
    said = chain.properties[walk.end]
    conclusion = said._replace(subject=entity)
    proof += [sentences[said], write_fact(conclusion)]
    answer = bool(random.random() < 0.5)
    query = conclusion if answer else conclusion.negate()
    context = tuple(sentences[rule] for rule in rules)
    return Question(context, premise, write_fact(query), tuple(proof), answer)
