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
from anchorjax.tasks import Batch, EvalSets, Task, texts
from anchorjax.tasks.cogs import cases, words
from anchorjax.tasks.cogs.files import NUM_ROWS, read_split, take_turns
from anchorjax.tasks.text_files import digest_files, find_file
from anchorjax.tasks.texts import LossOn, Table, Texts

GROUPS = ('in_distribution', 'primitive', 'exposure', *cases.CASES)
_MOST_VARIABLES = 96
# CUT stands at the end of a sequence that was cut: never trained, so never answered.
_SPECIAL = ('END', 'IN', 'OUT', 'CUT')
_SYMBOLS = ('(', ')', ',', '.', ';', '*', '_', 'x', 'a', 'b', 'e', 'AND', 'LAMBDA')
_SYMBOLS += ('agent', 'theme', 'recipient', 'ccomp', 'xcomp', 'nmod')
_FUNCTION_WORDS = ('A', 'The', 'the', 'was', 'by', 'to', 'that', 'on', 'in', 'beside')


@dataclasses.dataclass(frozen=True)
class CogsConfig:
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
        """The data of a seed is the random key that orders the rows."""
        files = []
        if self.path:
            folder = pathlib.Path(self.path)
            names = ('train.tsv', 'dev.tsv', 'gen.tsv')
            files = [find_file(folder, name) for name in names]
        return Task(
            vocab=self.vocab,
            seq_len=self.seq_len,
            num_train=self.num_train,
            eval_set_names=('seen_train', 'seen_heldout', 'gen'),
            make_data=lambda key: key,
            batch=functools.partial(make_batch, self),
            eval_sets=functools.partial(make_eval_sets, self),
            digest_data=functools.partial(digest_files, files),
            last_only=False,
            group_names=GROUPS,
        )

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


def load(config: CogsConfig) -> tuple[Table, np.ndarray]:
    """The texts of `list_rows`, and of every row its index in GROUPS, [N]."""
    return _load(
        config.path, config.sample_seed, config.num_heldout, config.eval_examples
    )


@cache_files(maxsize=2)
def _load(
    path: str, sample_seed: int, num_heldout: int, num_gen: int
) -> tuple[Table, np.ndarray]:
    prompts, answers, groups = [], [], []
    for row in list_rows(path, sample_seed, num_heldout, num_gen):
        prompts.append(encode(f'IN {row.sentence} OUT'))
        answers.append(encode(row.form))
        case = 'exposure' if row.case.startswith('exposure') else row.case
        groups.append(GROUPS.index(case))
    table = texts.make_table(prompts, answers, _token_of()['END'])
    return table, np.array(groups, np.int32)


def encode(text: str) -> list[int]:
    """The tokens of a text; KeyError for an unknown word."""
    tokens = _token_of()
    return [tokens[word] for word in text.split(' ')]


def training_row(key: jax.Array, number_B: jax.Array) -> jax.Array:
    """The rows [B] of the training examples with these numbers."""
    return permute(key, number_B, NUM_ROWS['train'])


def make_batch(config: CogsConfig, key: jax.Array, index_B: jax.Array) -> Batch:
    """The training examples with these numbers."""
    read = _read(config, training_row(key, index_B))
    return texts.to_training_batch(read, config.loss_on)


def make_eval_sets(config: CogsConfig, key: jax.Array) -> EvalSets:
    """Training rows, held-out sentences, and the 21 cases in turn."""
    size = config.eval_examples
    trained = texts.choose(0, config.num_train, size)
    heldout = texts.choose(NUM_ROWS['train'], config.num_heldout, size)
    gen = texts.choose(NUM_ROWS['train'] + config.num_heldout, size, size)
    trained = trained._replace(row_B=training_row(key, trained.row_B))
    _, group_N = load(config)
    asked, are_real, groups = [], [], []
    for row_B, is_real_B in (trained, heldout, gen):
        asked.append(_score(config, row_B))
        are_real.append(is_real_B)
        groups.append(jnp.asarray(group_N)[row_B])
    return texts.join_eval_sets(asked, are_real, groups)


def _score(config: CogsConfig, row_B: jax.Array) -> Batch:
    """The rows as asked in an eval set; one that is cut asks for CUT at its end."""
    read = _read(config, row_B)
    last_B = read.tokens_BL[:, -1]
    is_cut_B = read.length_B > config.seq_len + 1
    last_B = jnp.where(is_cut_B, _token_of()['CUT'], last_B)
    cut = read._replace(
        tokens_BL=read.tokens_BL.at[:, -1].set(last_B),
        begin_B=jnp.minimum(read.begin_B, config.seq_len),  # of an answer beyond it
    )
    return texts.to_scored_batch(cut, config.score_end)


def _read(config: CogsConfig, row_B: jax.Array) -> Texts:
    table, _ = load(config)
    return texts.read_table(table, row_B, config.seq_len + 1, _token_of()['END'])
