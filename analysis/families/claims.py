"""What P1 and P3 say of four families of experiments: a claim is a row of CLAIMS."""

from functools import partial

from analysis.families.readings import decay, fitting, ranges
from analysis.families.readings import levels as level_readings
from analysis.old_claims.by_setting import Claim
from analysis.p1 import gamma_range, levels
from analysis.p3 import decay_map, fitting_time
from analysis.p3.fitting_time import THRESHOLDS
from anchorjax.experiment import Experiment

TASK = 'anchors'
INTRODUCTION = (
    'Small initialization is the largest γ of a run, large the smallest. Intervals are '
    "of 95 %: Student's t over seeds (ratios: by logarithms). "
    '`analysis/families/readings/` has the rules.'
)


def has_complexities(experiment: Experiment) -> bool:
    """A sweep over the number of wrong pairs."""
    return len(experiment.axes.get('complexity', ())) > 1


def _has_both_unseen(experiment: Experiment) -> bool:
    unseen = experiment.task.unseen_pairs
    return any(pair[0] != pair[1] and pair[::-1] in unseen for pair in unseen)


def has_gammas_and_decays(experiment: Experiment) -> bool:
    """A sweep of gamma and weight decay, with both orders of a pair unseen."""
    grid = experiment.grid
    has_axes = len(grid.gamma) > 1 and len(grid.weight_decay) > 1
    return has_axes and not experiment.loop and _has_both_unseen(experiment)


def has_rates_and_decays(experiment: Experiment) -> bool:
    """A sweep of rate and weight decay at one gamma, with both orders unseen."""
    grid = experiment.grid
    has_axes = len(grid.learning_rate) > 1 and len(grid.weight_decay) > 1
    is_one_gamma = len(grid.gamma) == 1
    return has_axes and is_one_gamma and _has_both_unseen(experiment)


def has_snapshots(experiment: Experiment) -> bool:
    """A sweep of gamma whose training can be followed, with an unseen pair."""
    is_followed = len(experiment.train.snapshot_steps) > 2
    is_asked = len(experiment.task.unseen_pairs) > 0
    return is_followed and is_asked and len(experiment.grid.gamma) > 1


def trains_exception(experiment: Experiment) -> bool:
    """As `has_snapshots`, with the reverse of the unseen pair trained."""
    has_axis = 'exception' in experiment.axes
    is_trained = not _has_both_unseen(experiment) and not has_axis
    return has_snapshots(experiment) and is_trained


def has_sizes(experiment: Experiment) -> bool:
    """A sweep over the number of training examples."""
    sizes = experiment.axes.get('num_examples', ())
    return has_snapshots(experiment) and len(sizes) > 1


def is_gpt2(experiment: Experiment) -> bool:
    """GELU and several heads, over at least three gammas, at one rate and decay."""
    model, grid = experiment.model, experiment.grid
    is_like = model.name == 'transformer' and model.activation == 'gelu'
    has_heads = is_like and model.heads > 1
    return has_heads and len(grid.weight_decay) == 1 and len(grid.gamma) > 2


def is_one_head(experiment: Experiment) -> bool:
    """P1's model over at least three gammas, at one rate and decay."""
    model, grid = experiment.model, experiment.grid
    is_like = model.name == 'transformer' and model.heads == 1
    is_plain = not experiment.loop and len(grid.weight_decay) == 1
    return is_like and is_plain and len(grid.gamma) > 2


def _list_times() -> list[Claim]:
    """The claims about the time to fit, for both published thresholds."""
    rows = []
    for x, threshold in enumerate(THRESHOLDS):
        words = f'a train loss of {threshold:g}'
        sentences = {
            f'Small initialization: the time to {words} grows with complexity.': (
                fitting.read_grows
            ),
            f'Large initialization: the time to {words} does not.': fitting.read_flat,
            f'Small initialization: the time to {words} grows less in deeper '
            'networks.': fitting.read_less_with_depth,
            f'The time to {words} grows more at a small than at a large '
            'initialization.': fitting.read_more_when_small,
        }
        for sentence, read in sentences.items():
            reader = partial(read, x=x)
            source = 'P1 v1 Fig 6' if threshold == THRESHOLDS[0] else 'P3 Fig 8 A, B'
            rows.append(
                Claim(source, sentence, fitting_time, has_complexities, reader, True)
            )
    return rows


def _list_rates() -> list[Claim]:
    """P1 Figs 14 to 16: three readings along two axes."""
    readings = {
        'inferential': ('P1 Fig 14', 'the unseen pair is composed more often', 1),
        'directions of W_Q': ('P1 Fig 15', 'W_Q is more condensed', -1),
        'order of the embedding': ('P1 Fig 16', 'the embedding is more ordered', 1),
    }
    axes = {'rate': 'The larger the rate', 'decay': 'The larger the weight decay'}
    rows = []
    for name, (source, words, sign) in readings.items():
        for along, start in axes.items():
            reader = partial(decay.read_trend, name=name, along=along, sign=sign)
            sentence = f'{start}, the more: {words}.'
            rows.append(
                Claim(source, sentence, decay_map, has_rates_and_decays, reader, True)
            )
    return rows


CLAIMS = (
    *_list_times(),
    Claim(
        'P3 Fig 8 C',
        'Small initialization, one wrong pair: pairs of its two anchors are learned '
        'later than others.',
        fitting_time,
        has_complexities,
        fitting.read_pairs_near,
        is_joint=True,
    ),
    Claim(
        'P3 Fig 3 A',
        'At decay 0.01, small initialization composes the unseen pairs, large does '
        'not.',
        decay_map,
        has_gammas_and_decays,
        decay.read_gamma_composes,
        is_joint=True,
    ),
    Claim(
        'P3 Fig 3',
        'At large initialization, more decay makes networks compose.',
        decay_map,
        has_gammas_and_decays,
        decay.read_decay_composes,
        is_joint=True,
    ),
    Claim(
        'P3 Fig 3',
        'The four phases occur, and come in their order along γ.',
        decay_map,
        has_gammas_and_decays,
        decay.read_phases,
        is_joint=True,
    ),
    Claim(
        'P3 Fig 3',
        'Between memory and reasoning the unseen pair and its reverse get the same '
        'answer.',
        decay_map,
        has_gammas_and_decays,
        decay.read_commutes,
        is_joint=True,
    ),
    Claim(
        'P3 Fig 5 C',
        'At decay 0.01, the stable rank is lower at small initialization.',
        decay_map,
        has_gammas_and_decays,
        partial(decay.read_rank_falls, along='column'),
        is_joint=True,
    ),
    Claim(
        'P3 Fig 5 C',
        'At large initialization, the stable rank is lower with more decay.',
        decay_map,
        has_gammas_and_decays,
        partial(decay.read_rank_falls, along='decay'),
        is_joint=True,
    ),
    Claim(
        'Ours, on P3 Fig 3',
        'The maximum over records is higher than the last step.',
        decay_map,
        has_gammas_and_decays,
        decay.read_oracle,
        is_joint=True,
    ),
    *_list_rates(),
    Claim(
        'P1 Sec 5',
        'Small initialization: composed anchors explain the answers to unseen pairs.',
        levels,
        has_snapshots,
        level_readings.read_composed,
    ),
    Claim(
        'P1 Sec 5',
        'Large initialization: one function an unordered pair explains them.',
        levels,
        trains_exception,
        level_readings.read_reversed,
    ),
    Claim(
        'P1 slides',
        'Large initialization: from memory to inference; the data are known before '
        'other questions.',
        levels,
        has_snapshots,
        partial(level_readings.read_memory_first, start='large'),
    ),
    Claim(
        'P1 slides',
        'Small initialization: inference at once; held-out questions are answered when '
        'the data are known.',
        levels,
        has_snapshots,
        partial(level_readings.read_memory_first, start='small'),
    ),
    Claim(
        'P1 slides',
        'More training examples turn memory into functions.',
        levels,
        has_sizes,
        level_readings.read_examples,
        is_joint=True,
    ),
    Claim(
        'P1 slides',
        'A small initialization needs fewer examples for it.',
        levels,
        has_sizes,
        level_readings.read_fewer_examples,
        is_joint=True,
    ),
    Claim(
        'P1 Fig 2 (c)',
        'GPT-2-like networks compose at a small initialization, and not at a large '
        'one.',
        gamma_range,
        is_gpt2,
        ranges.read_trend,
        baseline=is_one_head,
    ),
    Claim(
        'P1 Fig 2 (c)',
        'Their solution changes within a narrower range of γ than with one head.',
        gamma_range,
        is_gpt2,
        ranges.read_narrower,
        baseline=is_one_head,
    ),
)
