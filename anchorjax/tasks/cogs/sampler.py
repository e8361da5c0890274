"""Draws sentences that are distributed as those of COGS (DATASETS 3.3).

The distribution is that of the official in-distribution sentences to about their noise;
the sample is another one, so what is trained on it is called cogs-like, not COGS.
"""

import functools
from typing import NamedTuple

import numpy as np

from anchorjax.tasks.cogs import words

_ZIPF_POWER, _ZETA = 1.4, 3.10555  # the sum of k ** -1.4 over all k
_DEEPEST = 2  # clauses in clauses, and places in places
_PLACE_OF_PLACE = 0.1
_PREPOSITIONS = {'on': 0.333, 'in': 0.333, 'beside': 0.334}
# Kinds of a clause: the class of its verb, and the share of the kind.
KINDS = {
    'unergative': (words.UNERGATIVE, 0.49 * 0.10525),
    'unaccusative_object': (words.UNACCUSATIVE, 0.49 * 0.10525),
    'omissible': (words.OMISSIBLE, 0.49 * 0.10525),
    'omissible_object': (words.OMISSIBLE, 0.49 * 0.10525),
    'transitive': (words.TRANSITIVE, 0.49 * 0.10525),
    'infinitive': (words.TAKES_INFINITIVE, 0.49 * 0.10525),
    'pp_dative': (words.DATIVE, 0.49 * 0.10525),
    'do_dative': (words.DATIVE, 0.49 * 0.10525),
    'clause': (words.TAKES_CLAUSE, 0.49 * 0.158),
    'unaccusative': (words.UNACCUSATIVE, 0.06),
    'passive_transitive': (words.TRANSITIVE, 0.375 * 0.25),
    'passive_omissible': (words.OMISSIBLE, 0.375 * 0.25),
    'passive_unaccusative': (words.UNACCUSATIVE, 0.375 * 0.25),
    'passive_dative': (words.DATIVE, 0.375 * 0.25),
    'passive_recipient': (words.DATIVE, 0.075),
}


class Noun(NamedTuple):
    """A noun phrase: 'Emma', 'the cat', 'a cake on the table'."""

    word: str
    article: str = ''  # '' for a name
    preposition: str = ''
    place: 'Noun | None' = None


class Clause(NamedTuple):
    """'Emma said that the cat was helped by a dog': kind, subject, verb, the rest."""

    kind: str
    subject: Noun
    verb: str  # lemma
    after: tuple[tuple[str, Noun], ...] = ()  # (preposition or '', noun phrase)
    infinitive: str = ''
    inner: 'Clause | None' = None


def write_sentence(clause: Clause) -> str:
    """The sentence of a clause: 'The cat was helped by a dog .'"""
    text = ' '.join([*_spell(clause), '.'])
    return text[0].upper() + text[1:]


def _spell(clause: Clause) -> list[str]:
    spelled = _spell_noun(clause.subject)
    if clause.kind.startswith('passive'):
        spelled += ['was', words.participle_of(clause.verb)]
    else:
        spelled.append(words.past_of(clause.verb))
    for preposition, noun in clause.after:
        if preposition:
            spelled.append(preposition)
        spelled += _spell_noun(noun)
    if clause.infinitive:
        spelled += ['to', clause.infinitive]
    if clause.inner is not None:
        spelled += ['that', *_spell(clause.inner)]
    return spelled


def _spell_noun(noun: Noun) -> list[str]:
    spelled = [noun.article, noun.word] if noun.article else [noun.word]
    if noun.place is not None:
        spelled += [noun.preposition, *_spell_noun(noun.place)]
    return spelled


class Sampler:
    """Draws clauses; no noun comes twice in a sentence."""

    def __init__(self, random: np.random.Generator):
        self.random = random
        self.used: set[str] = set()

    def draw(self) -> Clause:
        """A clause of a new sentence."""
        self.used = set()
        return self.draw_clause(0)

    def draw_clause(self, depth: int) -> Clause:
        """A clause inside `depth` others."""
        kinds, shares = _shares_of_kinds(depth < _DEEPEST)
        return self.fill(kinds[self.random.choice(len(kinds), p=shares)], depth)

    def fill(self, kind: str, depth: int = 0) -> Clause:
        """A clause of this kind."""
        verbs, _ = KINDS[kind]
        verb = self.draw_word(verbs)
        subject = self._draw_subject(kind)
        if kind.startswith('passive'):
            return Clause(kind, subject, verb, self._draw_passive_rest(kind))
        if kind == 'infinitive':
            infinitive = self.draw_word(words.INFINITIVE)
            return Clause(kind, subject, verb, infinitive=infinitive)
        if kind == 'clause':
            inner = self.draw_clause(depth + 1)
            return Clause(kind, subject, verb, inner=inner)
        if kind == 'pp_dative':
            theme, recipient = self.draw_thing(), self.draw_being()
            return Clause(kind, subject, verb, (('', theme), ('to', recipient)))
        if kind == 'do_dative':
            recipient, theme = self.draw_being(), self.draw_thing()
            return Clause(kind, subject, verb, (('', recipient), ('', theme)))
        if kind in ('unergative', 'unaccusative', 'omissible'):
            return Clause(kind, subject, verb)
        return Clause(kind, subject, verb, (('', self.draw_object()),))

    def _draw_subject(self, kind: str) -> Noun:
        if kind == 'unaccusative':
            is_being = self.random.random() < 0.5
        else:
            is_passive = kind.startswith('passive')
            is_being = not is_passive or kind == 'passive_recipient'
        return self.draw_being() if is_being else self._draw_common(words.INANIMATE)

    def _draw_passive_rest(self, kind: str) -> tuple[tuple[str, Noun], ...]:
        after: list[tuple[str, Noun]] = []
        if kind == 'passive_dative':
            after.append(('to', self.draw_being()))
        if kind == 'passive_recipient':
            after.append(('', self.draw_thing()))
        if self.random.random() < 0.5:
            after.append(('by', self.draw_being()))
        return tuple(after)

    def draw_being(self) -> Noun:
        """A name, or a person or animal."""
        if self.random.random() < 0.5:
            return Noun(self._draw_new(words.NAMES))
        return self._draw_common(words.ANIMATE)

    def draw_thing(self) -> Noun:
        """A thing, with its place in half of the cases."""
        thing = self._draw_common(words.INANIMATE)
        return self.add_place(thing) if self.random.random() < 0.5 else thing

    def draw_object(self) -> Noun:
        """A thing, or a name, a being, a being with its place."""
        if self.random.random() < 0.5:
            return self.draw_thing()
        form = self.random.integers(3)
        if form == 0:
            return Noun(self._draw_new(words.NAMES))
        being = self._draw_common(words.ANIMATE)
        return being if form == 1 else self.add_place(being)

    def add_place(self, noun: Noun, depth: int | None = None) -> Noun:
        """The noun phrase with a place; `depth` places, or as many as are drawn."""
        number = depth or 1
        if depth is None:
            while number < _DEEPEST and self.random.random() < _PLACE_OF_PLACE:
                number += 1
        names, shares = zip(*_PREPOSITIONS.items(), strict=True)
        preposition = str(self.random.choice(names, p=shares))
        place = self._draw_common(words.PLACES[preposition])
        if number > 1:
            place = self.add_place(place, number - 1)
        return noun._replace(preposition=preposition, place=place)

    def draw_article(self) -> str:
        return 'the' if self.random.random() < 0.5 else 'a'

    def _draw_common(self, nouns: tuple[str, ...]) -> Noun:
        return Noun(self._draw_new(nouns), self.draw_article())

    def _draw_new(self, nouns: tuple[str, ...]) -> str:
        """A noun that the sentence does not have yet."""
        while True:
            word = self.draw_word(nouns)
            if word not in self.used:
                self.used.add(word)
                return word

    def draw_word(self, choices: tuple[str, ...]) -> str:
        return choices[np.searchsorted(_cumulated(len(choices)), self.random.random())]


@functools.cache
def _cumulated(size: int) -> np.ndarray:
    """Cumulated probabilities of the ranks of a class: Zipf, and the rest equally."""
    share = np.arange(1, size + 1) ** -_ZIPF_POWER / _ZETA
    share += (1 - share.sum()) / size
    cumulated = np.cumsum(share)
    cumulated[-1] = 1.0
    return cumulated


@functools.cache
def _shares_of_kinds(may_nest: bool) -> tuple[tuple[str, ...], np.ndarray]:
    kinds = tuple(kind for kind in KINDS if may_nest or kind != 'clause')
    shares = np.array([KINDS[kind][1] for kind in kinds])
    return kinds, shares / shares.sum()
