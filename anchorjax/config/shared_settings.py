"""Settings that several config files share, each written once.

A config file calls one of these first and then edits what differs.
"""

import ml_collections


def set_small_anchors(config: ml_collections.ConfigDict) -> None:
    """The anchor task with 4 tokens, and a transformer that two cores can train."""
    config.task.seq_len = 4
    config.task.split = 'random'
    # An evaluation of the default's 8,192 takes as long as 67 of these steps (measured
    # on 2 cores), and there is one every 100 to 150 steps; 512 take as long as 5. A
    # share of 512 has a standard error of 0.02 at most, and seeds differ by more.
    config.task.eval_examples = 512
    config.model.width = config.model.head_dim = 64
    config.model.mlp_dim = 192
    config.train.batch_size = 128
    config.train.converged_loss = 0.05  # P1 v1's limit of what is fitted (PAPERS 1.5)
    config.optimizer.floor = 0.0


def set_small_language_model(config: ml_collections.ConfigDict) -> None:
    """A transformer like GPT-2, for answers of many tokens, that two cores can train.

    What weight decay does to a weight depends on the sum of rate x decay over training:
    1.8 for the strong one in P1's code for COGS (5e-5 x 0.1 x 357,000 steps). In 1,500
    steps of a rate that falls from 1e-3, a decay of 0.1 would sum to 0.08, so the
    strong one is 0.5 here, which sums to 0.4; on SCAN, 1.0 left a network at 93 % of
    its training examples. Strong decay keeps the loss of networks that answer
    everything above 0.02, so they count as converged below 0.05.
    """
    config.model.norm = 'pre'
    config.model.activation = 'gelu'
    config.model.width = config.model.head_dim = 64
    config.model.mlp_dim = 256
    config.train.batch_size = 32
    config.train.converged_loss = 0.05
    config.optimizer.floor = 0.0
    config.grid.learning_rate = (1e-3,)
    config.grid.weight_decay = (0.01, 0.5)


def set_official_gpt2(config: ml_collections.ConfigDict) -> None:
    """GPT-2 as P1's code initializes and trains it (PAPERS 1.6, quirk 11)."""
    config.task.loss_on = 'answer_and_padding'
    config.task.score_end = False
    config.model.fan = 'out'
    config.model.residual_init = 'overwritten'
    config.model.embed_init = 'fixed'
    config.train.batch_size = 140
    config.optimizer.shape = 'constant'
    config.grid.learning_rate = (5e-5,)
