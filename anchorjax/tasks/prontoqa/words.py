"""The names of PrOntoQA: concepts, entities, properties, three ontologies (DATASETS 4).

In the fictional ontology all names are made up, in the false one real concepts are in a
made-up order, and the true one is as the world is.
"""

import functools
from typing import NamedTuple

FICTIONAL = (
    *('wumpus', 'yumpus', 'zumpus', 'dumpus', 'rompus'),
    *('numpus', 'tumpus', 'vumpus', 'impus', 'jompus'),
)
# Ours, for the second chain of the variant without the shortcut.
TWINS = (
    *('lorpus', 'gorpus', 'shumpus', 'lempus', 'sterpus'),
    *('grimpus', 'lerpus', 'dalpus', 'rempus', 'borpus'),
)
FALSE = (
    (
        *('animal', 'vertebrate', 'mammal', 'carnivore', 'feline'),
        *('cat', 'dog', 'sheep', 'cow', 'snake'),
    ),
    (
        *('animal', 'invertebrate', 'arthropod', 'insect', 'lepidopteran'),
        *('butterfly', 'moth', 'ant', 'spider', 'crustacean'),
    ),
    (
        *('number', 'real number', 'integer', 'natural number', 'prime number'),
        *('Mersenne prime', 'even number', 'composite number', 'negative number'),
        'fraction',
    ),
)
PEOPLE = ('Fae', 'Rex', 'Sally', 'Max', 'Alex', 'Sam', 'Polly', 'Stella', 'Wren')
PRIMES = ('3', '7', '31', '127', '8191', '131071')
FAMILIES = (  # of properties that exclude each other
    ('blue', 'red', 'brown', 'orange'),
    ('small', 'large'),
    ('metallic', 'wooden', 'luminous', 'liquid'),
    ('transparent', 'opaque'),
    ('nervous', 'happy', 'feisty', 'shy'),
    ('bright', 'dull'),
    ('sweet', 'sour', 'spicy', 'bitter'),
    ('floral', 'fruity', 'earthy'),
    ('hot', 'cold', 'temperate'),
    ('kind', 'mean', 'angry', 'amenable', 'aggressive'),
)
_PLURALS = {
    'butterfly': 'butterflies',
    'painted lady': 'painted ladies',
    'tabby': 'tabbies',
    'sheep': 'sheep',
    'bacterium': 'bacteria',
}


class Level(NamedTuple):
    """A concept of the true ontology, and what may be said of it."""

    concept: str
    # (property, whether the concept has it); one of them is drawn. (): nothing is said.
    options: tuple[tuple[str, bool], ...] = ()
    fewest_hops: int = 1  # questions of fewer hops leave the concept out


_ANIMAL = Level('animal', (('multicellular', True), ('unicellular', False)))
_MAMMAL = (('furry', True), ('warm-blooded', True), ('cold-blooded', False))
_PRIME = (('prime', True), ('composite', False))
TRUE = (  # from the root on
    (
        _ANIMAL,
        Level('bilaterian', fewest_hops=4),
        Level('chordate', fewest_hops=4),
        Level('vertebrate'),
        Level('mammal', _MAMMAL),
        Level('carnivore', (('carnivorous', True), ('herbivorous', False))),
        Level('feline'),
        Level('cat'),
        Level('tabby', fewest_hops=5),
    ),
    (
        _ANIMAL,
        Level('invertebrate'),
        Level('protostome', fewest_hops=5),
        Level('arthropod', (('segmented', True), ('small', True), ('bony', False))),
        Level('insect', (('six-legged', True), ('eight-legged', False))),
        Level('lepidopteran'),
        Level('butterfly'),
        Level('painted lady', fewest_hops=5),
    ),
    (
        Level('number'),
        Level('real number', (('real', True), ('imaginary', False))),
        Level('integer'),
        Level('natural number', (('positive', True), ('negative', False))),
        Level('prime number', _PRIME),
        Level('Mersenne prime', _PRIME),
    ),
)
# True ontology: the concept that the distractor is about, by the property asked for.
DISTRACTORS = {
    'multicellular': 'bacterium',
    'unicellular': 'bacterium',
    'furry': 'snake',
    'warm-blooded': 'snake',
    'cold-blooded': 'snake',
    'carnivorous': 'sheep',
    'herbivorous': 'sheep',
    'segmented': 'nematode',
    'small': 'whale',
    'bony': 'whale',
    'six-legged': 'spider',
    'eight-legged': 'spider',
    'real': 'imaginary number',
    'imaginary': 'complex number',
    'positive': 'negative number',
    'negative': 'negative number',
    'prime': 'composite number',
    'composite': 'composite number',
}


def make_plural(concept: str) -> str:
    """'wumpuses', 'natural numbers', 'painted ladies'."""
    if concept in _PLURALS:
        return _PLURALS[concept]
    return concept + ('es' if concept.endswith('s') else 's')


@functools.cache
def list_concepts() -> tuple[str, ...]:
    """The concepts of all ontologies, each once."""
    concepts = [*FICTIONAL, *TWINS, *DISTRACTORS.values()]
    for names in FALSE:
        concepts += names
    for levels in TRUE:
        concepts += [level.concept for level in levels]
    return tuple(dict.fromkeys(concepts))


@functools.cache
def list_properties() -> tuple[str, ...]:
    """The properties of all ontologies, each once."""
    properties = list(DISTRACTORS)
    for family in FAMILIES:
        properties += family
    return tuple(dict.fromkeys(properties))
