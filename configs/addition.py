"""Does a network add, or look up? Addition with a square held out (P1 Fig 17 a).

  python launch/sweep.py --config configs/addition.py[:preset]

preset     reproduces            what differs from the paper        members
(default)  2 layers, 1 head, on  0 to 99 with the square [40, 60]   4 corners of gamma
           [0, 99]               held out; width, rate, length      and decay x 3 seeds
gpt2       GPT-2 from scratch,   digits one by one; rate, batch     the same
           on [0, 999]           and length
fine_tune  GPT-2 from its        as gpt2; a softmax over the 13     decay 0, .01, .5
           weights               tokens of a sum alone              x 3 seeds

The paper compares gamma 0.5 and decay 0.01 (1.2 % of the square) with gamma 0.7 and
decay 0.5 (99.6 %): two changes at once (PAPERS 1.6). The corners separate them. At
width 64 both gammas start larger than 0.5 does at P1's 400, like 0.35 and 0.49. Small
networks have d_k = d and an MLP of 4 d, where P1's model has d / 2 and 3 d. The eval
set `test` is the square, `seen_heldout` are pairs outside it that were kept out.
The paper does not state how it writes numbers (DATASETS 5), nor how it trains. The
preset gpt2 has the paper's gammas and decays (28.2 % and 99.6 %), every matrix drawn by
its true fan-in, and the rate of P1's code for other tasks (PAPERS 1.6). fine_tune
starts from GPT-2 small in Hugging Face's safetensors, models/gpt2/model.safetensors or
the file of --config.model.start (the paper has 88.9, 94.3 and 99.2 %). Both need a GPU.
Only the default has been run (14 minutes for three seeds, on two shared cores): of the
square, a large initialization with weak decay answers 0.22 to 0.90, a small one with
strong decay 0.95 to 1.00 (analysis/gallery/text_tasks/members.csv).
"""

from anchorjax import config
from anchorjax.config import ConfigDict

# GPT-2's own tokens for 0 to 9, +, = and the end of text: one byte each.
GPT2_ROWS = (*range(15, 25), 10, 28, 50256)


def get_config(preset: str = '') -> ConfigDict:
    model = 'gpt2' if preset in ('gpt2', 'fine_tune') else 'transformer'
    c = config.begin('addition', preset, PRESETS, task='addition', model=model)
    c.grid.gamma = (0.5, 0.7)
    c.grid.weight_decay = (0.01, 0.5)
    c.grid.seed = (0, 1, 2)
    PRESETS[preset](c)
    return c


def _default(c: ConfigDict) -> None:
    """9,559 pairs are outside the square, of which a tenth is kept out.

    Two layers and one head, as P1's, of a width that two cores can train.
    """
    c.model.width = c.model.head_dim = 64
    c.model.mlp_dim = 256
    c.optimizer.floor = 0.0
    c.grid.learning_rate = (1e-3,)
    c.task.largest = 99
    c.task.square = (40, 60)
    c.task.num_examples = 8_600
    c.task.eval_examples = 512
    c.train.batch_size = 256
    # The strong decay keeps the loss of networks that answer everything above 0.01.
    c.train.converged_loss = 0.05
    config.set_length(c, 4_000, num_records=20)


def _gpt2(c: ConfigDict) -> None:
    """All of the paper's pairs but 9,599, which are the eval set seen_heldout."""
    c.task.num_examples = 950_000
    c.model.residual_init = 'plain'  # P1's text has no factor (PAPERS 1.6)
    c.train.batch_size = 1_024
    c.optimizer.shape = 'constant'
    c.grid.learning_rate = (5e-5,)
    config.set_length(c, 50_000, num_records=100)


def _fine_tune(c: ConfigDict) -> None:
    _gpt2(c)
    c.model.start = 'models/gpt2/model.safetensors'
    c.model.start_rows = GPT2_ROWS
    c.grid.gamma = (0.5,)  # without effect
    c.grid.weight_decay = (0.0, 0.01, 0.5)


PRESETS = {'': _default, 'gpt2': _gpt2, 'fine_tune': _fine_tune}
