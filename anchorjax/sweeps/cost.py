"""What training costs, by formula: operations of a step, parameters, bytes."""

import jax

from anchorjax import models
from anchorjax.experiment import Experiment


def operations_per_step(experiment: Experiment, shortcuts: bool = True) -> float:
    """Operations of a step of one member; the backward pass costs two forward passes.

    Args:
      shortcuts: count what we run; if False, every position, as in a plain model.
    """
    task = experiment.task.make()
    batch_size = experiment.train.batch_size
    per_sequence = experiment.model.forward_operations(
        task.seq_len,
        task.vocab,
        batch_size,
        last_only=shortcuts and task.last_only,
    )
    return 3 * batch_size * per_sequence


def num_parameters(experiment: Experiment) -> int:
    """Parameters of a member; 2,732,201 in the official 2-layer model (PAPERS 1.2)."""
    abstract = models.abstract_params(experiment.model, experiment.task.vocab)
    return sum(leaf.size for leaf in jax.tree.leaves(abstract))


def state_bytes(experiment: Experiment) -> int:
    """Bytes of a member's state: parameters, moments, counters and two sums.

    Adam has two moments and a counter of its own, SGD one moment; `training.step`
    counts the step and the divergence.
    """
    moments, counters = 2, 3
    if experiment.optimizer.method == 'sgd':
        moments, counters = 1, 2
    return 4 * ((1 + moments) * num_parameters(experiment) + counters + 2)


def step_bytes(experiment: Experiment) -> int:
    """Estimated peak bytes of a member: old and new state, gradients, activations."""
    return 3 * state_bytes(experiment) + activation_bytes(experiment)


def activation_bytes(experiment: Experiment) -> int:
    """Estimated bytes of the activations of a member in a step."""
    task = experiment.task.make()
    return experiment.model.activation_bytes(
        task.seq_len, task.vocab, experiment.train.batch_size
    )


def find_largest(experiment: Experiment) -> Experiment:
    """The experiment of the cohort whose step needs the most memory, by formula."""
    experiments = [experiment.for_cohort(cohort) for cohort in experiment.cohorts()]
    return max(experiments, key=step_bytes)
