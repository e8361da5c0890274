"""Programs of tasks and models, as JAX lowers them, and digests of their texts.

What a task or a model of the user's own reads from a file, or from a variable of the
environment, is in no digest of sources. It is in what is computed with it.
"""

import hashlib
from typing import Any

import jax
import jax.numpy as jnp

from anchorjax import numerics
from anchorjax.caching import cache, is_own
from anchorjax.experiment import Experiment
from anchorjax.grid import DATA, INIT, random_key
from anchorjax.hashing import digest_json
from anchorjax.models import ModelConfig, abstract_params, draw_params, mask_decay
from anchorjax.tasks import Batch, EvalSets, TaskConfig

_MOST_TOKENS = 2**18  # of the training examples that are looked at


def count_examples(config: TaskConfig) -> int:
    """How many training examples of a task are looked at: up to 2^18 tokens."""
    task = config.make()
    return min(task.num_train, max(1, _MOST_TOKENS // task.seq_len))


def lower_task(config: TaskConfig) -> jax.stages.Lowered:
    """(key, number_B) -> these training examples, and the eval sets."""
    task = config.make()

    def draw(key: jax.Array, number_B: jax.Array) -> tuple[Batch, EvalSets]:
        data = task.make_data(key)
        return task.batch(data, number_B), task.eval_sets(data)

    key = jax.eval_shape(lambda: random_key(0, DATA))
    number_B = jax.ShapeDtypeStruct((count_examples(config),), jnp.int32)
    return jax.jit(draw).lower(key, number_B)


def lower_model(
    model: ModelConfig, config: TaskConfig, size: int
) -> jax.stages.Lowered:
    """(gamma, key, tokens_BT) -> new parameters, and their activations."""
    task = config.make()

    def answer(gamma: jax.Array, key: jax.Array, tokens_BT: jax.Array) -> Any:
        params = draw_params(model, task.vocab, gamma, key)
        module = model.module(task.vocab, gamma=0.0)
        return params, module.apply({'params': params}, tokens_BT, task.last_only)

    gamma = jax.ShapeDtypeStruct((), jnp.float32)
    key = jax.eval_shape(lambda: random_key(0, INIT))
    tokens_BT = jax.ShapeDtypeStruct((size, task.seq_len), jnp.int32)
    return jax.jit(answer).lower(gamma, key, tokens_BT)


def digest_program(lowered: jax.stages.Lowered) -> str:
    """The SHA-256 of a program with its constants; no path or process is in it."""
    return hashlib.sha256(lowered.as_text().encode()).hexdigest()


@cache()
@numerics.pin()
def digest_task(config: TaskConfig) -> str:
    """`digest_program` of a task."""
    return digest_program(lower_task(config))


@cache()
@numerics.pin()
def digest_model(model: ModelConfig, config: TaskConfig, size: int) -> str:
    """`digest_program` of a model, for batches of this size of a task."""
    return digest_program(lower_model(model, config, size))


def digest_programs(experiment: Experiment) -> dict[str, str]:
    """{'task of cohort all': digest} of what own tasks and own models compute.

    With the names and numbers of the task, and what weight decay shrinks. Those of
    anchorjax are not among them: their sources and their files say all.
    """
    digests = {}
    for name, of_cohort in experiment.of_cohorts.items():
        task, model = of_cohort.task, of_cohort.model
        if is_own(task):
            plain = [value for value in task.make() if not callable(value)]
            digests[f'task of cohort {name}'] = digest_json(
                [digest_task(task), repr(plain)]
            )
        if is_own(model):
            program = digest_model(model, task, of_cohort.train.batch_size)
            mask = mask_decay(model, abstract_params(model, task.vocab))
            digests[f'model of cohort {name}'] = digest_json([program, mask])
    return digests
