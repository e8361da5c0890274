"""What P1 says of its own task in its own range of γ (PAPERS 1.1 to 1.4).

P1's pair is γ 0.5 and 0.8 at width 400. Nine seeds were trained at that width; the
other networks start with the same standard deviations at a smaller one, and everything
that does not depend on the width is P1's: nine tokens, four anchors, (3, 4) trained on
its exception, the official split, batch 2048, 30 of the 210 epochs of the schedule.
Rate times width and rate times decay are P1's, too.

The default of configs/phase.py asks the same of a smaller task, whose border lies at
smaller initializations: four tokens, strong decay. What P1 says of the inside is in
network_claims.py.

What it says of the levels of a solution, and of GPT-2, is exploratory: three to five
seeds, most of them of an initialization that is not P1's, and γ 1.3 has not learned its
data in the steps of `configs/levels.py`. The levels are those of four anchors, as in
P1; its slides say nothing of more.
"""

from functools import partial
from types import MappingProxyType

import numpy as np
import pandas as pd

from analysis import frame
from analysis.claims import EARLIER, LESS, MORE, Claim, Rule, above, below, name_run
from analysis.estimates import Group, Levels, at_gamma, difference, level
from analysis.members.selection import require_task
from analysis.p1 import levels, network_claims
from analysis.p1.network_claims import (
    DEEPER,
    PAPER_LARGE,
    PAPER_SIZE,
    PAPER_SMALL,
    RATES,
    ROUTED,
    WIDE_DIAGRAM,
    add_insides,
    add_routes,
)
from anchorjax.storage.reader import Run
from anchorjax.tasks.anchors import AnchorsConfig
from anchorjax.tasks.solution import UNSEEN_MAPPINGS

INTRODUCTION = (
    'Numbers are shares of answers, of Fig 2 those to the unseen pair (4, 3), of all '
    'networks at the last step (30 epochs of nine tokens, 24 of the runs w64_pair and '
    'w64_diagram, 6,000 steps of four): the small initialization less the large one, '
    'paired by seed. P1 itself shows something else: for each seed and each mapping '
    'the highest share over nine learning rates, which one network in nine can bring '
    'about. At width 32 both stand side by side. In the table of networks `route` says '
    'how the answer comes to the last token: “key first”, the number goes to an anchor '
    'and the anchor, in a later layer, to the last token (Fig 3 (c)); “pair first”, an '
    'anchor goes there first and the number later (Fig 3 (a)).'
)
COLUMNS = (
    'width',
    'depth',
    'num_anchors',
    'num_examples',
    'norm',
    'learning_rate',
    'weight_decay',
    'gamma',
    'seed',  # the last of the axes
    'gamma_at_400',
    'num_steps',
    'converged',
    'train_loss',
    'seen_heldout_assigned',
    'unseen_composed',
    'unseen_symmetric',
    'unseen_answer',  # the most frequent answer to (4, 3): '(4, 4)', of these anchors
    'unseen_answer_share',
    'trained_as_data',
    'heldout_as_function',
    'unseen_as_reverse',
    'unseen_as_composed',
    'null_heldout_as_function',
    'null_unseen_as_reverse',
    'null_unseen_as_composed',
    'heldout_when_known',
    'num_train',
    *network_claims.COLUMNS,
)
LEVELS = ('levels', 'law_anchors')  # runs whose snapshots some claims read
# Whose last parameters others read.
INSIDES = RATES + PAPER_SIZE + WIDE_DIAGRAM + DEEPER
FAIR = ('phase_laptop', *(f'fair_64_{seed}' for seed in range(61, 67)))
LARGE, SMALL = network_claims.LARGE_64, network_claims.SMALL_64
LARGE_32, SMALL_32 = network_claims.LARGE, network_claims.SMALL
# For that it has no verdict; it was tested, so that it counts in Holm's correction.
SEEN = 'three of the nine rates had been judged before'
DEFAULT = ('phase', 'phase_depths', 'phase_diagram')  # two or three depths
RANDOM_CUTS = tuple(f'w64_d3_random_cut_{draw}' for draw in (1, 2, 3))
MIDDLE, LAST = at_gamma(0.84, 32), at_gamma(2.04, 32)
TWO_LAYERS = ('phase_two_layers', 'phase_fresh')
MIDDLE_64 = Group('γ 0.7', {'gamma': 0.7})
LAST_64 = Group('γ 1.7', {'gamma': 1.7})
at = partial(at_gamma, width=64)
FOUR_ANCHORS = {'num_anchors': 4}
SMALL_FOUR = at(1.0, **FOUR_ANCHORS)
LARGE_FOUR = at(0.2, **FOUR_ANCHORS)
FEWEST = Group('400 examples', {'gamma': 1.3, 'num_examples': 400})
MOST = Group('40,000 examples', {'gamma': 1.3, 'num_examples': 40_000})
KNOWN = 0.9  # of the trained questions: the data are learned


def tabulate(run: Run) -> pd.DataFrame:
    """The networks of a sweep of the anchor task.

    Raises:
      UserError: another task, or no trained network.
    """
    members = frame.add_equivalents(run, frame.list_usable(run, 'anchors'))
    members['num_steps'] = run.experiment.train.num_steps
    if 'depth' not in members:  # no axis of the sweep
        members['depth'] = getattr(run.experiment.model, 'depth', np.nan)
    if name_run(run) in LEVELS:
        members = add_levels(run, members)
    if name_run(run) in INSIDES:
        members = add_insides(run, members)
    if name_run(run) in ROUTED:
        members = add_routes(run, members)
    return members.reindex(columns=list(COLUMNS))


def add_levels(run: Run, members: pd.DataFrame) -> pd.DataFrame:
    """The members with what each level explains of their answers at the end.

    `levels.LINES`, their nulls, `heldout_when_known` and `num_train`; the members as
    they are if the sweep has no snapshots between start and end, or no unseen pair.

    Args:
      members: rows of `Run.members`, by their place in the sweep.
    """
    task = require_task(run.experiment.task, AnchorsConfig)
    if len(run.experiment.train.snapshot_steps) < 3 or not task.unseen_pairs:
        return members
    answers = levels.compute(run)
    last = answers[answers.step == answers.step.max()]
    nulls = [name for name in last if name.startswith('null_')]
    ends = last[[*levels.LINES, *nulls, 'num_train']]
    known = answers.groupby(level=0).apply(read_when_known)
    return members.join(ends).assign(heldout_when_known=known)


def read_when_known(answers: pd.DataFrame) -> float:
    """The share of held-out answers that are functions when KNOWN of the data are.

    On the line through the snapshots before and after; NaN: the data are never known.
    """
    trained = answers.trained_as_data.to_numpy()
    is_known = trained >= KNOWN
    if not is_known.any():
        return np.nan
    first = is_known.argmax()
    around = slice(max(first - 1, 0), first + 1)
    heldout = answers.heldout_as_function.to_numpy()
    return float(np.interp(KNOWN, trained[around], heldout[around]))


def list_answers(
    prefix: str,
    source: str,
    words: str,
    runs: tuple[str, ...],
    groups: tuple[Group, Group] | tuple[Group],
    rules: tuple[Rule | None, Rule | None] = (MORE, LESS),
    withdrawn: str = '',
    statistic: str = 'mean',
    where: Levels = MappingProxyType({}),
    changes: tuple[str, str] = ('more', 'fewer'),
) -> list[Claim]:
    """Whether more answers are composed, and fewer symmetric, at a smaller start.

    Args:
      prefix: of both addresses.
      groups: the smaller start and the larger one; of one alone, its shares.
      statistic: over the learning rates of a seed: 'max' in P1 Sec 4.
      changes: of composed and of symmetric answers.
    """
    claims = []
    for name, change, rule in zip(UNSEEN_MAPPINGS, changes, rules, strict=True):
        ending = f'{change} answers are {name}.'
        column = f'unseen_{name}'
        if len(groups) == 2:
            estimate = difference(column, groups[0], groups[1], statistic=statistic)
        else:
            estimate = level(column, groups[0], statistic=statistic)
            ending = f'{name} answers.'
        claims.append(
            Claim(
                f'{prefix}{name}',
                source,
                f'{words} {ending}',
                runs,
                estimate,
                rule,
                where,
                withdrawn=withdrawn,
            )
        )
    return claims


def list_diagram_claims() -> list[Claim]:
    """The diagram of configs/phase.py: over its depths together, and at each alone."""
    words = 'from γ 0.84 (0.49 at width 400) to 2.04 (1.18)'
    claims = list_answers(
        'p1.default.w32.',
        'ours, on P1 Fig 2',
        f'Four tokens, the mean over depths: {words}',
        DEFAULT,
        (LAST, MIDDLE),
        rules=(above(0), below(0)),
    )
    claims += list_answers(
        'p1.default.w32_b256.',
        'ours, on P1 Fig 2, batches of 256',
        f'Four tokens, batches of 256, the mean over depths: {words}',
        ('phase_256',),
        (LAST, MIDDLE),
        rules=(above(0), below(0)),
    )
    for depth in (2, 3, 4):
        claims += list_answers(
            f'p1.default.w32_d{depth}.',
            f'ours, on P1 Fig 2, depth {depth}',
            f'Four tokens, {depth} blocks: {words}',
            DEFAULT,
            (LAST, MIDDLE),
            where={'depth': depth},
        )
    return [*claims[0::2], *claims[1::2]]  # composed answers first


def list_depths() -> list[Claim]:
    """Whether the symmetric answers of P1's large initialization need few blocks.

    And whether they return where one block does not attend: a key-first route needs two
    layers in an order, of which there is one in two layers, three in three. The null:
    as many edges of attention cut, drawn at random, four seeds a draw.
    """
    two, three, four = (Group(f'{n} blocks', {'depth': n}) for n in (2, 3, 4))
    source = 'ours, on P1 Fig 2, width 64'
    start = 'γ 0.72 (0.50 at width 400), 10 epochs, float32'
    whole = 'w64_d3_large'
    with_it = Group('with it', {'run': whole})
    list_them = partial(list_answers, source=source, changes=('fewer', 'more'))
    claims = [
        *list_them(
            'p1.depth.w64_large.',
            words=f'{start}: with two blocks instead of three',
            runs=('w64_d2_large', whole),
            groups=(two, three),
            rules=(None, above(0)),
        ),
        *list_them(
            'p1.depth.w64_shifts.',
            words=f"{start}, two blocks: with shifts +7, −4, +2 and −6 instead of P1's",
            runs=('w64_d2_shifts', 'w64_d2_large'),
            groups=(
                Group('other shifts', {'run': 'w64_d2_shifts'}),
                Group("P1's", {'run': 'w64_d2_large'}),
            ),
            rules=(None, None),
        ),
        Claim(
            'p1.depth.w64_large.symmetric_deeper',
            source,
            'γ 0.72 (0.50 at width 400), 24 epochs, an H100: with three blocks instead '
            'of four more answers are symmetric.',
            DEEPER,
            difference('unseen_symmetric', three, four),
            where={'gamma': 0.72},
        ),
    ]
    for block, prefix, run in (
        ('third', 'w64_d3_cut.', 'w64_d3_one_pair'),
        ('second', 'w64_d3_other_cuts.second_', 'w64_d3_cut_second'),
        ('first', 'w64_d3_other_cuts.first_', 'w64_d3_cut_first'),
    ):
        without = Group(f'{block} block without attention', {'run': run})
        claims += list_them(
            f'p1.depth.{prefix}',
            words=f'{start}, three blocks: without attention in the {block}',
            runs=(run, whole),
            groups=(without, with_it),
            rules=(None, above(0)),
        )
    return [
        *claims,
        *list_them(
            'p1.depth.w64_d3_random.',
            words=f'{start}, three blocks: without as many edges, drawn at random,',
            runs=(*RANDOM_CUTS, whole),
            groups=(Group('fourteen edges at random', {'run': RANDOM_CUTS}), with_it),
            rules=(None, None),
        ),
        Claim(
            'p1.depth.w64_d3_larger.composed',
            source,
            'Three blocks, 10 epochs, float32: γ 0.43 and 0.58 (0.30 and 0.40 at width '
            '400) compose more than 0.72 (0.50).',
            ('w64_d3_larger', whole),
            difference(
                'unseen_composed',
                Group('γ 0.43, 0.58', {'gamma': (0.43, 0.58)}),
                Group('γ 0.72', {'gamma': 0.72}),
            ),
            above(0),
        ),
    ]


CLAIMS = (
    *list_answers(
        'p1.fig02.w400_d2.',
        "P1 Fig 2, P1's width",
        'From γ 0.5 to 0.8',
        PAPER_SIZE,
        (PAPER_SMALL, PAPER_LARGE),
        rules=(above(0, EARLIER), below(0, EARLIER)),
    ),
    *list_answers(
        'p1.fig02.w400_d2.best_',
        "P1 Fig 2, P1's width",
        'Best of seven of nine rates, at γ 0.8 alone:',
        ('paper_size_rates', *PAPER_SIZE),
        (PAPER_SMALL,),
        rules=(None, None),
        statistic='max',
        where={'seed': (301, 302, 303)},
    ),
    *list_answers(
        'p1.fig02.w64_d2.',
        'P1 Fig 2, width 64',
        'From γ 0.72 (0.50 at width 400) to 1.15 (0.80)',
        FAIR,
        (SMALL, LARGE),
        rules=(above(0, EARLIER), below(0, EARLIER)),
    ),
    *list_answers(
        'p1.fig02.w64_d2.all_',
        'P1 Fig 2, width 64',
        'With the same cells of the map: from γ 0.72 (0.50 at width 400) to 1.15 '
        '(0.80)',
        (*FAIR, *WIDE_DIAGRAM),
        (SMALL, LARGE),
        where={'depth': 2},
    ),
    *list_answers(
        'p1.fig02.w64_d3.',
        'P1 Fig 2, width 64, depth 3',
        'Three blocks: from γ 0.72 (0.50 at width 400) to 1.15 (0.80)',
        DEEPER,
        (SMALL, LARGE),
        rules=(above(0), below(0)),
        where={'depth': 3},
    ),
    *list_answers(
        'p1.fig02.w64_d3.float32_',
        'P1 Fig 2, width 64, depth 3',
        'Three blocks, γ 0.72 alone, float32, 10 epochs:',
        ('w64_d3_large',),
        (LARGE,),
        rules=(None, None),
    ),
    *list_depths(),
    *list_answers(
        'p1.fig02.w64_d4.',
        'P1 Fig 2, width 64, depth 4',
        'Four blocks: from γ 0.72 (0.50 at width 400) to 1.15 (0.80)',
        DEEPER,
        (SMALL, LARGE),
        where={'depth': 4},
    ),
    *list_answers(
        'p1.fig02.w64.',
        'P1 Fig 2, width 64',
        'Two to five blocks in the mean: from γ 0.72 (0.50 at width 400) to 1.15 '
        '(0.80)',
        WIDE_DIAGRAM,
        (SMALL, LARGE),
    ),
    *list_answers(
        'p1.fig02.w64.left_',
        'P1 Fig 2, width 64',
        'Three to five blocks: from γ 0.72 (0.50 at width 400) to 0.43 and 0.58 (0.30 '
        'and 0.40), larger initializations,',
        WIDE_DIAGRAM,
        (Group('γ 0.43, 0.58', {'gamma': (0.43, 0.58)}), LARGE),
        rules=(LESS, MORE),
        where={'depth': (3, 4, 5)},
    ),
    *list_answers(
        'p1.fig02.w32_d2.best_',
        'P1 Fig 2, width 32',
        'Best of nine rates: from γ 0.865 (0.50 at width 400) to 1.38 (0.80)',
        RATES,
        (SMALL_32, LARGE_32),
        rules=(above(0, EARLIER), below(0, EARLIER)),
        withdrawn=SEEN,
        statistic='max',
    ),
    *list_answers(
        'p1.fig02.w32_d2.smaller_',
        'P1 Fig 2, width 32',
        'One rate: from γ 0.865 (0.50 at width 400) to 1.56 (0.90), smaller than '
        "P1's pair,",
        (*RATES, 'gammas_32'),
        (at_gamma(1.56, 32), LARGE_32),
        where={'learning_rate': 2.5e-3},
    ),
    *list_answers(
        'p1.fig02.w32_d2.larger_',
        'P1 Fig 2, width 32',
        'One rate: from γ 0.516 (0.30 at width 400) to 0.865 (0.50)',
        (*RATES, 'gammas_32'),
        (LARGE_32, at_gamma(0.516, 32)),
        where={'learning_rate': 2.5e-3},
    ),
    *list_answers(
        'p1.fig02.w32_d2.mean_',
        'P1 Fig 2, width 32',
        'Mean of nine rates: from γ 0.865 to 1.38',
        RATES,
        (SMALL_32, LARGE_32),
    ),
    *list_diagram_claims(),
    *list_answers(
        'p1.default.w64_d2.',
        'ours, on P1 Fig 2',
        'Four tokens, strong decay, two blocks: from γ 0.7 (0.49 at width 400) to 1.7 '
        '(1.18)',
        TWO_LAYERS,
        (LAST_64, MIDDLE_64),
        rules=(above(0, EARLIER), below(0, EARLIER)),
    ),
    *network_claims.CLAIMS,
    Claim(
        'p1.sec05.w64_d2.composed',
        'P1 Sec 5',
        'Small initialization: composed anchors explain the answers to unseen pairs.',
        ('law_anchors',),
        level('unseen_as_composed', SMALL_FOUR),
    ),
    Claim(
        'p1.sec05.w64_d2.symmetric',
        'P1 Sec 5',
        'Large initialization: one function an unordered pair explains them.',
        ('law_anchors',),
        level('unseen_as_reverse', LARGE_FOUR),
    ),
    Claim(
        'p1.slides.w64_d2.heldout_large',
        'P1 slides',
        'Large initialization: from memory to inference; few held-out answers are '
        'functions of the pair when 0.9 of the data are known.',
        ('law_anchors',),
        level('heldout_when_known', LARGE_FOUR),
    ),
    Claim(
        'p1.slides.w64_d2.heldout_small',
        'P1 slides',
        'Small initialization: inference at once; most held-out answers are functions '
        'of the pair when 0.9 of the data are known.',
        ('law_anchors',),
        level('heldout_when_known', SMALL_FOUR),
    ),
    Claim(
        'p1.slides.w64_d2.examples',
        'P1 slides',
        'Small initialization: more training examples turn memory into functions; more '
        'held-out answers are functions of the pair.',
        ('levels',),
        difference('heldout_as_function', MOST, FEWEST),
        MORE,
    ),
    Claim(
        'p1.slides.w64_d2.gamma',
        'P1 slides',
        'A small initialization needs fewer examples for it; over all numbers of '
        'examples more held-out answers are functions of the pair.',
        ('levels',),
        difference('heldout_as_function', at(1.3), at(0.3)),
        MORE,
    ),
    *list_answers(
        'p1.slides.w32_d2.anchors_first_',
        'P1 slides',
        'The key after the pair; four tokens, two blocks: from γ 0.84 (0.49 at width '
        '400) to 2.04 (1.18)',
        ('anchors_first',),
        (LAST, MIDDLE),
    ),
    *list_answers(
        'p1.slides.w32_d2_order.',
        'ours, on P1 slides',
        'Four tokens, two blocks, γ 2.04 (1.18 at width 400): with the number after '
        'the pair instead of before it',
        ('order_anchors_first', 'order_key_first'),
        (
            Group('number after the pair', {'run': 'order_anchors_first'}),
            Group('before it', {'run': 'order_key_first'}),
        ),
        rules=(None, above(0)),
        changes=('fewer', 'more'),
    ),
    Claim(
        'p1.slides.w32_d2.one_anchor',
        'P1 slides',
        'One anchor, before a fifth one that adds 0; four tokens, two blocks, 2,000 '
        'steps: held-out numbers are answered right.',
        ('one_anchor',),
        difference('seen_heldout_assigned', LAST, MIDDLE),
    ),
    Claim(
        'p1.fig02c.w64_pre.composed',
        'P1 Fig 2 (c)',
        'GPT-2-like networks with pre-norm compose more at a small initialization.',
        ('gpt2_range',),
        difference('unseen_composed', at(1.1, norm='pre'), at(0.7, norm='pre')),
        MORE,
    ),
    Claim(
        'p1.fig02c.w64_post.composed',
        'P1 Fig 2 (c)',
        'GPT-2-like networks with post-norm compose more at a small initialization.',
        ('gpt2_range',),
        difference('unseen_composed', at(1.1, norm='post'), at(0.7, norm='post')),
        MORE,
    ),
    Claim(
        'p1.fig02c.w64_one_head.composed',
        'P1 Fig 2 (c)',
        "P1's model with one head composes more at a small initialization, as "
        'GPT-2-like networks do.',
        ('gpt2_range_one_head',),
        difference('unseen_composed', at(1.1), at(0.7)),
        MORE,
    ),
)
