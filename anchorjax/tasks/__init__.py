"""What a task is: sizes, training batches, and eval sets with their answers.

A new task is a new file of this folder, and its config a row of TASKS.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import xarray as xr

# {name: 'MODULE:CLASS' of its config}, imported when a config names it; or the class.
TASKS: dict[str, 'str | type[TaskConfig]'] = {
    'anchors': 'anchorjax.tasks.anchors:AnchorsConfig',
    'addition': 'anchorjax.tasks.addition:AdditionConfig',
    'cogs': 'anchorjax.tasks.cogs.task:CogsConfig',
    'corpus': 'anchorjax.tasks.corpus.task:CorpusConfig',
    'mixture': 'anchorjax.tasks.mixture:MixtureConfig',
    'prontoqa': 'anchorjax.tasks.prontoqa.task:ProntoqaConfig',
    'scan': 'anchorjax.tasks.scan.task:ScanConfig',
    'memory_reasoning': 'anchorjax.tasks.memory_reasoning:MemoryReasoningConfig',
    'anchor_permutations': (
        'anchorjax.tasks.anchor_permutations:AnchorPermutationsConfig'
    ),
    'modular_addition': 'anchorjax.tasks.modular_addition:ModularAdditionConfig',
}


Array = jax.Array | np.ndarray  # JAX computes with both


class Batch(NamedTuple):
    """Training sequences, and the right answer at every scored position.

    Q is 1 in a task that scores the last position only, else T. Tokens and targets are
    integers from 0 to V - 1, also where nothing is scored. `sweeps.checks` asks before
    training whether this and what `EvalSets` and `Task` say is so.
    """

    tokens_BT: jax.Array
    targets_BQ: jax.Array
    # Weight in the loss, float32; 0: not scored. None: all positions count alike.
    weights_BQ: jax.Array | None = None


class EvalSets(NamedTuple):
    """Sequences to evaluate during training, with the answer of every mapping."""

    tokens_PBT: jax.Array
    targets_PRBQ: jax.Array
    weights_PBQ: jax.Array | None = None  # as in Batch; a row of zeros is padding
    # The group of every sequence, an index into Task.group_names; None: no groups.
    groups_PB: jax.Array | None = None


def index_train_and_rest(num_trained: int, num_all: int) -> tuple[jax.Array, jax.Array]:
    """The numbers of the trained and of all other examples, and their weights, [2, B].

    The shorter row is padded with its last number, at weight 0.
    """
    size = max(num_trained, num_all - num_trained)
    number_PB = jnp.stack([jnp.arange(size), num_trained + jnp.arange(size)])
    end_P1 = jnp.array([[num_trained], [num_all]])
    weights_PB = (number_PB < end_P1).astype(jnp.float32)
    return jnp.minimum(number_PB, end_P1 - 1), weights_PB


def place_items(tokens_BT: Array, position_B: Array, items_BI: Array) -> jax.Array:
    """The tokens [B, T] with these items [B, I] side by side from `position_B` on."""
    offset_BT = jnp.arange(tokens_BT.shape[1]) - position_B[:, None]
    placed_BT = jnp.asarray(tokens_BT)
    for offset in range(items_BI.shape[1]):
        item_B1 = items_BI[:, offset : offset + 1]
        placed_BT = jnp.where(offset_BT == offset, item_B1, placed_BT)
    return placed_BT


def weigh_real(num_real: Sequence[int], size: int) -> jax.Array | None:
    """Weights [P, B, 1] of eval sets whose first sequences are real; None: all are."""
    if min(num_real) >= size:
        return None
    is_real_PB = jnp.arange(size) < jnp.array(num_real)[:, None]
    return is_real_PB.astype(jnp.float32)[..., None]


def single_role(tokens_BT: jax.Array) -> jax.Array:
    """The roles [B, T] of a task whose positions are all alike."""
    return jnp.zeros_like(tokens_BT)


class Task(NamedTuple):
    """A data set as pure functions; `data` (arrays, per member) is its only state.

    An eval set is a named set of sequences: training sequences, held-out ones, ... A
    mapping is a rule that gives every sequence an answer. What is measured is the share
    of each eval set's sequences that a member answers as each mapping does.
    """

    vocab: int
    seq_len: int
    num_train: int  # training examples, numbered from 0
    eval_set_names: tuple[str, ...]  # P
    # key -> data: whatever differs by seed (the split, the examples). All draws come
    # from the key: what NumPy draws would be others in the next process.
    make_data: Callable[[jax.Array], Any]
    # (data, index_B) -> the training examples with these numbers.
    batch: Callable[[Any, jax.Array], Batch]
    # data -> the sequences to evaluate, and their answers. Those of an eval set of
    # trained examples are some that `batch` gives, those of a held-out eval set are
    # not.
    eval_sets: Callable[[Any], EvalSets]
    # The eval sets of training examples, on which it is judged who has converged.
    trained_eval_sets: tuple[str, ...] = ('seen_train',)
    # A line about the data for the user to see before training, e.g. how many examples
    # are cut; it may read files. None: there is nothing to say.
    describe_data: Callable[[], str] | None = None
    # {path: SHA-256} of what the examples are read from, as the manifest records it;
    # None: they are not read from files.
    digest_data: Callable[[], dict[str, str]] | None = None
    last_only: bool = True  # only the last position is scored: cheaper to compute
    # Every next token is scored; there is no answer to match.
    is_language_modeling: bool = False
    mapping_names: tuple[str, ...] = ('assigned',)  # R
    # Its answers are the training labels, and the targets of the loss on eval sets.
    trained_mapping: str = 'assigned'
    # The (eval set, mapping) for which a histogram of prediction minus answer is
    # recorded; None where tokens are not numbers.
    deviation: tuple[str, str] | None = None
    # (results, members of one cohort) -> these members with the task's own columns, the
    # same ones in every cohort; see `Run.members`. None: there are none.
    describe_members: Callable[[xr.Dataset, pd.DataFrame], pd.DataFrame] | None = None
    # Agreements in the printed table of members: {column of members.csv: heading}. {}:
    # that with the trained mapping on every eval set.
    headings: Mapping[str, str] = MappingProxyType({})
    # Agreement is also recorded for each group of an eval set's sequences (by position,
    # by case, by region); () for a task without groups.
    group_names: tuple[str, ...] = ()
    role_names: tuple[str, ...] = ('token',)  # what a position can be
    # tokens_BT -> [B, T], indices into role_names.
    roles: Callable[[jax.Array], jax.Array] = single_role


def digest_data(config: 'TaskConfig') -> dict[str, str]:
    """{path: SHA-256} of the files of a task; UserError if one cannot be read."""
    task = config.make()
    return {} if task.digest_data is None else task.digest_data()


class TaskConfig(Protocol):
    """A task: a frozen, hashable dataclass whose fields are its settings."""

    @property
    def name(self) -> str: ...  # its name in TASKS

    @property
    def seq_len(self) -> int: ...  # T

    @property
    def vocab(self) -> int: ...  # V

    def make(self) -> Task:
        """Computes nothing on a device, so that a sweep can be planned without one."""
        ...
