"""Is a task what `Task` says, and a model what `ModelConfig` says? Asked once.

JAX would train something else without a word: it broadcasts weights [B], clamps a token
beyond the vocabulary, and takes the label -1 for the last token.
"""

import io
from typing import Annotated, Any

import flax.errors
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jax.tree_util import keystr
from jax.typing import ArrayLike

from anchorjax import numerics
from anchorjax.caching import cache
from anchorjax.errors import ConfigError, describe_cause, require
from anchorjax.experiment import Experiment
from anchorjax.grid import DATA, TRACED_AXES, WINDOWS, random_key
from anchorjax.limits import at_least, at_most, check_value
from anchorjax.models import Activations, ModelConfig
from anchorjax.tasks import Batch, EvalSets, Task, TaskConfig
from anchorjax.tasks.columns import list_columns
from anchorjax.training.programs import (
    count_examples,
    digest_model,
    digest_program,
    digest_task,
    lower_model,
    lower_task,
)

# Data of a task are looked at once: fast code would take longer to make than to run.
_COMPILER: dict[str, Any] = {'xla_backend_optimization_level': 0}
# Of examples: they are numbered in int32.
_NUMBER = Annotated[int, at_least(1), at_most(2**31 - 1)]
_DRAWN_ELSEWHERE = (
    'the same when it is made twice: a draw comes from the key alone, not from the '
    'global state of NumPy or of Python'
)


@numerics.pin()
def require_trainable(experiment: Experiment) -> None:
    """Raises ConfigError for a task or a model of the sweep that breaks its contract.

    Of every task the eval sets of one seed and up to 2^18 tokens of its training
    examples are computed; of a model, shapes and types alone.
    """
    _check_texts(experiment)  # first: it takes no time
    of_cohorts = experiment.of_cohorts.values()
    seed = experiment.grid.seed[0]
    for task in dict.fromkeys(of_cohort.task for of_cohort in of_cohorts):
        _check_task(task, seed)
    for of_cohort in of_cohorts:
        _check_model(of_cohort.model, of_cohort.task, of_cohort.train.batch_size)


@numerics.pin()
def require_model(experiment: Experiment) -> None:
    """`require_trainable` of the model of the first cohort alone: nothing is computed.

    It is asked before a plan, which looks into models.
    """
    first, *_ = experiment.of_cohorts.values()
    _check_model(first.model, first.task, first.train.batch_size)


def _check_texts(experiment: Experiment) -> None:
    """Raises ConfigError for texts along an axis that a CSV gives back as others."""
    for path, values in experiment.static_axes:
        texts = [value for value in values if isinstance(value, str)]
        if texts:
            written = io.StringIO(pd.DataFrame({'text': texts}).to_csv(index=False))
            read = pd.read_csv(written).text
            changed = tuple(x for x, y in zip(texts, read, strict=True) if x != y)
            allowed = 'texts that a table takes for nothing else: no number, no blank'
            require(not changed, f'static_axes ({path})', changed, allowed)


@cache()
def _check_task(config: TaskConfig, seed: int) -> None:
    task = config.make()
    check_value(task.num_train, _NUMBER, 'Task.num_train')
    _check_names(task)
    for field in ('vocab', 'seq_len'):
        stated, known = getattr(task, field), getattr(config, field)
        require(
            stated == known, f'Task.{field}', stated, f'that of its config, {known}'
        )
    size = count_examples(config)
    lowered = lower_task(config)
    batch, eval_sets = lowered.out_info
    _check_batch_shapes(task, batch, size)
    _check_eval_set_shapes(task, eval_sets)
    is_same = digest_program(lowered) == digest_task(config)
    require(is_same, 'task.name', config.name, _DRAWN_ELSEWHERE)
    compiled = lowered.compile(compiler_options=_COMPILER)
    number_B = np.linspace(0, task.num_train - 1, size).astype(np.int32)
    batch, eval_sets = jax.device_get(compiled(random_key(seed, DATA), number_B))
    _check_batch(task, batch)
    _check_eval_sets(task, eval_sets)
    _check_roles(task, batch.tokens_BT)


def _check_names(task: Task) -> None:
    for field in ('eval_set_names', 'mapping_names', 'group_names'):
        names = getattr(task, field)
        require(len(set(names)) == len(names), f'Task.{field}', names, 'distinct')
    for field in ('eval_set_names', 'mapping_names'):
        require(len(getattr(task, field)) > 0, f'Task.{field}', (), 'at least one')
    eval_sets, mappings = task.eval_set_names, task.mapping_names
    columns = [*TRACED_AXES, WINDOWS, *list_columns(task)]
    twice = [name for name in columns if columns.count(name) > 1]
    allowed = f'such that with the mappings {mappings} no two columns are {twice[:1]}'
    require(not twice, 'Task.eval_set_names', eval_sets, allowed)
    is_known = task.trained_mapping in mappings
    allowed = f'one of {mappings}'
    require(is_known, 'Task.trained_mapping', task.trained_mapping, allowed)
    trained = task.trained_eval_sets
    # A task without this eval set may leave the default.
    is_default = trained == Task._field_defaults['trained_eval_sets']
    is_known = is_default or {*trained} <= {*eval_sets}
    require(is_known, 'Task.trained_eval_sets', trained, f'among {eval_sets}')
    if task.deviation is not None:
        eval_set, mapping = task.deviation
        is_known = eval_set in eval_sets and mapping in mappings
        allowed = f'of an eval set {eval_sets} and a mapping {mappings}'
        require(is_known, 'Task.deviation', task.deviation, allowed)


def _check_batch_shapes(task: Task, batch: Any, size: int) -> None:
    is_batch = isinstance(batch, Batch)
    require(is_batch, 'Task.batch', type(batch).__name__, 'a Batch')
    num_scored = 1 if task.last_only else task.seq_len
    where = f'of {size} examples'
    _check_leaf('batch.tokens_BT', batch.tokens_BT, (size, task.seq_len), where)
    _check_leaf('batch.targets_BQ', batch.targets_BQ, (size, num_scored), where)
    if batch.weights_BQ is not None:
        _check_leaf('batch.weights_BQ', batch.weights_BQ, (size, num_scored), where)


def _check_eval_set_shapes(task: Task, eval_sets: Any) -> None:
    is_eval_sets = isinstance(eval_sets, EvalSets)
    require(is_eval_sets, 'Task.eval_sets', type(eval_sets).__name__, 'EvalSets')
    num_eval_sets, num_mappings = len(task.eval_set_names), len(task.mapping_names)
    num_scored = 1 if task.last_only else task.seq_len
    shape = jnp.shape(eval_sets.tokens_PBT)
    size = shape[1] if len(shape) == 3 else 0
    allowed = f'({num_eval_sets} eval sets, sequences, {task.seq_len})'
    is_stack = size > 0 and shape == (num_eval_sets, size, task.seq_len)
    require(is_stack, 'eval_sets.tokens_PBT.shape', shape, allowed)
    where = (
        f'of {num_eval_sets} eval sets, {num_mappings} mappings and {size} sequences'
    )
    leaves = {
        'tokens_PBT': shape,
        'targets_PRBQ': (num_eval_sets, num_mappings, size, num_scored),
        'weights_PBQ': (num_eval_sets, size, num_scored),
        'groups_PB': (num_eval_sets, size),
    }
    for field, expected in leaves.items():
        leaf = getattr(eval_sets, field)
        if leaf is not None or field in ('tokens_PBT', 'targets_PRBQ'):
            _check_leaf(f'eval_sets.{field}', leaf, expected, where)
    has_groups = eval_sets.groups_PB is not None
    allowed = 'given if eval sets have groups_PB, and only then'
    is_both = has_groups == (task.group_names != ())
    require(is_both, 'Task.group_names', task.group_names, allowed)


def _check_leaf(name: str, leaf: Any, shape: tuple[int, ...], where: str) -> None:
    """Raises ConfigError unless an array has this shape, and the type of its name."""
    require(
        jnp.shape(leaf) == shape, f'{name}.shape', jnp.shape(leaf), f'{shape}, {where}'
    )
    is_weight = 'weights' in name
    is_right = leaf.dtype == jnp.float32
    if not is_weight:
        is_right = jnp.issubdtype(leaf.dtype, jnp.integer)
    allowed = 'float32' if is_weight else 'of integers'
    require(is_right, f'{name}.dtype', leaf.dtype.name, allowed)


def _check_batch(task: Task, batch: Batch) -> None:
    end = task.vocab
    _check_range('batch.tokens_BT', batch.tokens_BT, end, 'task.vocab')
    _check_range('batch.targets_BQ', batch.targets_BQ, end, 'task.vocab')
    _check_weights('batch.weights_BQ', batch.weights_BQ)


def _check_eval_sets(task: Task, eval_sets: EvalSets) -> None:
    """The answers of other mappings may be none: a rule may leave the vocabulary."""
    end = task.vocab
    trained = task.mapping_names.index(task.trained_mapping)
    answers = eval_sets.targets_PRBQ[:, trained]
    _check_range('eval_sets.tokens_PBT', eval_sets.tokens_PBT, end, 'task.vocab')
    _check_range('eval_sets.targets_PRBQ', answers, end, 'task.vocab')
    if eval_sets.weights_PBQ is not None:
        for name, weights_BQ in zip(
            task.eval_set_names, eval_sets.weights_PBQ, strict=True
        ):
            _check_weights(f'eval_sets.weights_PBQ of {name!r}', weights_BQ)
    if eval_sets.groups_PB is not None:
        number = len(task.group_names)
        _check_range(
            'eval_sets.groups_PB', eval_sets.groups_PB, number, 'Task.group_names'
        )


def _check_roles(task: Task, tokens_BT: np.ndarray) -> None:
    roles_BT = jax.device_get(task.roles(jnp.asarray(tokens_BT)))
    where = f'of {len(tokens_BT)} examples'
    _check_leaf('Task.roles', roles_BT, tokens_BT.shape, where)
    _check_range('Task.roles', roles_BT, len(task.role_names), 'Task.role_names')


def _check_range(name: str, values: ArrayLike, end: int, bound: str) -> None:
    values = np.asarray(values)
    outside = values[(values < 0) | (values >= end)]
    value = outside.flat[0].item() if outside.size else None
    require(value is None, name, value, f'from 0 to {end - 1}, by {bound}')


def _check_weights(name: str, weights: ArrayLike | None) -> None:
    if weights is None:
        return
    weights = np.asarray(weights)
    wrong = weights[~(np.isfinite(weights) & (weights >= 0))]
    value = wrong.flat[0].item() if wrong.size else None
    require(value is None, name, value, 'at least 0 and finite')
    allowed = 'above 0 at some position: else nothing is scored'
    require(bool(weights.any()), name, 0.0, allowed)


@cache()
def _check_model(model: ModelConfig, config: TaskConfig, size: int) -> None:
    task = config.make()
    try:
        lowered = lower_model(model, config, size)
        is_same = digest_program(lowered) == digest_model(model, config, size)
    except (
        jax.errors.ConcretizationTypeError,
        jax.errors.TracerArrayConversionError,
    ) as e:
        raise ConfigError(
            f'model.name = {model.name!r}: must take gamma and tokens as arrays of JAX '
            'without a value: no `if`, float() or NumPy of them; see jnp.where '
            f'({describe_cause(e)})'
        ) from e
    except flax.errors.ScopeParamShapeError as e:
        raise ConfigError(
            f'model.name = {model.name!r}: must have parameters of the same shapes for '
            f'sequences of any length ({describe_cause(e)})'
        ) from e
    except flax.errors.FlaxError as e:
        raise ConfigError(
            f'model.name = {model.name!r}: must be a module of parameters alone, '
            f'without dropout and other collections ({describe_cause(e)})'
        ) from e
    params, activations = lowered.out_info
    leaves = jax.tree_util.tree_leaves_with_path(params)
    # Under which they are saved.
    names = [keystr(path, simple=True, separator='.') for path, _ in leaves]
    for path, leaf in leaves:
        field = f'parameter {keystr(path, simple=True, separator="/")}'
        name = keystr(path, simple=True, separator='.')
        require(names.count(name) == 1, field, name, 'the name of one parameter alone')
        is_float32 = leaf.dtype == jnp.float32
        require(is_float32, f'{field}.dtype', leaf.dtype.name, 'float32')
    is_whole = isinstance(activations, Activations)
    require(is_whole, 'the module', type(activations).__name__, 'one of Activations')
    logits = activations.logits
    shape = (size, 1 if task.last_only else task.seq_len, task.vocab)
    allowed = f'{shape}: [B, Q, V], with last_only={task.last_only}'
    require(logits.shape == shape, 'logits.shape', logits.shape, allowed)
    is_float32 = logits.dtype == jnp.float32
    require(is_float32, 'logits.dtype', logits.dtype.name, 'float32')
    require(is_same, 'model.name', model.name, _DRAWN_ELSEWHERE)
