"""One trained network: its parameters, its task, its forward pass, all activations.

  point = {'gamma': 0.6, 'num_anchors': 8, 'exception': 'unseen', 'seed': 0}
  member = member_of(open_run('runs/phase'), **point)
  member.forward(tokens_BT).blocks[0].Attn

Nothing here depends on how the model is built: activations are those that
`anchorjax.models` names, and parameters are found by their paths.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
from flax.traverse_util import flatten_dict
from numpy.typing import ArrayLike

from analysis.members.point import Point, complete_point, name_point
from anchorjax import models, numerics, tasks
from anchorjax.caching import cache
from anchorjax.errors import UserError
from anchorjax.experiment import Experiment
from anchorjax.grid import DATA, INIT, random_key
from anchorjax.models import Activations, ModelConfig
from anchorjax.storage.reader import Run

_PART = 2**15  # training examples that are drawn at once


class MemberEvalSets(NamedTuple):
    """The eval sets of a member's seed, asked at their last position."""

    tokens_PBT: np.ndarray
    labels_PRB: np.ndarray  # the answer of every mapping


class Member(NamedTuple):
    """A trained network at one step, and the task it was trained on."""

    experiment: Experiment  # its static axes are set
    params: Any  # tree of numpy arrays
    point: Point  # every axis of the sweep
    step: int
    run: Run | None = None  # that it is from; None: weights alone

    @property
    def task(self) -> tasks.Task:
        return self.experiment.task.make()

    @property
    def eval_sets(self) -> MemberEvalSets:
        """The sequences on which training measured it, and every mapping's answers."""
        eval_sets = draw_eval_sets(self.experiment.task, self.point['seed'])
        labels_PRB = np.asarray(eval_sets.targets_PRBQ)[..., -1]
        return MemberEvalSets(np.asarray(eval_sets.tokens_PBT), labels_PRB)

    @property
    def is_asked_PB(self) -> np.ndarray:
        """Which sequences of the eval sets count, bool.

        Of few training examples some are repeated, to fill the array.
        """
        eval_sets = draw_eval_sets(self.experiment.task, self.point['seed'])
        targets_PBQ = np.asarray(eval_sets.targets_PRBQ)[:, 0]
        is_scored_PBQ = mark_scored(targets_PBQ, eval_sets.weights_PBQ)
        return np.asarray(is_scored_PBQ.any(-1))

    @property
    def depth(self) -> int:
        """Number of blocks; nothing is computed."""
        tokens_BT = np.zeros((1, self.task.seq_len), np.int32)
        return len(jax.eval_shape(self.apply, self.params, tokens_BT).blocks)

    def roles(self, tokens_BT: np.ndarray) -> np.ndarray:
        """The role of every position, [B, T], as an index of `task.role_names`."""
        return np.asarray(_compile_roles(self.experiment.task)(np.asarray(tokens_BT)))

    @property
    def apply(self) -> Callable[..., Activations]:
        """(params, tokens_BT, edit=None) -> Activations of every position."""
        return make_apply(self.experiment.model, self.experiment.task.vocab)

    def forward(self, tokens_BT: np.ndarray) -> Activations:
        """All activations, at every position, as numpy arrays.

        Raises:
          UserError: these are no tokens; JAX would take another in the place of one
            that the network does not have.
        """
        tokens_BT, vocab = np.asarray(tokens_BT), self.experiment.task.vocab
        is_known = (tokens_BT >= 0) & (tokens_BT < vocab)
        is_whole = np.issubdtype(tokens_BT.dtype, np.integer) and is_known.all()
        if tokens_BT.ndim != 2 or not is_whole:
            raise UserError(f'tokens_BT: must be integers [B, T] from 0 to {vocab - 1}')
        apply = compile_apply(*program_of(self.experiment))
        activations = apply(self.params, tokens_BT)
        return jax.tree.map(np.asarray, activations)

    def answer(self, tokens_BT: np.ndarray) -> np.ndarray:
        """Its answers [B]; UserError as in `forward`."""
        return read_answers(self.forward(tokens_BT))

    @property
    def matrices(self) -> dict[str, np.ndarray]:
        """Every parameter matrix [d_in, d_out] by its path, such as 'block_0/W_Q'."""
        leaves = flatten_params(self.params)
        return {path: leaf for path, leaf in leaves.items() if leaf.ndim == 2}

    def matrix(self, path: str) -> np.ndarray:
        """The parameter matrix at a path.

        Raises:
          UserError: there is none; the error lists those of the model.
        """
        matrices = self.matrices
        if path not in matrices:
            raise UserError(f'no matrix {path!r}; the model has {list(matrices)}')
        return matrices[path]


def flatten_params(params: Any) -> dict[str, np.ndarray]:
    """Every parameter of a tree by its path, such as 'block_0/W_Q'."""
    leaves: dict[str, Any] = flatten_dict(params, sep='/')
    return leaves


def member_of(run: Run, step: int | str = 'last', **point: Any) -> Member:
    """The member at `point` of a sweep, at a snapshot step.

    Raises:
      UserError: there is no such member, or it diverged.
      StoreError: there is no such snapshot, or it is damaged.
    """
    experiment = run.experiment_of(**point)
    complete = complete_point(run, point)
    _require_not_diverged(run, complete)
    params = run.params(step, **point)
    if step == 'last':
        step = run.steps(**point)[-1]
    return Member(experiment, params, complete, int(step), run)


def find_untrained(member: Member) -> Member | None:
    """`make_untrained`; None: of an official network, weights alone, γ is not known."""
    is_unknown = math.isnan(member.point.get('gamma', math.nan))
    return None if is_unknown else make_untrained(member)


def make_untrained(member: Member) -> Member:
    """The member before training, at the gamma of its point: the null of training.

    It is the snapshot of step 0 if the run has it. If not, its weights are drawn again,
    or read from the file that it started from.

    Raises:
      UserError: that file is not the one that it started from, or cannot be read.
    """
    run, config = member.run, member.experiment
    if run is not None and 0 in run.steps(**member.point):
        return member_of(run, 0, **member.point)
    if config.model.is_drawn:
        return _draw(member, member.point['seed'])
    if run is not None:
        run.require_same_files(config.model.digest_start())
    return member._replace(params=config.model.read_start(config.task.vocab), step=0)


def draw_independent(member: Member, seed: int) -> Member | None:
    """An untrained network of another seed, for the member's task and gamma.

    None where the weights of members are not drawn but read: all start from the same.
    """
    return _draw(member, seed) if member.experiment.model.is_drawn else None


def _draw(member: Member, seed: int) -> Member:
    """The member with newly drawn weights."""
    config = member.experiment
    draw_params = _compile_draw(config.model, config.task.vocab)
    params = draw_params(member.point['gamma'], seed)
    return member._replace(params=jax.tree.map(np.asarray, params), step=0)


def require_attention(member: Member) -> None:
    """UserError unless the member's model has a block, and so attention."""
    if not member.depth:
        name = member.experiment.model.name
        raise UserError(f'model {name!r}: it has no attention')


def read_answers(activations: Activations) -> np.ndarray:
    """The answers [B]: the most likely token after the last position."""
    return np.asarray(activations.logits)[:, -1].argmax(-1)


@cache()
def make_apply(model: ModelConfig, vocab: int) -> Callable[..., Activations]:
    """(params, tokens_BT, edit=None) -> Activations of every position.

    The same function for all members of a model: JAX traces each function anew.
    """
    module = model.module(vocab, gamma=0.0)

    def apply(
        params: Any, tokens_BT: jax.Array, edit: models.Edit | None = None
    ) -> Activations:
        fields = {'last_only': False, 'edit': edit}
        activations: Any = module.apply({'params': params}, tokens_BT, **fields)
        return activations

    return apply


def program_of(experiment: Experiment) -> tuple[ModelConfig, int, str]:
    """(model, vocab, precision of products): what a forward pass is compiled from."""
    return experiment.model, experiment.task.vocab, experiment.train.precision


@cache()
def compile_apply(
    model: ModelConfig, vocab: int, precision: str
) -> Callable[..., Activations]:
    """The jitted `make_apply`, compiled once for all members of one `program_of`."""
    program = jax.jit(make_apply(model, vocab), static_argnames='edit')
    return numerics.pin(precision)(program)


@cache()
def draw_eval_sets(config: tasks.TaskConfig, seed: int) -> tasks.EvalSets:
    """The eval sets of a seed as numpy arrays."""
    return jax.tree.map(np.asarray, _compile_eval_sets(config)(seed))


def mark_scored(targets: ArrayLike, weights: ArrayLike | None) -> np.ndarray:
    """Which targets of a batch, or of eval sets, are scored: without weights all."""
    return np.ones_like(targets, bool) if weights is None else np.asarray(weights) > 0


def read_eval_set(
    config: tasks.TaskConfig, seed: int, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(tokens [B, T], right targets [B, Q], which are scored) of one eval set."""
    eval_sets = draw_eval_sets(config, seed)
    p = config.make().eval_set_names.index(name)
    targets_PBQ = np.asarray(eval_sets.targets_PRBQ)[:, 0]
    is_scored_PBQ = mark_scored(targets_PBQ, eval_sets.weights_PBQ)
    return np.asarray(eval_sets.tokens_PBT)[p], targets_PBQ[p], is_scored_PBQ[p]


def draw_training(config: tasks.TaskConfig, seed: int) -> Iterator[tasks.Batch]:
    """All training examples of a seed, as numpy arrays, in parts."""
    total, draw_batch = config.make().num_train, _compile_batch(config)
    for first in range(0, total, _PART):
        index_B = np.arange(first, min(first + _PART, total))
        yield jax.tree.map(np.asarray, draw_batch(seed, index_B))


# Each is compiled once for all seeds of a config.


@cache()
def _compile_eval_sets(config: tasks.TaskConfig) -> Callable[..., tasks.EvalSets]:
    """seed -> the eval sets."""

    def draw(seed: jax.Array) -> tasks.EvalSets:
        task = config.make()
        return task.eval_sets(task.make_data(random_key(seed, DATA)))

    return numerics.pin()(jax.jit(draw))


@cache()
def _compile_batch(config: tasks.TaskConfig) -> Callable[..., tasks.Batch]:
    """(seed, index_B) -> the training examples with these numbers."""

    def draw(seed: jax.Array, index_B: jax.Array) -> tasks.Batch:
        task = config.make()
        return task.batch(task.make_data(random_key(seed, DATA)), index_B)

    return numerics.pin()(jax.jit(draw))


@cache()
def _compile_draw(model: ModelConfig, vocab: int) -> Callable[..., Any]:
    """(gamma, seed) -> new parameters."""

    def draw(gamma: jax.Array, seed: jax.Array) -> Any:
        return models.draw_params(model, vocab, gamma, random_key(seed, INIT))

    return numerics.pin()(jax.jit(draw))


@cache()
def _compile_roles(config: tasks.TaskConfig) -> Callable[[np.ndarray], jax.Array]:
    """tokens_BT -> the role of every position."""
    return numerics.pin()(jax.jit(config.make().roles))


def _require_not_diverged(run: Run, point: Point) -> None:
    results = run.results.sel(run.labels(**point))
    if results.trained and results.diverged >= 0:
        where = name_point(run, point)
        raise UserError(
            f'the member at {where} diverged at step {int(results.diverged)}: '
            'there is nothing to analyze'
        )
