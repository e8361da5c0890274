"""From a sentence of COGS to its logical form, by rules (DATASETS 3.2).

A variable is the position of its word in the sentence. Definite nouns come first, then
what is said, sorted by its first variable:

  The girl needed to cook .
  * girl ( x _ 1 ) ; need . agent ( x _ 2 , x _ 1 ) AND need . xcomp ( x _ 2 , x _ 4 )
    AND cook . agent ( x _ 4 , x _ 1 )
"""

import functools
import operator
from collections.abc import Callable
from typing import NamedTuple

from anchorjax.tasks.cogs import words as lexicon

_DEFINITE, _INDEFINITE = ('The', 'the'), ('A', 'a')
_UNERGATIVE_TARGET = 'crawl'
_ENDS = ('', '.')  # what follows a clause that ends here


class Phrase(NamedTuple):
    """A noun phrase that was read."""

    argument: str  # 'x _ 1', or a name
    end: int  # the position after it


class Reader:
    """Reads one sentence from left to right and collects what it says."""

    def __init__(self, words: list[str]):
        self.words = words
        self.definite: list[str] = []
        self.said: list[tuple[int, str]] = []  # (first variable, conjunct)

    def read_clause(self, at: int) -> tuple[int, int]:
        """(place of the verb, place after the clause); ValueError if there is none."""
        subject = self.read_noun_phrase(at)
        at = subject.end
        if self._word(at) == 'was':
            return at + 1, self._read_passive(at + 1, subject.argument)
        return at, self._read_active(at, subject.argument)

    def read_noun_phrase(self, at: int) -> Phrase:
        """Reads a name, or a noun with the prepositional phrases that follow it."""
        word = self._word(at)
        if word in lexicon.list_names():
            return Phrase(word, at + 1)
        noun = self._word(at + 1)
        if word not in (*_DEFINITE, *_INDEFINITE) or noun not in lexicon.list_nouns():
            raise ValueError(f'{word} {noun}: no noun phrase')
        place, end = at + 1, at + 2
        lemma = noun.lower()
        if word in _DEFINITE:
            self.definite.append(f'* {lemma} ( {_variable(place)} ) ;')
        else:
            self._say(place, f'{lemma} ( {_variable(place)} )')
        preposition = self._word(end)
        if preposition in lexicon.PLACES:
            inner_place = end + 2
            role = f'{lemma} . nmod . {preposition}'
            self._say(place, _relate(role, place, _variable(inner_place)))
            end = self.read_noun_phrase(end + 1).end
        return Phrase(_variable(place), end)

    def _read_active(self, at: int, subject: str) -> int:
        """Reads an active verb and what follows it; returns the position after it."""
        lemma = self._read_verb(at, lexicon.past_of)
        following = self._word(at + 1)
        if following == 'that':
            verb, end = self.read_clause(at + 2)
            self._say_roles(lemma, at, {'agent': subject, 'ccomp': _variable(verb)})
            return end
        if following == 'to':
            infinitive = self._read_verb(at + 2, str)
            self._say_roles(lemma, at, {'agent': subject, 'xcomp': _variable(at + 2)})
            self._say_roles(infinitive, at + 2, {'agent': subject})
            return at + 3
        if following in _ENDS:
            role = 'theme' if lexicon.is_unaccusative(lemma) else 'agent'
            self._say_roles(lemma, at, {role: subject})
            return at + 1
        first = self.read_noun_phrase(at + 1)
        if self._word(first.end) in _ENDS:
            self._say_roles(lemma, at, {'agent': subject, 'theme': first.argument})
            return first.end
        roles = ('recipient', 'theme')
        second_at = first.end
        if self._word(first.end) == 'to':
            roles = ('theme', 'recipient')
            second_at += 1
        second = self.read_noun_phrase(second_at)
        objects = zip(roles, (first.argument, second.argument), strict=True)
        self._say_roles(lemma, at, {'agent': subject, **dict(objects)})
        return second.end

    def _read_passive(self, at: int, subject: str) -> int:
        """Reads a participle and what follows it; returns the position after it."""
        lemma = self._read_verb(at, lexicon.participle_of)
        end = at + 1
        roles = {'theme': subject}
        if self._word(end) == 'to':
            recipient = self.read_noun_phrase(end + 1)
            roles['recipient'] = recipient.argument
            end = recipient.end
        elif self._word(end) not in ('by', *_ENDS):
            theme = self.read_noun_phrase(end)
            roles = {'recipient': subject, 'theme': theme.argument}
            end = theme.end
        if self._word(end) == 'by':
            agent = self.read_noun_phrase(end + 1)
            roles['agent'] = agent.argument
            end = agent.end
        self._say_roles(lemma, at, roles)
        return end

    def _read_verb(self, at: int, inflect: Callable[[str], str]) -> str:
        """The lemma of a verb in this form."""
        word, lemmas = self._word(at), _index_verbs(inflect)
        if word not in lemmas:
            raise ValueError(f'{word}: no verb in its place')
        return lemmas[word]

    def _say_roles(self, lemma: str, at: int, roles: dict[str, str]) -> None:
        for role, argument in roles.items():
            self._say(at, _relate(f'{lemma} . {role}', at, argument))

    def _say(self, place: int, conjunct: str) -> None:
        self.said.append((place, conjunct))

    def _word(self, at: int) -> str:
        return self.words[at] if at < len(self.words) else ''


def write_logical_form(sentence: str) -> str:
    """The logical form of a sentence that ends in ' .', or of a primitive, one word.

    Raises:
      ValueError: it is no sentence of COGS.
    """
    words = sentence.split(' ')
    if len(words) == 1:
        return _write_primitive(sentence)
    reader = Reader(words)
    _, end = reader.read_clause(0)
    if words[end:] != ['.']:
        raise ValueError(f'{" ".join(words[end:])}: more than a clause')
    said = sorted(reader.said, key=operator.itemgetter(0))
    conjuncts = [conjunct for _, conjunct in said]
    return ' '.join([*reader.definite, ' AND '.join(conjuncts)])


def _write_primitive(word: str) -> str:
    if word in lexicon.list_names():
        return word
    if word in lexicon.list_nouns():
        return f'LAMBDA a . {word.lower()} ( a )'
    if word not in lexicon.list_verbs():
        raise ValueError(f'{word}: no word of COGS')
    if lexicon.is_unaccusative(word):
        return f'LAMBDA a . LAMBDA e . {word} . theme ( e , a )'
    is_transitive = (
        word in lexicon.OMISSIBLE
        or word in lexicon.TRANSITIVE
        or word in lexicon.TARGET_VERBS
    )
    if not is_transitive or word == _UNERGATIVE_TARGET:
        return f'LAMBDA a . LAMBDA e . {word} . agent ( e , a )'
    roles = f'{word} . agent ( e , b ) AND {word} . theme ( e , a )'
    return f'LAMBDA a . LAMBDA b . LAMBDA e . {roles}'


def _variable(place: int) -> str:
    return f'x _ {place}'


def _relate(role: str, place: int, argument: str) -> str:
    return f'{role} ( {_variable(place)} , {argument} )'


@functools.cache
def _index_verbs(inflect: Callable[[str], str]) -> dict[str, str]:
    """{inflected form: lemma}."""
    return {inflect(lemma): lemma for lemma in lexicon.list_verbs()}
