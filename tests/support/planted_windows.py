"""Members with planted accuracies, and a tiny sweep of P4's task with windows."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from analysis.windows.members import (
    ALL,
    NONE,
    Members,
    find_ends,
    find_moment,
    measure_width,
    name_window,
)
from anchorjax import config

STEPS = 1_000
BOUNDS = {NONE: (0, 0), ALL: ()}
# (window's name, decay, gamma, seed) -> accuracy on unseen pairs.
Plant = Callable[[str, float, float, int], float]


def find_bounds(name: str) -> tuple[int, ...]:
    """The bounds of a window by its name."""
    if name in BOUNDS:
        return BOUNDS[name]
    shares = name.replace(', ', '–').split('–')
    return tuple(round(float(share) * STEPS) for share in shares)


def plant_members(
    plant: Plant,
    windows: Sequence[str] = (ALL,),
    decays: Sequence[float] = (1 / 3,),
    gammas: Sequence[float] = (0.8,),
    seeds: int = 8,
) -> Members:
    """A member for every combination; its accuracy rises from 0 in a line."""
    step_S = np.arange(100, STEPS + 1, 100)
    rows = []
    for name in windows:
        bounds = find_bounds(name)
        assert name_window(bounds, STEPS) == name
        for decay in decays:
            for gamma in gammas:
                for seed in range(seeds):
                    unseen = plant(name, decay, gamma, seed)
                    unseen_S = unseen * step_S / STEPS
                    row = Members(
                        setting='',
                        gamma=gamma,
                        decay=decay,
                        window=name,
                        bounds=find_ends(bounds, STEPS),
                        width=measure_width(bounds, STEPS),
                        seed=seed,
                        train_loss=0.01,
                        seen=1.0,
                        unseen=unseen,
                        asked='unseen pairs',
                        whole=0.0,
                        null=1 / 16,
                        moment=find_moment(step_S, unseen_S),
                        step_S=step_S,
                        unseen_MS=unseen_S,
                    )
                    rows.append(row)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Members(*columns)._replace(step_S=step_S)


def make_result(members: Members, **fields: Any) -> SimpleNamespace:
    """What a reading gets: the result of a figure with these members."""
    return SimpleNamespace(members=members, **fields)


def make_experiment(**fields: Any) -> config.Experiment:
    """Three windows and two seeds, of four keys and three anchors."""
    c = config.default(task='anchor_permutations')
    c.name = 'critical_windows'
    c.task.update(num_keys=4, num_anchors=3)
    c.model.update(depth=2, width=8, heads=2, head_dim=4, mlp_dim=8, max_len=3)
    c.model.update(norm='pre', init='scale', decayed='all_but_embeddings')
    c.optimizer.update(shape='constant', floor=0.0, equal_budget=True)
    c.train.update(batch_size=8, num_steps=8, eval_every=2, lanes=2)
    c.train.snapshot_steps = (0, 2)
    c.grid.gamma = (0.8,)
    c.grid.learning_rate = (1e-2,)
    c.grid.weight_decay = (3.0,)
    c.grid.decay_window = ((), (0, 0), (2, 4))
    c.grid.seed = (0, 1)
    for path, value in fields.items():
        group, field = path.split('__')
        c[group][field] = value
    return config.resolve(c)
