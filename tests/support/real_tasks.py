"""Tiny sweeps of the real tasks, and planted results of such sweeps."""

import itertools
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import ml_collections
import numpy as np

from analysis import free_generation
from analysis.real.result import Result
from analysis.real.writing import MEASURES
from anchorjax import api, config
from anchorjax.training.devices import make_mesh

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
    c.task.update(probe_examples=32, **FIELDS[task])
    c.model.update(depth=1, width=8, head_dim=8, mlp_dim=8, max_len=256)
    c.optimizer.update(warmup_steps=1, floor=0.0)
    c.train.update(batch_size=16, num_steps=2, eval_every=1, resume_every=1e9)
    c.grid.update(gamma=(0.5, 0.7), learning_rate=(1e-2,), weight_decay=(0.01, 0.5))
    for path, value in fields.items():
        *groups, field = path.split('__')
        group = c[groups[0]] if groups else c
        with group.ignore_type():
            group[field] = value
    return c


def train_sweep(folder: pathlib.Path, task: str, **fields: Any) -> None:
    """Trains the sweep of `make_config`."""
    api.train(config.resolve(make_config(task, **fields)), folder, mesh=make_mesh(1))


class World(NamedTuple):
    """What imagined members answer, and in how many steps they converge.

    The functions get the places of a member on its axes: size (0, 1, 2), gamma and
    decay (0 or 1), and its seed.
    """

    answer: Callable[[int, int, int, int], float]  # exact match on what is asked
    steps: Callable[[int, int, int, int], float]
    heldout: float = 0.98  # exact match on held-out pairs of addition
    own_proof: float = 0.0  # label after the own proof minus that after the right one


def answer_as_paper(size: int, gamma: int, decay: int, seed: int) -> float:
    """Gamma, decay and size all help; together the first two solve the task."""
    return 0.02 + 0.45 * gamma + 0.48 * decay + 0.02 * size + 0.002 * seed


def answer_reversed(size: int, gamma: int, decay: int, seed: int) -> float:
    return 1 - answer_as_paper(size, gamma, decay, seed)


def answer_flat(size: int, gamma: int, decay: int, seed: int) -> float:
    return 0.5 + 0.002 * seed


def answer_by_seed(size: int, gamma: int, decay: int, seed: int) -> float:
    """Seeds differ more than anything else."""
    return 0.2 + 0.3 * ((size + gamma + decay + seed) % 3)


def step_as_paper(size: int, gamma: int, decay: int, seed: int) -> float:
    """Most at the middle size; gamma and decay both save steps."""
    return (100.0, 200.0, 120.0)[size] / (1 + gamma) / (1 + decay) + seed


def step_reversed(size: int, gamma: int, decay: int, seed: int) -> float:
    return (200.0, 100.0, 200.0)[size] * (1 + gamma) * (1 + decay) + seed


def step_flat(size: int, gamma: int, decay: int, seed: int) -> float:
    return 100.0 + seed


def step_by_seed(size: int, gamma: int, decay: int, seed: int) -> float:
    return 50.0 * 4 ** ((size + gamma + decay + seed) % 3)


AGREEING = World(answer_as_paper, step_as_paper)
REVERSED = World(answer_reversed, step_reversed, heldout=0.02, own_proof=0.1)
FLAT = World(answer_flat, step_flat, heldout=0.5, own_proof=-0.1)
MIXED = World(answer_by_seed, step_by_seed)

PROBES = {
    'addition': ('seen_train', 'seen_heldout', 'test'),
    'cogs': ('seen_train', 'seen_heldout', 'gen'),
    'prontoqa': ('seen_train', 'seen_heldout', 'seen_heldout_proof'),
    'scan': ('seen_train', 'seen_heldout', 'test'),
}
SIZES = (500, 1_000, 5_000)


def plant_result(
    world: World,
    task: str = 'scan',
    sizes: tuple[int, ...] = SIZES,
    gammas: tuple[float, ...] = (0.5, 0.7),
    decays: tuple[float, ...] = (0.01, 0.1),
    seeds: int = 4,
) -> Result:
    """The result of a sweep whose members, all converged, are those of a world."""
    rows, agreements = [], []
    spaces = (range(len(sizes)), range(len(gammas)), range(len(decays)), range(seeds))
    for size, gamma, decay, seed in itertools.product(*spaces):
        place = (size, gamma, decay, seed)
        moment = world.steps(*place)
        rows.append((sizes[size], gammas[gamma], decays[decay], seed, moment))
        answer = world.answer(*place)
        heldout = world.heldout if task == 'addition' else answer
        agreements.append((1.0, heldout, answer))
    columns = np.array(rows).T
    names = ('size', 'gamma', 'weight_decay', 'seed', 'moment')
    members = dict(zip(names, columns, strict=True))
    members['size'] = members['size'].astype(int)
    members['setting'] = np.full(len(rows), '')
    members['converged'] = np.full(len(rows), True)
    members['train_loss'] = np.full(len(rows), 0.001)
    agreement_MP = np.array(agreements)
    return Result(
        task=task,
        members=members,
        criterion='train loss at most 0.02',
        diverged=0,
        last_step=10_000,
        probe=np.array(PROBES[task]),
        agreement_MP=agreement_MP,
        loss_MP=1 - agreement_MP,
        perplexity_MP=np.exp(1 - agreement_MP),
        group=np.array(['short', 'long', 'never asked']),
        agreement_MPG=np.stack(
            [agreement_MP, agreement_MP, np.full_like(agreement_MP, np.nan)], -1
        ),
        baseline=np.array(['table', 'constant', 'recurrence']),
        baseline_KMP=np.stack(
            [np.full_like(agreement_MP, score) for score in (0, 0.05, 0.5)]
        ),
    )


def plant_shares(world: World, result: Result) -> free_generation.Result:
    """What the members of a planted result write by themselves."""
    right_M = np.full(len(result.agreement_MP), 0.8)
    share_MK = np.repeat(right_M[:, None], len(MEASURES), axis=1)
    share_MK[:, MEASURES.index('label after own proof')] += world.own_proof
    return free_generation.Result(result.members, result.criterion, 0, 100, share_MK)
