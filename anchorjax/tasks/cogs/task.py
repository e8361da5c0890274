"""COGS: sentences into logical forms, and 21 ways to generalize (P1 Fig 6 b, c).

A text is 'IN A rose was helped . OUT rose ( x _ 1 ) AND ... END', a token a word. The
rows are the official ones where `path` names their folder. Else we draw them, and such
a run is cogs-like, not COGS.
"""

import dataclasses
import functools
import pathlib
from typing import Annotated

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.caching import cache_files
from anchorjax.limits import at_least, at_most, check_fields, require_default
from anchorjax.permutation import permute
from anchorjax.tasks import Batch, Task, texts
from anchorjax.tasks.cogs import cases, words
from anchorjax.tasks.cogs.files import NUM_ROWS, read_split, take_turns
from anchorjax.tasks.text_files import digest_files, find_file
from anchorjax.tasks.texts import Asked, LossOn, Table, Texts, TextTask

GROUPS = ('in_distribution', 'primitive', 'exposure', *cases.CASES)
_MOST_VARIABLES = 96
# CUT stands at the end of a sequence that was cut: never trained, so never answered.
_SPECIAL = ('END', 'IN', 'OUT', 'CUT')
_SYMBOLS = ('(', ')', ',', '.', ';', '*', '_', 'x', 'a', 'b', 'e', 'AND', 'LAMBDA')
_SYMBOLS += ('agent', 'theme', 'recipient', 'ccomp', 'xcomp', 'nmod')
_FUNCTION_WORDS = ('A', 'The', 'the', 'was', 'by', 'to', 'that', 'on', 'in', 'beside')


@dataclasses.dataclass(frozen=True)
class CogsConfig(TextTask):
    """Defaults: all 24,155 training rows; no row of training or dev is cut."""

    name: str = 'cogs'
    path: str = ''  # folder of the official files; '': our own rows, cogs-like
    num_examples: Annotated[int, at_least(0), at_most(NUM_ROWS['train'])] = 0  # 0: all
    # Longer texts are cut: trained up to there, and counted as wrong in the eval sets.
    seq_len: Annotated[int, at_least(32), at_most(1024)] = 192
    sample_seed: Annotated[int, at_least(0), at_most(2**31 - 1)] = 0  # of our own rows
    loss_on: LossOn = 'answer'  # which tokens are trained
    score_end: bool = True  # whether END belongs to the answer
    # Per eval set.
    eval_examples: Annotated[int, at_least(1), at_most(NUM_ROWS['gen'])] = 1050

    def __post_init__(self) -> None:
        check_fields(self, 'task')
        if self.path:
            require_default(self, 'task', 'sample_seed', 'task.path is given')

    def make(self) -> Task:
        files = []
        if self.path:
            folder = pathlib.Path(self.path)
            names = ('train.tsv', 'dev.tsv', 'gen.tsv')
            files = [find_file(folder, name) for name in names]
        task = super().make()
        return task._replace(
            group_names=GROUPS, digest_data=functools.partial(digest_files, files)
        )

    def make_table(self) -> Table:
        return _make_table(
            self.path, self.sample_seed, self.num_heldout, self.eval_examples
        )

    def train(self, key: jax.Array, number_B: jax.Array) -> jax.Array:
        return permute(key, number_B, NUM_ROWS['train'])

    def list_asked(self) -> dict[str, Asked]:
        """Training rows, held-out sentences, and the 21 cases in turn."""
        first, num_heldout = NUM_ROWS['train'], self.num_heldout
        return {
            'seen_train': Asked(self.train, 0, self.num_train),
            'seen_heldout': Asked(texts.find_row, first, num_heldout),
            'gen': Asked(texts.find_row, first + num_heldout, self.eval_examples),
        }

    def score(self, eval_set: str, read: Texts) -> Batch:
        """One that is cut asks for CUT at its end."""
        last_B = read.tokens_BL[:, -1]
        is_cut_B = read.length_B > self.seq_len + 1
        last_B = jnp.where(is_cut_B, _token_of()['CUT'], last_B)
        cut = read._replace(
            tokens_BL=read.tokens_BL.at[:, -1].set(last_B),
            begin_B=jnp.minimum(read.begin_B, self.seq_len),  # of an answer beyond it
        )
        return super().score(eval_set, cut)

    @property
    def num_train(self) -> int:
        return self.num_examples or NUM_ROWS['train']

    @property
    def num_heldout(self) -> int:
        """In-distribution sentences of the eval set; there are 3,000 official ones."""
        return min(self.eval_examples, NUM_ROWS['dev'])

    @property
    def vocab(self) -> int:
        return len(list_tokens())


@functools.cache
def list_tokens() -> tuple[str, ...]:
    """Every word of the sentences and the logical forms, of all official files."""
    tokens = [*_SPECIAL, *_SYMBOLS, *_FUNCTION_WORDS]
    tokens += [str(number) for number in range(_MOST_VARIABLES)]
    nouns = sorted(words.list_nouns())
    tokens += [*nouns, *(noun.lower() for noun in nouns)]
    tokens += sorted(words.list_names())
    for verb in sorted(words.list_verbs()):
        tokens += [verb, words.past_of(verb), words.participle_of(verb)]
    return tuple(dict.fromkeys(tokens))


@functools.cache
def _token_of() -> dict[str, int]:
    return {word: token for token, word in enumerate(list_tokens())}


@cache_files(maxsize=2)
def list_rows(
    path: str, sample_seed: int, num_heldout: int, num_gen: int
) -> list[cases.Row]:
    """Training rows (special ones first), held-out rows, rows of the cases in turn."""
    if path:
        folder = pathlib.Path(path)
        trained = sorted(read_split(folder, 'train'), key=_is_ordinary)
        heldout = read_split(folder, 'dev')
        gen = take_turns(read_split(folder, 'gen'))
        return trained + heldout[:num_heldout] + gen[:num_gen]
    known: set[str] = set()
    streams = np.random.default_rng(sample_seed).spawn(4)
    special = cases.draw_special(streams[0])
    known.update(row.sentence for row in special)
    num_ordinary = NUM_ROWS['train'] - len(special)
    ordinary = cases.draw_in_distribution(streams[1], num_ordinary, known)
    heldout = cases.draw_in_distribution(streams[2], num_heldout, known)
    return special + ordinary + heldout + cases.draw_cases(streams[3], num_gen, known)


def _is_ordinary(row: cases.Row) -> bool:
    return row.case == 'in_distribution'


@cache_files(maxsize=2)
def _make_table(path: str, sample_seed: int, num_heldout: int, num_gen: int) -> Table:
    """The texts of `list_rows`."""
    rows = []
    for row in list_rows(path, sample_seed, num_heldout, num_gen):
        case = 'exposure' if row.case.startswith('exposure') else row.case
        prompt, answer = encode(f'IN {row.sentence} OUT'), encode(row.form)
        rows.append((prompt, answer, GROUPS.index(case)))
    return texts.make_table(rows, _token_of()['END'])


def encode(text: str) -> list[int]:
    """The tokens of a text; KeyError for an unknown word."""
    tokens = _token_of()
    return [tokens[word] for word in text.split(' ')]
