"""The 21 generalization cases of COGS by name, and how each is drawn (DATASETS 3.4).

Every case asks for something that training shows in another way: a noun that was seen
once, as a subject, comes as an object. What training shows of such a word is its
exposure, one sentence, or the word by itself, a primitive.
"""

from typing import NamedTuple

import numpy as np

from anchorjax.tasks.cogs import words
from anchorjax.tasks.cogs.logic import write_logical_form
from anchorjax.tasks.cogs.sampler import Clause, Noun, Sampler, write_sentence

FEWEST, MOST = 3, 12  # clauses or places inside each other, in the recursion cases
_ACTIVE = (
    'unergative',
    'unaccusative_object',
    'omissible',
    'omissible_object',
    'transitive',
    'infinitive',
    'pp_dative',
    'do_dative',
    'clause',
)
_WITH_OBJECT = ('unaccusative_object', 'omissible_object', 'transitive')


class Row(NamedTuple):
    """A row of the data set."""

    sentence: str
    form: str  # its logical form
    case: str  # 'in_distribution', 'primitive', an exposure, or one of CASES


class Slot(NamedTuple):
    """Where a word is put: in clauses of these kinds, as this part of the clause."""

    kinds: tuple[str, ...]
    part: str  # a field of Clause, or 'object'
    word: str


_SLOTS = {
    'subj_to_obj_common': Slot(_WITH_OBJECT, 'object', 'hedgehog'),
    'subj_to_obj_proper': Slot(_WITH_OBJECT, 'object', 'Lina'),
    'obj_to_subj_common': Slot(_ACTIVE, 'subject', 'cockroach'),
    'obj_to_subj_proper': Slot(_ACTIVE, 'subject', 'Charlie'),
    'prim_to_subj_common': Slot(_ACTIVE, 'subject', 'shark'),
    'prim_to_subj_proper': Slot(_ACTIVE, 'subject', 'Paula'),
    'prim_to_obj_common': Slot(_WITH_OBJECT, 'object', 'shark'),
    'prim_to_obj_proper': Slot(_WITH_OBJECT, 'object', 'Paula'),
    'prim_to_inf_arg': Slot(('infinitive',), 'infinitive', 'crawl'),
    'active_to_passive': Slot(('passive_transitive',), 'verb', 'bless'),
    'passive_to_active': Slot(('transitive',), 'verb', 'squeeze'),
    'obj_omitted_transitive_to_transitive': Slot(('omissible_object',), 'verb', 'bake'),
    'unacc_to_transitive': Slot(('unaccusative_object',), 'verb', 'shatter'),
    'do_dative_to_pp_dative': Slot(('pp_dative',), 'verb', 'teleport'),
    'pp_dative_to_do_dative': Slot(('do_dative',), 'verb', 'ship'),
    'only_seen_as_transitive_subj_as_unacc_subj': Slot(
        ('unaccusative',), 'subject', 'cobra'
    ),
    'only_seen_as_unacc_subj_as_obj_omitted_transitive_subj': Slot(
        ('omissible',), 'subject', 'hippo'
    ),
    'only_seen_as_unacc_subj_as_unerg_subj': Slot(('unergative',), 'subject', 'hippo'),
}
STRUCTURAL = ('obj_pp_to_subj_pp', 'cp_recursion', 'pp_recursion')
CASES = (*_SLOTS, *STRUCTURAL)
EXPOSURES = {
    'exposure_example_subj_common': Slot(_ACTIVE, 'subject', 'hedgehog'),
    'exposure_example_subj_proper': Slot(_ACTIVE, 'subject', 'Lina'),
    'exposure_example_obj_common': Slot(_WITH_OBJECT, 'object', 'cockroach'),
    'exposure_example_obj_proper': Slot(_WITH_OBJECT, 'object', 'Charlie'),
    'exposure_example_active': Slot(('transitive',), 'verb', 'bless'),
    'exposure_example_passive': Slot(('passive_transitive',), 'verb', 'squeeze'),
    'exposure_example_obj_omitted_transitive': Slot(('omissible',), 'verb', 'bake'),
    'exposure_example_unacc': Slot(('unaccusative',), 'verb', 'shatter'),
    'exposure_example_do_dative': Slot(('do_dative',), 'verb', 'teleport'),
    'exposure_example_pp_dative': Slot(('pp_dative',), 'verb', 'ship'),
    'exposure_example_transitive_subj': Slot(('transitive',), 'subject', 'cobra'),
    'exposure_example_unacc_subj': Slot(('unaccusative',), 'subject', 'hippo'),
}
# Words that our own training rows show by themselves, as many as the official ones.
_OTHERS = (words.OMISSIBLE, words.TRANSITIVE, words.UNACCUSATIVE, words.UNERGATIVE)
_OTHERS += (words.ANIMATE[:20], words.INANIMATE[:20], words.NAMES[:20])


def make_row(sentence: str, case: str) -> Row:
    return Row(sentence, write_logical_form(sentence), case)


def draw_in_distribution(
    random: np.random.Generator, number: int, known: set[str]
) -> list[Row]:
    """New sentences, none of them in `known`, to which they are added."""
    sampler = Sampler(random)
    rows = []
    while len(rows) < number:
        sentence = write_sentence(sampler.draw())
        if sentence not in known:
            known.add(sentence)
            rows.append(make_row(sentence, 'in_distribution'))
    return rows


def draw_special(random: np.random.Generator) -> list[Row]:
    """The 12 exposures and the 143 primitives of our own training rows."""
    sampler = Sampler(random)
    rows = []
    for name, slot in EXPOSURES.items():
        rows.append(make_row(write_sentence(_fill_slot(sampler, slot)), name))
    primitives = ['shark', 'Paula', 'crawl']
    for group in _OTHERS:
        primitives += group
    return rows + [make_row(word, 'primitive') for word in primitives]


def draw_cases(random: np.random.Generator, number: int, known: set[str]) -> list[Row]:
    """New sentences of the cases in turn, none in `known`, to which they are added."""
    sampler = Sampler(random)
    rows: list[Row] = []
    while len(rows) < number:
        turn, place = divmod(len(rows), len(CASES))
        case = CASES[place]
        depth = FEWEST + turn % (MOST - FEWEST + 1)
        sentence = write_sentence(draw_case(sampler, case, depth))
        if sentence not in known:
            known.add(sentence)
            rows.append(make_row(sentence, case))
    return rows


def draw_case(sampler: Sampler, case: str, depth: int = FEWEST) -> Clause:
    """A clause of a case; only the recursion cases have a `depth`."""
    if case == 'cp_recursion':
        return _nest_clauses(sampler, depth)
    if case == 'pp_recursion':
        return _nest_places(sampler, depth)
    if case == 'obj_pp_to_subj_pp':
        while True:
            clause = sampler.draw()
            if clause.subject.article:
                return clause._replace(subject=sampler.add_place(clause.subject))
    return _fill_slot(sampler, _SLOTS[case])


def _nest_clauses(sampler: Sampler, depth: int) -> Clause:
    """A clause inside `depth` others."""
    sampler.used = set()
    clause = sampler.draw_clause(depth)
    for _ in range(depth):
        verb = sampler.draw_word(words.TAKES_CLAUSE)
        clause = Clause('clause', sampler.draw_being(), verb, inner=clause)
    return clause


def _nest_places(sampler: Sampler, depth: int) -> Clause:
    """A clause whose object has `depth` places inside each other."""
    sampler.used = set()
    kind = _WITH_OBJECT[sampler.random.integers(len(_WITH_OBJECT))]
    clause = sampler.fill(kind)
    thing = sampler.draw_thing()._replace(preposition='', place=None)
    return clause._replace(after=(('', sampler.add_place(thing, depth)),))


def _fill_slot(sampler: Sampler, slot: Slot) -> Clause:
    """A sentence with a word put in its place in the first clause that has it."""
    while True:
        filled = _fill_clause(sampler, sampler.draw(), slot)
        if filled is not None:
            return filled


def _fill_clause(sampler: Sampler, clause: Clause, slot: Slot) -> Clause | None:
    if clause.kind in slot.kinds:
        return _put_word(sampler, clause, slot)
    if clause.inner is None:
        return None
    inner = _fill_clause(sampler, clause.inner, slot)
    return None if inner is None else clause._replace(inner=inner)


def _put_word(sampler: Sampler, clause: Clause, slot: Slot) -> Clause:
    if slot.part in ('verb', 'infinitive'):
        return clause._replace(**{slot.part: slot.word})
    is_name = slot.word in words.list_names()
    noun = Noun(slot.word, '' if is_name else sampler.draw_article())
    if slot.part == 'subject':
        return clause._replace(subject=noun)
    return clause._replace(after=(('', noun),))
