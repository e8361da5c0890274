"""What training costs, counted in the program of a step; nothing is compiled."""

import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import jaxprs_in_params

from anchorjax import numerics
from anchorjax.caching import cache
from anchorjax.experiment import Experiment
from anchorjax.models import ModelConfig, abstract_params
from anchorjax.training.step import new_state


class Cost(NamedTuple):
    """What a step of one member takes, without drawing the batch and the optimizer."""

    # Multiplications and additions of its matrix products; at least 1, for a model
    # without any: parts of a sweep are shares of these.
    operations: float
    kept_bytes: int  # of what the forward pass keeps for the backward pass


def count_step(experiment: Experiment) -> Cost:
    """The cost of a step.

    What `remat` computes again counts. A loop counts as often as it runs, but for a
    `while` loop, which counts once. Of branches the cheapest counts: which one runs may
    depend on the platform, and the parts of a sweep must be the same on all of them.
    """
    task = experiment.task.make()
    shape = (experiment.train.batch_size, task.seq_len)
    is_mixed = experiment.train.precision == 'bfloat16'
    return _count_step(experiment.model, task.vocab, shape, task.last_only, is_mixed)


@cache()  # of GPT-2 it takes seconds
@numerics.pin()
def _count_step(
    model: ModelConfig,
    vocab: int,
    shape: tuple[int, int],
    last_only: bool,
    is_mixed: bool,
) -> Cost:
    module = model.module_for_logits(vocab, jnp.bfloat16 if is_mixed else jnp.float32)
    tokens_BT = jax.ShapeDtypeStruct(shape, jnp.int32)

    def compute_logits(tokens_BT: jax.Array, params: Any) -> jax.Array:
        activations: Any = module.apply({'params': params}, tokens_BT, last_only)
        return activations.logits

    def differentiate(params: Any, tokens_BT: jax.Array) -> tuple[Any, Any]:
        of_params = functools.partial(compute_logits, tokens_BT)
        logits, backward = jax.vjp(of_params, params)
        return backward(logits), backward  # which is a tree of what it keeps

    trace = jax.make_jaxpr(differentiate, return_shape=True)
    program, (_, kept) = trace(abstract_params(model, vocab), tokens_BT)
    return Cost(max(count_products(program.jaxpr), 1.0), count_bytes(kept))


def count_products(jaxpr: Any) -> float:
    """Operations of the matrix products of a program."""
    total = 0.0
    for equation in jaxpr.eqns:
        if equation.primitive is jax.lax.dot_general_p:
            total += _count_product(equation)
            continue
        inner = [count_products(j) for j in jaxprs_in_params(equation.params)]
        if equation.primitive is jax.lax.cond_p:
            total += min(inner)
        elif inner:
            total += equation.params.get('length', 1) * sum(inner)  # of a scan
    return total


def _count_product(equation: Any) -> float:
    (contracted, _), _ = equation.params['dimension_numbers']
    shape = equation.invars[0].aval.shape
    terms = math.prod(shape[axis] for axis in contracted)
    return 2.0 * terms * equation.outvars[0].aval.size


def count_bytes(tree: Any) -> int:
    """Bytes of the arrays in a tree, or of what has their shapes."""
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def num_parameters(experiment: Experiment) -> int:
    """Parameters of a member; 2,732,201 in the official 2-layer model (PAPERS 1.2)."""
    abstract = abstract_params(experiment.model, experiment.task.vocab)
    return sum(leaf.size for leaf in jax.tree.leaves(abstract))


def state_bytes(experiment: Experiment) -> int:
    """Bytes of a member's state: parameters, moments, counters and sums."""
    abstract = abstract_params(experiment.model, experiment.task.vocab)
    state = jax.eval_shape(functools.partial(new_state, experiment), abstract)
    return count_bytes(state)


def step_bytes(experiment: Experiment) -> int:
    """Estimated peak bytes of a member: old and new state, gradients, activations."""
    return 3 * state_bytes(experiment) + count_step(experiment).kept_bytes


def find_largest(experiment: Experiment) -> Experiment:
    """The experiment of the cohort whose step needs the most memory, as estimated."""
    return max(experiment.of_cohorts.values(), key=step_bytes)
