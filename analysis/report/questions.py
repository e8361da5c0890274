"""What each task asks, in words for a reader who knows none of its names: tables."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class TaskWords(NamedTuple):
    """Texts may name fields of the task's config, 'the split {task.split}'."""

    question: str
    tested: str  # the probe that the question is about
    probes: dict[str, tuple[str, str]]  # {probe: (short name, 'answers to ...')}
    mappings: Mapping[str, tuple[str, str]] = MappingProxyType({})  # not trained ones


WORDS = {
    'addition': TaskWords(
        question='Does a network that learns to add keep adding where it has seen no '
        'example? It is asked for the sum of two numbers from 0 to {task.largest}. No '
        'sum is trained whose two numbers both lie in the range {task.square}.',
        tested='test',
        probes={
            'seen_train': ('trained', 'trained sums'),
            'seen_heldout': ('held out', 'held-out sums outside the square'),
            'test': ('square', 'sums inside the square, which is never trained'),
        },
    ),
    'cogs': TaskWords(
        question='Does a network that translates sentences into their logical form '
        'understand words and constructions in combinations that it has never seen? '
        'COGS asks this in 21 ways.',
        tested='gen',
        probes={
            'seen_train': ('trained', 'trained sentences'),
            'seen_heldout': ('held out', 'held-out sentences of trained kinds'),
            'gen': ('new kinds', 'sentences of the 21 kinds that are never trained'),
        },
    ),
    'corpus': TaskWords(
        question='How well does a network predict the next token of a text?',
        tested='seen_heldout',
        probes={
            'seen_train': ('trained', 'trained pieces of the text'),
            'seen_heldout': ('held out', 'held-out pieces of the text'),
        },
    ),
    'mixture': TaskWords(
        question='Is reasoning learned before remembering? Half of the text is logical '
        'questions with their proofs (PrOntoQA), half is stories, and the network '
        'predicts the next token of both.',
        tested='prontoqa_heldout',
        probes={
            'prontoqa': ('proofs', 'trained questions with proofs'),
            'stories': ('stories', 'trained stories'),
            'prontoqa_heldout': (
                'held-out proofs',
                'held-out questions with proofs',
            ),
            'stories_heldout': ('held-out stories', 'held-out stories'),
        },
    ),
    'prontoqa': TaskWords(
        question='Does a network judge statements by following a chain of {task.hops} '
        'logical steps? It reads rules about made-up beings and says whether a '
        'statement follows from them.',
        tested='seen_heldout',
        probes={
            'seen_train': ('trained', 'trained questions: true or false?'),
            'seen_heldout': ('new', 'new questions: true or false?'),
            'seen_heldout_proof': (
                'new proofs',
                'new questions with the whole proof',
            ),
        },
    ),
    'scan': TaskWords(
        question='Does a network that turns commands (“walk left twice”) into actions '
        'understand commands of a kind that it has never seen? The split '
        '{task.split} of SCAN says which kind that is: {split}.',
        tested='test',
        probes={
            'seen_train': ('trained', 'trained commands'),
            'seen_heldout': ('held out', 'held-out commands of trained kinds'),
            'test': ('test', 'test commands of the split {task.split}'),
        },
    ),
    'memory_reasoning': TaskWords(
        question='Is a rule learned before facts? Each input holds a number x and '
        '{task.q} anchors. Reasoning anchors stand for numbers to add to x, so that '
        'the answer is a sum; the answers of memory anchors are random, and can only '
        'be remembered. Some combinations of reasoning anchors are never trained.',
        tested='reasoning_test',
        probes={
            'memory': ('memory', 'questions that can only be remembered'),
            'reasoning_train': ('reasoning', 'trained sums'),
            'reasoning_test': ('new sums', 'sums of combinations never trained'),
        },
        mappings={'sum': ('as a sum', 'add the anchors to x')},
    ),
    'anchor_permutations': TaskWords(
        question='Does a network compose two functions that it was never shown '
        'together? Each of {task.num_anchors} anchors is a random permutation of '
        '{task.num_keys} keys. A sequence is a key and two anchors; the right answer '
        'applies both. A share of {task.trained_share} of the pairs of anchors is '
        'trained, and the networks are tested on the others.',
        tested='unseen',
        probes={
            'seen_train': ('trained pairs', 'trained pairs of anchors'),
            'unseen': ('unseen pairs', 'pairs of anchors that are never trained'),
        },
        mappings={'symmetric': ('as reversed', 'apply the anchors in reverse order')},
    ),
    'modular_addition': TaskWords(
        question='When does a network understand addition modulo {task.modulus}, and '
        'not just remember it? A share of {task.trained_share} of all questions '
        '(a + b) mod {task.modulus} is trained; the others are held out.',
        tested='seen_heldout',
        probes={
            'seen_train': ('trained', 'trained questions'),
            'seen_heldout': ('held out', 'held-out questions'),
        },
    ),
    # Without an unseen pair; with one, the page explains it by a drawing.
    'anchors': TaskWords(
        question='Does a network learn to apply two anchors, tokens that stand for '
        '“add something to x”, to a number x? All pairs of anchors are trained, with '
        'some of the numbers x held out.',
        tested='seen_heldout',
        probes={
            'seen_train': ('trained', 'trained questions'),
            'seen_heldout': ('held out', 'trained pairs with held-out numbers x'),
            'unseen': ('unseen pair', 'the unseen pair'),
        },
        mappings={
            'inferential': ('composed', 'compose the two anchors'),
            'symmetric': ('as reversed', 'treat the reversed pair in the same way'),
        },
    ),
}


# What the splits of SCAN hold out (DATASETS 1).
SPLITS = {
    'random': 'commands drawn at random',
    'length': 'commands whose actions are longer than any that is trained',
    'addprim_jump': '“jump” is trained only by itself, and tested inside commands',
    'addprim_turn_left': '“turn left” is trained only by itself, and tested inside '
    'commands',
}
OTHER_SPLIT = 'combinations of words that are never trained together'
# What an axis means, where its name does not say it.
AXES = {
    'gamma': 'γ is the initialization rate: a larger γ means smaller initial weights.',
    'num_examples': '“Examples” is the size of the training set (0: all there is).',
    'decay_window': 'A decay window is the steps in which weight decay acts, from the '
    'first number up to the second: () is all of training, (0, 0) none of it.',
}
