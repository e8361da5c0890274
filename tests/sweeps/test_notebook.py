"""A task that is edited in a notebook: the new rule is trained, and the new one asked.

Cells are run again in one process; nothing on disk says that a function is another one.
"""

import dataclasses
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from analysis.members.member import draw_training
from anchorjax import api, config, tasks
from anchorjax.network import draw_eval_sets
from anchorjax.tasks import Batch, EvalSets, Task
from anchorjax.tasks.modular_addition import ModularAdditionConfig

P = 7
HERE = sys.modules[__name__]


def add(a: jax.Array, b: jax.Array) -> jax.Array:
    return (a + b) % P


def multiply(a: jax.Array, b: jax.Array) -> jax.Array:
    return (a * b) % P


rule = add
rules = {'now': add}  # what a function closes over


def ask(pair_B: jax.Array) -> Batch:
    a_B, b_B = jnp.divmod(pair_B, P)
    tokens_BT = jnp.stack([a_B, b_B, jnp.full_like(a_B, P)], axis=-1)
    label_B = rule(a_B, b_B) + rules['now'](a_B, b_B)
    return Batch(tokens_BT, label_B[:, None] % P)


@dataclasses.dataclass(frozen=True)
class OwnConfig(ModularAdditionConfig):
    name: str = 'own'
    modulus: int = P

    def make(self) -> Task:
        def make_eval_sets(order: jax.Array) -> EvalSets:
            batch = ask(order[:10])
            return EvalSets(batch.tokens_BT[None], batch.targets_BQ[None, None])

        made = super().make()
        return made._replace(
            num_train=P * P,
            eval_set_names=('seen_train',),
            batch=lambda order, index_B: ask(order[index_B]),
            eval_sets=make_eval_sets,
        )


@pytest.fixture
def experiment(monkeypatch) -> config.Experiment:
    monkeypatch.setitem(tasks.TASKS, 'own', OwnConfig)
    c = config.default(task='own', model='emb_mlp')
    c.model.width = c.model.mlp_dim = 8
    c.train.batch_size, c.train.num_steps, c.train.eval_every = 7, 4, 2
    c.optimizer.warmup_steps, c.optimizer.floor = 0, 0.0
    c.grid.gamma, c.grid.learning_rate = (0.5,), (1e-2,)
    return config.resolve(c)


def edit_a_helper(monkeypatch) -> None:
    monkeypatch.setattr(HERE, 'rule', multiply)


def edit_what_is_closed_over(monkeypatch) -> None:
    monkeypatch.setitem(rules, 'now', multiply)


def edit_the_batch(monkeypatch) -> None:
    monkeypatch.setattr(HERE, 'ask', lambda pair_B: old(pair_B[..., ::-1]))


old = ask


@pytest.mark.slow
@pytest.mark.parametrize(
    'edit', [edit_a_helper, edit_what_is_closed_over, edit_the_batch]
)
def test_an_edited_task_trains_its_new_rule(experiment, tmp_path, monkeypatch, edit):
    def train(name: str) -> dict[str, np.ndarray]:
        run = api.train(experiment, tmp_path / name)
        task = run.experiment.task
        (batch,) = draw_training(task, 0)
        return {
            'loss': run.results.fit_loss.values,
            'asked': draw_eval_sets(task, 0).targets_PRBQ,
            'trained': batch.targets_BQ,
        }

    before = train('before')
    edit(monkeypatch)
    after = train('after')
    for name, values in before.items():
        assert (after[name] != values).any(), name
