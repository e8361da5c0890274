"""A task or a model that breaks its contract is one line; nothing is trained."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

from anchorjax import api, config, models, tasks
from anchorjax.errors import ConfigError
from anchorjax.models import Activations, ModelConfig
from anchorjax.sweeps.checks import require_model, require_trainable
from anchorjax.tasks import Batch, EvalSets, Task
from anchorjax.training.devices import make_mesh

SIZE, VOCAB, NUM_ASKED = 50, 12, 10
KEY = jax.random.key(0)


@dataclasses.dataclass(frozen=True)
class SumConfig:
    """The answer to (a, b) is their sum, in two groups by a."""

    name: str = 'sum'
    fault: str = ''
    seq_len = 2
    vocab = VOCAB

    def make(self) -> Task:
        task = Task(
            vocab=VOCAB,
            seq_len=2,
            num_train=SIZE,
            eval_set_names=('seen_train',),
            make_data=lambda key: jax.random.permutation(key, SIZE),
            batch=ask,
            eval_sets=eval_set,
            group_names=('small', 'large'),
        )
        if self.fault:
            change, _ = FAULTS[self.fault]
            return change(task)
        return task


def ask(order: jax.Array, number_B: jax.Array) -> Batch:
    a_B, b_B = jnp.divmod(order[number_B], 10)
    weights_BQ = jnp.ones((len(number_B), 1))
    return Batch(jnp.stack([a_B, b_B], -1), (a_B + b_B)[:, None] % 7, weights_BQ)


def eval_set(order: jax.Array) -> EvalSets:
    asked = ask(order, jnp.arange(NUM_ASKED))
    return EvalSets(
        asked.tokens_BT[None],
        asked.targets_BQ[None, None],
        asked.weights_BQ[None],
        (asked.tokens_BT[None, :, 0] > 2).astype(jnp.int32),
    )


def in_batch(**changes):
    """The task whose training examples have leaves that are changed so."""

    def change(task: Task) -> Task:
        def batch(data, number_B):
            made = task.batch(data, number_B)
            new = {name: f(getattr(made, name)) for name, f in changes.items()}
            return made._replace(**new)

        return task._replace(batch=batch)

    return change


def in_eval_sets(**changes):
    """The same of its eval sets."""

    def change(task: Task) -> Task:
        def eval_sets(data):
            made = task.eval_sets(data)
            new = {name: f(getattr(made, name)) for name, f in changes.items()}
            return made._replace(**new)

        return task._replace(eval_sets=eval_sets)

    return change


def in_task(**fields):
    return lambda task: task._replace(**fields)


def set_first(value):
    """Changes the first number of an array, whatever its shape."""
    return lambda x: x.at[(0,) * x.ndim].set(value)


def add_noise(tokens):
    return tokens + np.random.randint(0, 2, tokens.shape)


def shuffle_outside_of_the_key(key):
    return jnp.asarray(np.random.permutation(SIZE))


def scale_weights(factor):
    return in_batch(weights_BQ=lambda weights_BQ: factor * weights_BQ)


# What is wrong: (a change of the task, how its line begins).
FAULTS = {
    'weights [B]': (
        in_batch(weights_BQ=lambda x: x[:, 0]),
        'batch.weights_BQ.shape = (50,): must be (50, 1), of 50 examples',
    ),
    'weights of integers': (
        in_batch(weights_BQ=lambda x: x.astype(jnp.int32)),
        "batch.weights_BQ.dtype = 'int32': must be float32",
    ),
    'negative weight': (
        in_batch(weights_BQ=set_first(-1.0)),
        'batch.weights_BQ = -1.0: must be at least 0 and finite',
    ),
    'no weight': (scale_weights(0.0), 'batch.weights_BQ = 0.0: must be above 0'),
    'targets [B]': (
        in_batch(targets_BQ=lambda x: x[:, 0]),
        'batch.targets_BQ.shape = (50,): must be (50, 1)',
    ),
    'targets of floats': (
        in_batch(targets_BQ=lambda x: x.astype(jnp.float32)),
        "batch.targets_BQ.dtype = 'float32': must be of integers",
    ),
    'label -1': (
        in_batch(targets_BQ=set_first(-1)),
        'batch.targets_BQ = -1: must be from 0 to 11',
    ),
    'tokens beyond the vocabulary': (
        in_batch(tokens_BT=lambda x: x.at[-1].set(VOCAB)),
        'batch.tokens_BT = 12: must be from 0 to 11',
    ),
    'tokens too long': (
        in_batch(tokens_BT=lambda x: jnp.tile(x, 2)),
        'batch.tokens_BT.shape = (50, 4): must be (50, 2)',
    ),
    'no Batch': (
        lambda task: task._replace(batch=lambda data, i: (i, i)),
        "Task.batch = 'tuple': must be a Batch",
    ),
    'eval sets [B, T]': (
        in_eval_sets(tokens_PBT=lambda x: x[0]),
        'eval_sets.tokens_PBT.shape = (10, 2): must be (1 eval sets,',
    ),
    'eval sets without mappings': (
        in_eval_sets(targets_PRBQ=lambda x: x[:, 0]),
        'eval_sets.targets_PRBQ.shape = (1, 10, 1): must be (1, 1',
    ),
    'eval set beyond the vocabulary': (
        in_eval_sets(tokens_PBT=set_first(VOCAB)),
        'eval_sets.tokens_PBT = 12: must be from 0 to 11',
    ),
    'weights of eval sets [P, B]': (
        in_eval_sets(weights_PBQ=lambda x: x[..., 0]),
        'eval_sets.weights_PBQ.shape = (1, 10): must be (1, 10,',
    ),
    'eval set without weight': (
        in_eval_sets(weights_PBQ=lambda x: 0 * x),
        "eval_sets.weights_PBQ of 'seen_train' = 0.0: must be above",
    ),
    'group out of range': (
        in_eval_sets(groups_PB=set_first(2)),
        'eval_sets.groups_PB = 2: must be from 0 to 1',
    ),
    'groups without names': (
        in_task(group_names=()),
        'Task.group_names = (): must be given if',
    ),
    'names without groups': (
        in_eval_sets(groups_PB=lambda x: None),
        "Task.group_names = ('small', 'large'): must be given if",
    ),
    'one eval set twice': (
        in_task(eval_set_names=('a', 'a')),
        "Task.eval_set_names = ('a', 'a'): must be distinct",
    ),
    'unknown mapping': (
        in_task(trained_mapping='other'),
        "Task.trained_mapping = 'other': must be one of",
    ),
    'too many examples': (
        in_task(num_train=2**31),
        'Task.num_train = 2147483648: must be at least 1, at most 2,147,483,647',
    ),
    'half an example': (
        in_task(num_train=12.5),
        'Task.num_train = 12.5: must be of type int',
    ),
    'no such trained eval set': (
        in_task(trained_eval_sets=('seen_train', 'seen_trian')),
        "Task.trained_eval_sets = ('seen_train', 'seen_trian'): must be among",
    ),
    'roles [B]': (
        in_task(roles=lambda tokens_BT: tokens_BT[:, 0]),
        'Task.roles.shape = (50,): must be (50, 2), of 50 examples',
    ),
    'role without a name': (
        in_task(roles=lambda tokens_BT: 0 * tokens_BT + 1),
        'Task.roles = 1: must be from 0 to 0, by Task.role_names',
    ),
    'deviation from nothing': (
        in_task(deviation=('unseen', 'assigned')),
        "Task.deviation = ('unseen', 'assigned'): must be of a",
    ),
    'another vocabulary': (
        in_task(vocab=VOCAB + 1),
        'Task.vocab = 13: must be that of its config, 12',
    ),
    'NumPy draws the data': (
        in_task(make_data=shuffle_outside_of_the_key),
        "task.name = 'sum': must be the same when it is made twice",
    ),
    'NumPy draws the eval sets': (
        in_eval_sets(tokens_PBT=add_noise),
        "task.name = 'sum': must be the same when it is made",
    ),
}


@dataclasses.dataclass(frozen=True)
class LinearConfig(ModelConfig):
    name: str = 'linear'
    fault: str = ''

    def module(self, vocab, gamma):
        return Linear(vocab, gamma, self.fault)


class Linear(nn.Module):
    """Logits are a row of one matrix; with a fault, they are not as they should be."""

    vocab: int
    gamma: float
    fault: str

    @nn.compact
    def __call__(self, tokens_BT, last_only=True, edit=None):
        dtype = jnp.bfloat16 if self.fault == 'bfloat16 parameters' else jnp.float32
        width = self.vocab + (self.fault == 'one class too many')
        init = nn.initializers.normal()
        if self.fault == 'NumPy draws the weights':
            noise = np.random.normal(size=(self.vocab, width)).astype(np.float32)
            init = nn.initializers.constant(noise)
        if self.fault == 'no parameters':
            return Activations(tokens_BT, (), tokens_BT)
        W_U = self.param('W_U', init, (self.vocab, width), dtype)
        logits = W_U.astype(jnp.float32)[tokens_BT]
        if last_only and self.fault != 'logits at all positions':
            logits = logits[:, -1:]
        if self.fault == 'dropout':
            logits = nn.Dropout(0.5, deterministic=False)(logits)
        if self.fault == 'other collections':
            logits = nn.BatchNorm(use_running_average=False)(logits)
        if self.fault == 'bfloat16 logits':
            logits = logits.astype(jnp.bfloat16)
        if self.fault == 'logits alone':
            return logits
        return Activations(logits, (), logits)


LINES_OF_MODELS = {
    'bfloat16 parameters': "parameter W_U.dtype = 'bfloat16': must be float32",
    'bfloat16 logits': "logits.dtype = 'bfloat16': must be float32",
    'logits at all positions': 'logits.shape = (5, 2, 12): must be (5, 1, 12)',
    'one class too many': 'logits.shape = (5, 1, 13): must be (5, 1, 12)',
    'logits alone': "the module = 'ShapeDtypeStruct': must be one of Activations",
    'dropout': "model.name = 'linear': must be a module of parameters alone",
    'other collections': "model.name = 'linear': must be a module of parameters alone",
    'no parameters': "model.name = 'linear': must be a model with parameters",
    'NumPy draws the weights': "model.name = 'linear': must be the same when it is mad",
}


@pytest.fixture
def make_experiment(monkeypatch):
    """The sweep of such a task and such a model, made with these faults."""
    monkeypatch.setitem(tasks.TASKS, 'sum', SumConfig)
    monkeypatch.setitem(models.MODELS, 'linear', LinearConfig)

    def make(task: str = '', model: str = '') -> config.Experiment:
        c = config.default(task='sum', model='linear')
        c.task.fault, c.model.fault = task, model
        c.train.update(batch_size=5, num_steps=4, eval_every=2, snapshot_steps=())
        c.optimizer.warmup_steps = 0
        return config.resolve(c)

    return make


def test_sound_ones_are_not_refused(make_experiment):
    require_trainable(make_experiment())


@pytest.mark.parametrize('fault', FAULTS)
def test_a_task_that_breaks_its_contract_is_one_line(make_experiment, fault):
    _, line = FAULTS[fault]
    with pytest.raises(ConfigError) as caught:
        require_trainable(make_experiment(task=fault))
    assert str(caught.value).startswith(line)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize('fault', LINES_OF_MODELS)
def test_a_model_that_breaks_its_contract_is_one_line(make_experiment, fault):
    with pytest.raises(ConfigError) as caught:
        require_trainable(make_experiment(model=fault))
    assert str(caught.value).startswith(LINES_OF_MODELS[fault])


def test_every_task_of_a_sweep_is_asked(make_experiment):
    values = ('', 'label -1')
    grid = dataclasses.replace(make_experiment(), static_axes=(('task.fault', values),))
    with pytest.raises(ConfigError, match=r'batch\.targets_BQ = -1'):
        require_trainable(grid)


def test_nothing_is_on_disk_when_a_sweep_is_refused(make_experiment, tmp_path):
    with pytest.raises(ConfigError, match=r'batch\.weights_BQ'):
        api.train(
            make_experiment(task='weights [B]'), tmp_path / 'a', mesh=make_mesh(1)
        )
    assert not (tmp_path / 'a').exists()


def test_the_plan_of_a_model_that_breaks_its_contract_is_one_line(make_experiment):
    with pytest.raises(ConfigError, match=r'must be a module of parameters alone'):
        require_model(make_experiment(model='dropout'))
