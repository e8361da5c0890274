"""Perplexity on code and encyclopedia by gamma (P1 Fig 17 b).

  python launch/sweep.py --config configs/slimpajama.py[:preset]

preset     reproduces            what differs from the paper        members
(default)  that the config runs  a tiny GPT-2 on a bundled sample   3 gammas
                                 of code and prose, in bytes
stories    P1's initializations  the same of width 64 on the head   3 gammas
                                 of TinyStories, 6 M tokens         x 3 seeds
github     GPT-2 medium, 40 B    rate and batch are unknown; 32 B   3 gammas
           tokens, GitHub        of the tokens are distinct
both       the same with         rate and batch are unknown; every  the same
           Wikipedia             token once

github and both read data/slimpajama_github and data/slimpajama_both, which
launch/data.py makes of SlimPajama (DATASETS 7), and need a cluster:
launch/slimpajama.sh has the commands and what they cost. Neither has been run. stories
reads data/stories (analysis/gallery/log/commands.md); its gammas have at width 64 the
standard deviations of 0.5, 0.75 and 1.0 at GPT-2 medium's 1,024. The paper has the
perplexities 1.7207, 1.7074, 1.7027 (GitHub) and 2.656, 2.594, 2.556 at gamma 0.5, 0.75,
1.0 (PAPERS 1.6): exp(eval_set_loss) of seen_heldout.
"""

from anchorjax import config
from anchorjax.config import ConfigDict

TOKENS = 40 * 10**9
BATCH = 512  # windows of 1,024 tokens: ours
MEMBERS_DEVICES = 8  # that share a member


def get_config(preset: str = '') -> ConfigDict:
    size = 'medium' if preset in ('github', 'both') else 'tiny'
    c = config.begin(
        'slimpajama', preset, PRESETS, task='corpus', model='gpt2', size=size
    )
    c.optimizer.floor = 0.0
    c.grid.gamma = (0.5, 0.75, 1.0)
    c.grid.weight_decay = (0.1,)
    PRESETS[preset](c)
    return c


def _sample(c: ConfigDict) -> None:
    c.task.seq_len = 64
    c.task.vocab = 257
    c.task.eval_examples = 8
    c.model.width = 32
    c.train.batch_size = 16
    c.grid.learning_rate = (1e-3,)
    config.set_length(c, 100, num_records=5)


def _stories(c: ConfigDict) -> None:
    c.task.path = 'data/stories'
    c.task.feed = 'device'
    c.task.num_examples = 3_064  # all but the held-out windows
    c.task.seq_len = 128
    c.task.vocab = 257
    c.task.eval_examples = 128
    c.model.width = 64
    c.train.batch_size = 32
    c.grid.gamma = (0.83, 1.25, 1.67)
    c.grid.learning_rate = (1e-3,)
    c.grid.seed = (0, 1, 2)
    config.set_length(c, 1_500, num_records=6)
    c.optimizer.warmup_steps = 10  # as in the networks of the page


def _github(c: ConfigDict) -> None:
    c.task.path = 'data/slimpajama_github'
    _set_cluster(c)
    # GitHub's part has about 33 B tokens (DATASETS 7): it is read again after them.
    c.task.num_examples = 32 * 10**9 // c.task.seq_len


def _both(c: ConfigDict) -> None:
    c.task.path = 'data/slimpajama_both'
    _set_cluster(c)
    # Both parts have about 56 B tokens (DATASETS 7): no window is read twice.
    c.task.num_examples = c.train.num_steps * BATCH


def _set_cluster(c: ConfigDict) -> None:
    c.task.feed = 'host'
    c.task.eval_examples = 512
    c.model.residual_init = 'plain'  # P1's text has no factor (PAPERS 1.6)
    c.model.dtype = 'bfloat16'
    c.model.remat = True
    c.train.batch_size = BATCH
    c.train.batch_devices = MEMBERS_DEVICES
    c.train.lanes = 1
    c.train.resume_every = 900.0
    c.grid.learning_rate = (3e-4,)
    num_steps = TOKENS // (BATCH * c.task.seq_len)
    config.set_length(c, num_steps, num_records=100)
    c.optimizer.warmup_steps = 2_000


PRESETS = {'': _sample, 'stories': _stories, 'github': _github, 'both': _both}
