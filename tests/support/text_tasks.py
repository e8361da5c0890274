"""Tiny sweeps of the text tasks."""

import pathlib
from typing import Any

import ml_collections

from anchorjax import api, config
from anchorjax.training.devices import make_mesh
from tests.support.cases import set_fields

FIELDS = {
    'addition': {'largest': 9, 'square': (3, 5), 'num_examples': 64},
    'scan': {'num_examples': 64},
    'cogs': {'num_examples': 64, 'seq_len': 64},
    'prontoqa': {'hops': 1, 'num_examples': 64},
}


def make_config(task: str, **fields: Any) -> ml_collections.ConfigDict:
    """A small network, two gammas and two decays, two steps."""
    c = config.default(task=task)
    c.name = f'tiny_{task}'
    c.task.update(eval_examples=32, **FIELDS[task])
    c.model.update(depth=1, width=8, head_dim=8, mlp_dim=8, max_len=256)
    c.optimizer.update(warmup_steps=1, floor=0.0)
    c.train.update(batch_size=16, num_steps=2, eval_every=1, resume_every=1e9)
    c.grid.update(gamma=(0.5, 0.7), learning_rate=(1e-2,), weight_decay=(0.01, 0.5))
    set_fields(c, fields)
    return c


def train_sweep(folder: pathlib.Path, task: str, **fields: Any) -> None:
    """Trains the sweep of `make_config`."""
    api.train(config.resolve(make_config(task, **fields)), folder, mesh=make_mesh(1))
