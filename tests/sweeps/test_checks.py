"""A task or a model that breaks its contract is one line; nothing is trained."""

import dataclasses
import functools

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


@dataclasses.dataclass(frozen=True)
class SumConfig:
    """The answer to (a, b) is their sum, in two groups by a."""

    name: str = 'sum'
    fault: str = ''
    note: str = 'none'
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
        if self.fault in FAULTS:
            return FAULTS[self.fault](task)
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


def change_leaves(part, **changes):
    """The task whose `batch` or `eval_sets` gives leaves that are changed so."""

    def change(task: Task) -> Task:
        def make(*args):
            made = getattr(task, part)(*args)
            new = {name: f(getattr(made, name)) for name, f in changes.items()}
            return made._replace(**new)

        return task._replace(**{part: make})

    return change


in_batch = functools.partial(change_leaves, 'batch')
in_eval_sets = functools.partial(change_leaves, 'eval_sets')


def in_task(**fields):
    return lambda task: task._replace(**fields)


def set_first(value):
    """Changes the first number of an array, whatever its shape."""
    return lambda x: x.at[(0,) * x.ndim].set(value)


def shuffle_outside_of_the_key(key):
    return jnp.asarray(np.random.permutation(SIZE))


def drop_axis(x):
    return x[:, 0]


# How the line about it begins: what is wrong with the task.
FAULTS = {
    'batch.weights_BQ.shape = (50,): must be (50, 1)': in_batch(weights_BQ=drop_axis),
    "batch.weights_BQ.dtype = 'int32'": in_batch(weights_BQ=jnp.int32),
    'batch.weights_BQ = -1.0: must be at least 0': in_batch(weights_BQ=set_first(-1.0)),
    'batch.weights_BQ = 0.0: must be above 0': in_batch(weights_BQ=jnp.zeros_like),
    'batch.targets_BQ = -1: must be from 0 to 11': in_batch(targets_BQ=set_first(-1)),
    'batch.tokens_BT = 12: must be from 0 to 11': in_batch(tokens_BT=set_first(VOCAB)),
    "Task.batch = 'tuple': must be a Batch": in_task(batch=lambda data, i: (i, i)),
    'eval_sets.tokens_PBT.shape = (10, 2)': in_eval_sets(tokens_PBT=lambda x: x[0]),
    "eval_sets.weights_PBQ of 'seen_train' = 0.0": in_eval_sets(
        weights_PBQ=jnp.zeros_like
    ),
    'eval_sets.groups_PB = 2: must be from 0 to 1': in_eval_sets(
        groups_PB=set_first(2)
    ),
    'Task.group_names = (): must be given if': in_task(group_names=()),
    "Task.group_names = ('small', 'large'): must be given if": in_eval_sets(
        groups_PB=lambda x: None
    ),
    "Task.eval_set_names = ('a', 'a')": in_task(eval_set_names=('a', 'a')),
    "Task.eval_set_names = ('seen_train', 'seen'): must be such that": in_task(
        eval_set_names=('seen_train', 'seen'),
        mapping_names=('train_assigned', 'assigned'),
    ),
    "Task.eval_set_names = ('learning',): must be such that": in_task(
        eval_set_names=('learning',), mapping_names=('rate',)
    ),
    "Task.trained_mapping = 'other'": in_task(trained_mapping='other'),
    "Task.trained_eval_sets = ('seen_trian',)": in_task(
        trained_eval_sets=('seen_trian',)
    ),
    'Task.num_train = 2147483648: must be at least 1': in_task(num_train=2**31),
    'Task.num_train = 12.5: must be of type int': in_task(num_train=12.5),
    'Task.roles = 1: must be from 0 to 0': in_task(roles=jnp.ones_like),
    "Task.deviation = ('x', 'assigned')": in_task(deviation=('x', 'assigned')),
    'Task.vocab = 13: must be that of its config': in_task(vocab=VOCAB + 1),
    "task.name = 'sum': must be the same when it is made twice": in_task(
        make_data=shuffle_outside_of_the_key
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
        if self.fault == 'two parameters of one name':
            nn.Dense(2, name='a', use_bias=False)(jnp.zeros((1, 2)))
            self.param('a.kernel', init, (2, 2))
        if self.fault == 'a branch on gamma':
            assert self.gamma > 0.5
        if self.fault == 'shapes by length':
            self.param('position', init, (tokens_BT.shape[1], 2))
        if self.fault == 'no parameters':
            return Activations(tokens_BT, (), tokens_BT)
        W_U = self.param('W_U', init, (self.vocab, width), dtype)
        logits = W_U.astype(jnp.float32)[tokens_BT]
        if last_only and self.fault != 'logits at all positions':
            logits = logits[:, -1:]
        if self.fault == 'dropout':
            logits = nn.Dropout(0.5, deterministic=False)(logits)
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
    'two parameters of one name': 'parameter a/kernel = ',
    'a branch on gamma': "model.name = 'linear': must take gamma and tokens",
    'shapes by length': "model.name = 'linear': must have parameters of the same shap",
    'dropout': "model.name = 'linear': must be a module of parameters alone",
    'no parameters': "model.name = 'linear': must be a model with parameters",
    'NumPy draws the weights': "model.name = 'linear': must be the same when it is mad",
}


def mark_more(faults: dict) -> list:
    """One in six is fast; the others are more cases of it."""
    slow = pytest.mark.slow
    return [
        pytest.param(fault, marks=slow if number % 6 else ())
        for number, fault in enumerate(faults)
    ]


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


@pytest.mark.parametrize('fault', mark_more(FAULTS))
def test_a_task_that_breaks_its_contract_is_one_line(make_experiment, fault):
    with pytest.raises(ConfigError) as caught:
        require_trainable(make_experiment(task=fault))
    assert str(caught.value).startswith(fault)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize('fault', mark_more(LINES_OF_MODELS))
def test_a_model_that_breaks_its_contract_is_one_line(make_experiment, fault):
    with pytest.raises(ConfigError) as caught:
        require_trainable(make_experiment(model=fault))
    assert str(caught.value).startswith(LINES_OF_MODELS[fault])


def test_every_task_of_a_sweep_is_asked(make_experiment):
    values = ('none', 'batch.targets_BQ = -1: must be from 0 to 11')
    grid = dataclasses.replace(make_experiment(), static_axes=(('task.fault', values),))
    with pytest.raises(ConfigError, match=r'batch\.targets_BQ = -1'):
        require_trainable(grid)


@pytest.mark.parametrize(
    ('texts', 'line'),
    [
        (('a', ''), "static_axes (task.note) = ('',): must be texts that a table"),
        (('NA', 'null', 'b'), "static_axes (task.note) = ('NA', 'null'): must be"),
        (('01',), "static_axes (task.note) = ('01',): must be texts that a table"),
        (('01', 'None '), ''),  # a column of texts stays one
    ],
)
def test_texts_that_tables_would_read_as_others_are_no_axis(
    make_experiment, texts, line
):
    grid = dataclasses.replace(make_experiment(), static_axes=(('task.note', texts),))
    if not line:
        return require_trainable(grid)
    with pytest.raises(ConfigError) as caught:
        require_trainable(grid)
    assert str(caught.value).startswith(line)


def test_nothing_is_on_disk_when_a_sweep_is_refused(make_experiment, tmp_path):
    wrong = make_experiment(task='Task.num_train = 12.5: must be of type int')
    with pytest.raises(ConfigError, match=r'Task\.num_train'):
        api.train(wrong, tmp_path / 'a', mesh=make_mesh(1))
    assert not (tmp_path / 'a').exists()


def test_the_plan_of_a_model_that_breaks_its_contract_is_one_line(make_experiment):
    with pytest.raises(ConfigError, match=r'must be a module of parameters alone'):
        require_model(make_experiment(model='dropout'))
