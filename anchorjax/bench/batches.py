"""Batches that the baselines train on, made before the clock starts."""

from typing import NamedTuple

import numpy as np

from anchorjax.experiment import Experiment

NUM_BATCHES = 8  # a baseline takes them in turn, again and again


class Batches(NamedTuple):
    """NUM_BATCHES batches (N); the time of a step does not depend on the values."""

    tokens_NBT: np.ndarray
    labels_NB: np.ndarray


def draw_batches(experiment: Experiment) -> Batches:
    """Batches of uniformly random tokens."""
    rng = np.random.default_rng(0)
    low, high = experiment.task.keys
    batch_size = experiment.train.batch_size
    length = experiment.task.seq_len
    tokens_NBT = rng.integers(low, high, (NUM_BATCHES, batch_size, length))
    return Batches(tokens_NBT, labels_NB=tokens_NBT[..., 0])
