"""One network to look into: its parameters, its task, and the forward pass with all its insides.

  member = member_of(store.open('runs/phase'), gamma=1.5, depth=2, seed=0)
  member.forward(tokens_BT).blocks[0].Attn

Nothing here knows how the model is built: it names activations (`models.base`) and parameters.
"""

import functools
from typing import Any, NamedTuple

import jax
import numpy as np
from flax.traverse_util import flatten_dict

from anchorjax import models, tasks
from anchorjax.config import Experiment
from anchorjax.config.grid import DATA, random_key
from anchorjax.errors import UserError
from anchorjax.models.base import Activations
from anchorjax.storage.reader import Run
from anchorjax.tasks.base import Probes


class Member(NamedTuple):
    """A trained network at one step, and the task it was trained on."""

    experiment: Experiment  # static axes set
    params: Any  # tree of numpy arrays
    point: dict[str, Any]  # every axis of the sweep
    step: int

    @property
    def task(self) -> tasks.Task:
        return tasks.make(self.experiment.task)

    @property
    def probes(self) -> Probes:
        """The sequences it was measured on in training, and what every mapping answers."""
        return _probes(self.experiment.task, self.point['seed'])

    @property
    def depth(self) -> int:
        """Blocks of the model; nothing is computed."""
        tokens_BT = np.zeros((1, self.task.seq_len), np.int32)
        return len(jax.eval_shape(self.apply, self.params, tokens_BT).blocks)

    def roles(self, tokens_BT) -> np.ndarray:
        """[B, T]: what every position is, an index of `task.role_names`."""
        return np.asarray(_roles(self.experiment.task)(np.asarray(tokens_BT)))

    @property
    def apply(self):
        """(params, tokens_BT, edit=None) -> Activations of every position, to use inside jit."""
        return applied(self.experiment.model, self.experiment.task.vocab)

    def forward(self, tokens_BT) -> Activations:
        """Everything computed on the way, every position answering; numpy arrays."""
        call = jitted(self.experiment.model, self.experiment.task.vocab)
        return jax.tree.map(np.asarray, call(self.params, np.asarray(tokens_BT)))

    @property
    def matrices(self) -> dict[str, np.ndarray]:
        """Every parameter matrix [d_in, d_out] by its path, 'block_0/W_Q'."""
        return {
            path: W
            for path, W in flatten_dict(self.params, sep='/').items()
            if W.ndim == 2
        }

    def matrix(self, path: str) -> np.ndarray:
        """Raises UserError naming what there is."""
        if path not in self.matrices:
            raise UserError(f'no matrix {path!r}; the model has {list(self.matrices)}')
        return self.matrices[path]


def member_of(run: Run, step: int | str = 'last', **point) -> Member:
    """The member at `point` of a sweep, at a snapshot step.

    Raises:
      UserError: no such member, or it diverged; StoreError: no such step, or damage.
    """
    experiment, chosen = run.at(**point), full_point(run, point)
    _whole(run, chosen)
    step = run.steps(**point)[-1:] if step == 'last' else [step]
    params = run.params(*step, **point)
    return Member(experiment, params, chosen, step[0])


def full_point(run: Run, point: dict[str, Any]) -> dict[str, Any]:
    """`point` with the axes of a single value, and with the sweep's own numbers."""
    run.at(**point)  # complains of an unknown or missing axis
    found = {}
    for axis, values in run.experiment.axes.items():
        given = point.get(axis, values[0])
        found[axis] = next(v for v in values if v == given or np.isclose(v, given))
    return found


def varying(run: Run, point: dict[str, Any]) -> dict[str, Any]:
    """The part of a point that tells members apart."""
    axes = run.experiment.axes
    return {axis: point[axis] for axis in axes if axis in point and len(axes[axis]) > 1}


def label(point: dict[str, Any]) -> str:
    """'depth=2,gamma=1.5': also a file name."""
    return ','.join(f'{axis}={value}' for axis, value in point.items())


def applied(model, vocab: int):
    """(params, tokens_BT, edit=None) -> Activations of every position."""
    module = models.make(model, vocab, gamma=0.0)

    def apply(params, tokens_BT, edit=None) -> Activations:
        return module.apply({'params': params}, tokens_BT, last_only=False, edit=edit)

    return apply


@functools.lru_cache
def _probes(config, seed: int) -> Probes:
    task = tasks.make(config)
    make = jax.jit(lambda seed: task.probes(task.make_data(random_key(seed, DATA))))
    return jax.tree.map(np.asarray, make(seed))


@functools.lru_cache
def _roles(config):
    return jax.jit(tasks.make(config).roles)


@functools.lru_cache
def jitted(model, vocab: int):
    """`applied`, compiled once for all the members of one architecture."""
    return jax.jit(applied(model, vocab), static_argnames='edit')


def _whole(run: Run, point: dict[str, Any]) -> None:
    results = run.results.sel(point)
    if results.trained and results.diverged >= 0:
        raise UserError(
            f'the member at {label(varying(run, point))} diverged at step {int(results.diverged)}: '
            'there is nothing to look into'
        )
