"""Critical windows: when must weight decay act? P4, and the question that it left open.

  python launch/sweep.py --config configs/critical_windows.py[:preset]

preset         P4's      what is varied                         members  on 2 cores
(default)      E2a       position of a window of T / 4, none,   108      9 minutes
                         and decay in all steps
start_or_end   - (ours)  start and end of a window, each with   96       8 minutes
                         the other fixed; two pieces
static         E1        gamma and a constant decay             45       4 minutes
onset          E6, E7    start of a window of T / 4, finely     36       3 minutes
gammas         E5        gamma, and three positions             36       3 minutes
complexity     E3        constant decay, eight seeds            40       4 minutes
seeds          E8        gamma, twelve seeds, the middle        48       4 minutes
deep           E10       4 layers: five positions               15       3 minutes
sgd            E11       SGD with momentum: five positions      20       4 minutes
grokking       E4        addition mod 67: decay at all steps    24       5 minutes
                         or in a window
widths         E2b       narrow and wide windows                24       2 minutes
scan           E9        SCAN with `jump` held out: three       72       32 minutes
                         strengths of decay, four windows
paper_<name>   the same  the paper's size                                hours

All windows have the same budget, the sum of the decay over training: a window of T / 4
decays four times as strongly as decay in all steps. So the paper has lambda 1e-3 in all
steps, 4e-3 in 5,000 of 20,000 and 1e-2 in 2,000.

The laptop presets have width 32, batch 64 and 5,000 steps; the paper width 64, batch
128 and 20,000 (15,000 without windows). Windows are at the same shares of T. The data,
the rate, the betas and lambda are the paper's, so that a window holds a quarter of the
paper's decay. `sgd` has the paper's batch.

P4 writes theta <- theta - eta lambda theta (PAPERS 4.1, quirk 16). At its rate of 3e-3
the whole budget would then shrink the weights by 6 %, and a lambda of 1e-3 does
nothing: the preset `static` has that value, too. All other presets take lambda as the
decay of one step, without eta: weight_decay = lambda / eta.

Unknown, and what we take: a constant rate; gradients are not clipped; eps 1e-8; no
biases but that of the output, which starts at 0; embeddings start with gamma /
sqrt(width); everything but embeddings decays; the gammas of E1, and some of its decays;
whether lambda has eta in it in E11 (SGD) and E4; of E4 gamma, rate, batch and length;
where the narrow windows of E2b lie. E4's printed lambda, 0.01, does nothing here if eta
is in it, and 3e-3 a step already keeps the train loss above 1, so `grokking` has 1.5e-3
a step, chosen on seeds 100 and 101; `paper_grokking` has 0.01 a step. Of P4's 21 starts
of a window, 0 to 6,000, `paper_onset` has 11.

`scan` has both readings of lambda 5e-3 (0.005 with eta in it; 50 without) and one
between (0.5), batch 32 and 4,000 steps of 3e-4, where the paper has 128 and 12,000 of
1e-4. So 50 is 1.5e-2 a step, with the sum over training of the paper's 5e-3. P4 gives
the middle half twice the decay of all steps; that the first quarter has the same
budget, and so four times, is an assumption.
"""

from anchorjax import config
from anchorjax.config import ConfigDict

_RATE = 3e-3
_BUDGET = 1e-3  # lambda of decay in all steps, of one step
_LAMBDAS = (0.0, 3e-4, 1e-3, 3e-3, 1e-2)  # of E3
_ALL, _NONE = (), (0, 0)
_SEEDS = tuple(range(12))
_TASKS = {'grokking': 'modular_addition', 'scan': 'scan'}  # of presets; else P4's own


def get_config(preset: str = '') -> ConfigDict:
    is_paper = preset.startswith('paper_')
    task = _TASKS.get(preset.removeprefix('paper_'), 'anchor_permutations')
    c = config.begin('critical_windows', preset, PRESETS, task=task)
    _set_up(c)
    if is_paper:
        _set_size(c, width=64, batch_size=128, num_steps=20_000)
    else:
        _set_size(c, width=32, batch_size=64, num_steps=5_000)
    PRESETS[preset](c, is_paper)
    c.train.eval_every = c.train.num_steps // 50
    return c


def _set_up(c: ConfigDict) -> None:
    """What all experiments share (PAPERS 4.1)."""
    c.model.heads = 2
    c.model.max_len = 3
    c.model.norm = 'pre'
    c.model.activation = 'gelu'
    c.model.init = 'scale'
    c.model.decayed = 'all_but_embeddings'
    c.optimizer.b2 = 0.98
    c.optimizer.clip_norm = 1e9
    c.optimizer.shape = 'constant'
    c.optimizer.floor = 0.0
    c.optimizer.equal_budget = True
    c.train.lanes = 6  # on a CPU, too, networks this small gain from it
    c.train.converged_loss = 0.1  # decay that acts to the end keeps the loss up
    c.grid.gamma = (0.8,)
    c.grid.learning_rate = (_RATE,)
    c.grid.weight_decay = (_BUDGET / _RATE,)


def _set_size(c: ConfigDict, width: int, batch_size: int, num_steps: int) -> None:
    c.model.width = width
    c.model.head_dim = width // 2
    c.model.mlp_dim = 4 * width
    c.train.batch_size = batch_size
    c.train.num_steps = num_steps


def _place(c: ConfigDict, *shares: float) -> tuple[int, ...]:
    """The bounds of a window that are given as shares of training."""
    return tuple(round(share * c.train.num_steps) for share in shares)


def _place_quarters(c: ConfigDict, starts: tuple[float, ...]) -> tuple:
    """Windows of T / 4 from each of these shares of training."""
    return tuple(_place(c, start, start + 0.25) for start in starts)


def _position(c: ConfigDict, is_paper: bool) -> None:
    starts = (0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75)
    c.grid.decay_window = (_NONE, _ALL, *_place_quarters(c, starts))
    c.grid.seed = _SEEDS


def _start_or_end(c: ConfigDict, is_paper: bool) -> None:
    """Starts 0, T/4 and T/2 with ends T/4, T/2, 3T/4 and T; then two pieces of T/8."""
    shares = (
        *((0.0, end) for end in (0.25, 0.5, 0.75, 1.0)),
        *((0.25, end) for end in (0.5, 0.75, 1.0)),
        *((0.5, end) for end in (0.75, 1.0)),
        (0.0, 0.125, 0.25, 0.375),
        (0.0, 0.125, 0.625, 0.75),
        (0.25, 0.375, 0.625, 0.75),
    )
    c.grid.decay_window = tuple(_place(c, *bounds) for bounds in shares)
    c.grid.seed = _SEEDS[:8]


def _static(c: ConfigDict, is_paper: bool) -> None:
    """The second decay is lambda 1e-3 with eta in it, as P4 writes it."""
    lambdas = (0.0, _BUDGET * _RATE, *_LAMBDAS[1:])
    c.grid.weight_decay = tuple(value / _RATE for value in lambdas[:5])
    c.grid.gamma = (0.5, 0.8, 1.1)
    c.grid.seed = _SEEDS[:3]
    if is_paper:
        c.train.num_steps = 15_000
        c.grid.weight_decay = tuple(value / _RATE for value in lambdas)
        c.grid.gamma = (0.3, 0.5, 0.7, 0.8, 0.9, 1.1)


def _onset(c: ConfigDict, is_paper: bool) -> None:
    """Starts from 0 to T / 20, as in E7, then to T / 5; E6 goes to 0.3 T."""
    c.grid.decay_window = _place_quarters(c, (0.0, 0.01, 0.02, 0.05, 0.1, 0.2))
    c.grid.seed = _SEEDS[:6]
    if is_paper:
        starts = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)
        c.grid.decay_window = _place_quarters(c, starts)


def _gammas(c: ConfigDict, is_paper: bool) -> None:
    c.grid.gamma = (0.5, 0.8, 1.1)
    c.grid.decay_window = _place_quarters(c, (0.0, 0.25, 0.75))
    c.grid.seed = _SEEDS[:4]


def _complexity(c: ConfigDict, is_paper: bool) -> None:
    if is_paper:
        c.train.num_steps = 15_000
    c.grid.weight_decay = tuple(value / _RATE for value in _LAMBDAS)
    c.grid.seed = _SEEDS[:8]
    c.train.snapshot_steps = _place(c, 0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def _seeds(c: ConfigDict, is_paper: bool) -> None:
    c.grid.gamma = (0.5, 0.7, 0.9, 1.1)
    c.grid.decay_window = _place_quarters(c, (0.25,))
    c.grid.seed = _SEEDS


def _five_positions(c: ConfigDict, is_paper: bool) -> None:
    c.grid.decay_window = (_NONE, _ALL, *_place_quarters(c, (0.0, 0.25, 0.75)))
    c.grid.seed = _SEEDS[:3]


def _deep(c: ConfigDict, is_paper: bool) -> None:
    c.model.depth = 4
    _five_positions(c, is_paper)


def _sgd(c: ConfigDict, is_paper: bool) -> None:
    c.optimizer.method = 'sgd'
    c.optimizer.b1 = 0.9
    c.train.batch_size = 128
    c.grid.learning_rate = (0.1,)
    c.grid.weight_decay = (_BUDGET / 0.1,)
    _five_positions(c, is_paper)
    c.grid.seed = _SEEDS[:4]


def _grokking(c: ConfigDict, is_paper: bool) -> None:
    c.grid.weight_decay = (1.5e-3 / _RATE,)
    if is_paper:
        _set_size(c, width=128, batch_size=128, num_steps=6_000)
        c.grid.weight_decay = (0.01 / _RATE,)
    c.grid.gamma = (1.0,)
    c.optimizer.equal_budget = False
    c.grid.decay_window = (_NONE, _ALL, _place(c, 0.1, 0.6))
    c.grid.seed = _SEEDS[:8]


def _scan(c: ConfigDict, is_paper: bool) -> None:
    """Rate x steps is P4's at either size, and so is what a decay comes to."""
    if is_paper:
        _set_size(c, width=32, batch_size=128, num_steps=12_000)
        c.grid.learning_rate = (1e-4,)
        c.grid.seed = _SEEDS[:3]
    else:
        _set_size(c, width=32, batch_size=32, num_steps=4_000)
        c.grid.learning_rate = (3e-4,)
        c.grid.seed = _SEEDS[:6]
    c.task.split = 'addprim_jump'
    c.task.eval_examples = 256
    c.model.max_len = 59
    c.train.lanes = config.AUTO
    c.grid.weight_decay = (5e-3, 0.5, 50.0)
    c.grid.decay_window = (_NONE, _ALL, _place(c, 0.0, 0.25), _place(c, 0.25, 0.75))


def _widths(c: ConfigDict, is_paper: bool) -> None:
    """T / 10 and T / 4, from 0, T / 4 and at the end."""
    narrow = tuple(_place(c, start, start + 0.1) for start in (0.0, 0.25, 0.9))
    c.grid.decay_window = (*narrow, *_place_quarters(c, (0.0, 0.25, 0.75)))
    c.grid.seed = _SEEDS[:4]


PRESETS = {
    '': _position,
    'start_or_end': _start_or_end,
    'static': _static,
    'onset': _onset,
    'gammas': _gammas,
    'complexity': _complexity,
    'seeds': _seeds,
    'deep': _deep,
    'sgd': _sgd,
    'grokking': _grokking,
    'widths': _widths,
    'scan': _scan,
}
PRESETS |= {f'paper_{name or "position"}': fill for name, fill in PRESETS.items()}
