"""A task that is edited in a notebook: the new rule is trained, and the new one asked.

Cells are run again in one process; nothing on disk says that a function is another one.
"""

import dataclasses
import os
import pickle
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from analysis.members.untrained import draw_training
from anchorjax import api, config, models, numerics, tasks
from anchorjax.errors import StoreError, UserError
from anchorjax.models.emb_mlp import EmbMLPConfig
from anchorjax.network import draw_eval_sets
from anchorjax.sweeps.shards import Shard
from anchorjax.tasks import Batch, EvalSets, Task
from anchorjax.tasks.modular_addition import ModularAdditionConfig
from anchorjax.training.devices import make_mesh
from anchorjax.training.programs import digest_programs
from tests.support.sweeps import ROOT

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


@dataclasses.dataclass(frozen=True)
class OwnModel(EmbMLPConfig):
    name: str = 'own'

    def is_decayed(self, name):
        return rule is add


@pytest.fixture
def experiment(monkeypatch) -> config.Experiment:
    monkeypatch.setitem(tasks.TASKS, 'own', OwnConfig)
    monkeypatch.setitem(models.MODELS, 'own', OwnModel)
    c = config.default(task='own', model='own')
    c.model.width = c.model.mlp_dim = 8
    c.train.batch_size, c.train.num_steps, c.train.eval_every = 7, 4, 2
    c.optimizer.warmup_steps, c.optimizer.floor = 0, 0.0
    c.grid.gamma, c.grid.learning_rate = (0.5,), (1e-2,)
    c.grid.seed = (0, 1)
    return config.resolve(c)


def edit_a_helper(monkeypatch) -> None:
    monkeypatch.setattr(HERE, 'rule', multiply)


def edit_what_is_closed_over(monkeypatch) -> None:
    monkeypatch.setitem(rules, 'now', multiply)


@pytest.mark.slow
def test_an_edited_task_trains_its_new_rule(experiment, tmp_path, monkeypatch):
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
    edit_a_helper(monkeypatch)
    after = train('after')
    for name, values in before.items():
        assert (after[name] != values).any(), name


@pytest.mark.slow
def test_two_rules_are_not_mixed_in_a_run(experiment, tmp_path, monkeypatch, capsys):
    """As a file that a task reads at its top: no digest of sources knows of it."""

    def train(index: int, **options) -> api.Run:
        shard, mesh = Shard(index, 2), make_mesh(1)
        return api.train(experiment, tmp_path, shard=shard, mesh=mesh, **options)

    train(0).experiment_of(seed=0)
    with monkeypatch.context() as patch:
        edit_what_is_closed_over(patch)
        with pytest.raises(
            StoreError, match=r'another (task|model) of cohort all: its'
        ):
            train(1)
        warnings = []
        train(0, warn=warnings.append)  # it is finished
        assert 'another task of cohort all' in warnings[0]
        with pytest.raises(
            UserError, match='the task of cohort all computes something'
        ):
            api.open(tmp_path).experiment_of(seed=0)
        capsys.readouterr()
        patch.setattr(numerics, '_LIBRARIES', ('jax',))  # as in another environment
        api.open(tmp_path).experiment_of(seed=0)
        assert 'cannot tell whether task of cohort all' in capsys.readouterr().err
    run = train(1)
    run.experiment_of(seed=0)
    assert bool(run.results.trained.all()) and capsys.readouterr().err == ''


def test_a_rule_of_a_model_alone_is_in_its_program(experiment, monkeypatch):
    before = digest_programs(experiment)
    monkeypatch.setattr(HERE, 'add', None)  # which weights are decayed
    after = digest_programs(experiment)
    assert [name for name in before if before[name] != after[name]] == [
        'model of cohort all'
    ]


OWN = """
import dataclasses
from anchorjax import config
from anchorjax.models import MODELS
from anchorjax.tasks import TASKS
from tests.sweeps import test_notebook
class OwnConfig(test_notebook.OwnConfig): pass
class OwnModel(test_notebook.OwnModel): pass
TASKS['own'], MODELS['own'] = OwnConfig, OwnModel
def get_config(preset=''):
    c = config.default(task='own', model='own')
    c.train.batch_size, c.optimizer.warmup_steps = 7, 0
    return c
"""
DIGEST = """
import sys
import jax
from anchorjax import config
from anchorjax.training.programs import digest_programs
jax.config.update('jax_compilation_cache_dir', sys.argv[2])
print(digest_programs(config.resolve(config.load(sys.argv[1]))))
"""


@pytest.mark.slow
def test_a_program_is_the_same_in_every_process_and_place(tmp_path):
    found = set()
    for name in 'ab':
        (tmp_path / name).mkdir()
        own = tmp_path / name / 'own.py'
        own.write_text(OWN)
        words = [sys.executable, '-c', DIGEST, own, tmp_path / 'cache']
        found.add(
            subprocess.check_output(
                words,
                cwd=own.parent,
                env=os.environ | {'PYTHONPATH': str(ROOT)},
                text=True,
            )
        )
    (digests,) = found
    assert 'task of cohort all' in digests and 'model of cohort all' in digests


@pytest.mark.slow
def test_an_experiment_of_ones_own_task_is_pickled_by_name_and_path(
    tmp_path, monkeypatch
):
    """To a process that has not read its config file, as a spawned Pool's."""
    for table in (tasks.TASKS, models.MODELS):
        monkeypatch.setitem(table, 'own', None)  # forgotten afterwards
    path = tmp_path / 'own.py'
    path.write_text(OWN)
    experiment = config.resolve(config.load(path))
    (tmp_path / 'experiment').write_bytes(pickle.dumps(experiment))
    script = (
        'import pickle, sys; e = pickle.load(open(sys.argv[1], "rb")); '
        'print(type(e.task).__module__, e.is_resolved, e.task.make().vocab)'
    )
    printed = subprocess.check_output(
        [sys.executable, '-c', script, tmp_path / 'experiment'], cwd=ROOT, text=True
    )
    assert printed.split() == [str(path), 'True', str(experiment.task.vocab)]
