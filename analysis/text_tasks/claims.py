"""P1's comparison in its text tasks, and which of γ and decay does it (PAPERS 1.6).

P1 compares a large initialization under weak decay with a small one under strong decay,
and so changes two things at once. Judged is that comparison where six networks or more
with P1's number of examples were trained on seeds that nobody had seen before. The
other rows tell γ from decay.

Most rows are ours: γ 0.5 and 0.7 are P1's, but at width 64 both start larger than its
large one does, so that they are outside of its range. P1's own standard deviations
were trained, too (IN_RANGE).
"""

import pandas as pd

from analysis.claims import EARLIER, LESS, MORE, Claim, above
from analysis.estimates import Group, difference, level, paired_difference, ratio
from analysis.frame import find_points
from analysis.stats import POSITIVE
from analysis.text_tasks import free_generation, published
from analysis.text_tasks.baselines import score_baselines
from analysis.text_tasks.members import COLUMNS, TESTED, read_members
from anchorjax.storage.reader import Run
from anchorjax.tasks import TaskConfig

INTRODUCTION = (
    'Numbers are exact matches of whole answers of all networks at the end of '
    "training. A large initialization has γ 0.5 and a small one γ 0.7, P1's; at width "
    '64 they have the standard deviations of γ 0.35 and 0.49 at width 400, and of 0.31 '
    "and 0.44 at GPT-2's of 768. Both lie below P1's 0.5, so that these rows are ours; "
    "those of P1 have γ 0.72 and 1.01 in addition (P1's width is 400) and 0.80 and "
    "1.12 in SCAN and COGS (768, by P1's text; by its code, where γ acts on the output "
    'widths of two kinds of layers alone, they would be 0.93 to 0.97 and 1.30 to 1.35, '
    'which were not trained: PAPERS 1.6). Weak decay is 0.01 and strong decay 0.5, of '
    'PrOntoQA 0.1. Differences and ratios are paired by seed, over all runs that train '
    'the same setting; a judged row has fresh seeds alone. The null is the best of '
    'what answers without generalizing: a table of the training texts (of addition '
    'also of unordered pairs), the most frequent answer, and of PrOntoQA its shortcuts '
    '(analysis/text_tasks/baselines.py). A network that never converges counts with '
    'the last step.'
)

# Runs of each task. Where they share a size they differ in their seeds alone.
RUNS = {
    'addition': ('addition', 'addition_fresh', 'addition_7'),
    'scan': ('scan', 'scan_laptop', 'scan_fresh'),
    'cogs': ('cogs', 'cogs_fresh'),
    'prontoqa': ('prontoqa', 'prontoqa_sizes', 'prontoqa_fresh'),
}
# Those with fresh seeds, by task and size: what they show is judged. Addition is not
# among them: four of its six seeds had been judged before two more were trained.
FRESH = {
    ('scan', 500): ('scan_fresh',),
    ('cogs', 500): ('cogs_fresh',),
}

STRONG = (0.1, 0.5)  # a run has one of them
LARGE_WEAK = Group('large, weak', {'gamma': 0.5, 'weight_decay': 0.01})
LARGE_STRONG = Group('large, strong', {'gamma': 0.5, 'weight_decay': STRONG})
SMALL_WEAK = Group('small, weak', {'gamma': 0.7, 'weight_decay': 0.01})
SMALL_STRONG = Group('small, strong', {'gamma': 0.7, 'weight_decay': STRONG})
# P1's 0.5 and 1.0 at GPT-2 medium's width, 1,024.
LARGE_TEXTS = Group('γ 0.83', {'gamma': 0.83})
SMALL_TEXTS = Group('γ 1.67', {'gamma': 1.67})
# γ of P1's large and small initialization, where its width is 400 (addition) and 768.
IN_RANGE = {'addition': (0.72, 1.01), 'scan': (0.8, 1.12), 'cogs': (0.8, 1.12)}

BOTH = (
    'A small initialization with strong decay answers more {} than a large one with '
    'weak decay.'
)
GAMMA_WEAK = 'At weak decay, a smaller initialization answers more {}.'
GAMMA_STRONG = 'At strong decay, a smaller initialization answers more {}.'
DECAY_LARGE = 'At a large initialization, stronger decay answers more {}.'
DECAY_SMALL = 'At a small initialization, stronger decay answers more {}.'
# By the sentence, its name in an address, and the group that answers more than another.
CONTRASTS = {
    BOTH: ('both', SMALL_STRONG, LARGE_WEAK),
    GAMMA_WEAK: ('gamma_weak', SMALL_WEAK, LARGE_WEAK),
    GAMMA_STRONG: ('gamma_strong', SMALL_STRONG, LARGE_STRONG),
    DECAY_LARGE: ('decay_large', LARGE_STRONG, LARGE_WEAK),
    DECAY_SMALL: ('decay_small', SMALL_STRONG, SMALL_WEAK),
}
ALONE = (GAMMA_WEAK, GAMMA_STRONG, DECAY_LARGE, DECAY_SMALL)


EVAL_SETS = ('seen_train', 'seen_heldout', 'test', 'gen', 'seen_heldout_proof')
ASKED = (
    *EVAL_SETS,  # exact match of whole answers
    # The best score on each of what answers without generalizing.
    *(f'null_{eval_set}' for eval_set in EVAL_SETS[1:]),
    'right_label',  # share of right judgements after the right proof, of PrOntoQA
    'own_label',  # the same after the proof that the network writes itself
    'perplexity_seen_heldout',  # of texts as they are: of a token, at the end
)


def tabulate(run: Run) -> pd.DataFrame:
    """The networks of `members.read_members`, with ASKED: NaN where a task has none.

    Raises:
      UserError: another task, or no trained network.
      StoreError: a snapshot of PrOntoQA is missing or damaged.
    """
    members = read_members(run, *TESTED, 'corpus')
    tasks = [run.experiment_of(**point).task for point in find_points(run, members)]
    if run.experiment.task.name != 'corpus':  # whose texts ask nothing
        members = members.join(_score_nulls(tasks, members))
    if any(getattr(task, 'chain_of_thought', False) for task in tasks):
        written = free_generation.compute(run)
        members['right_label'] = written['label after right proof']
        members['own_label'] = written['label after own proof']
    return members.reindex(columns=[*COLUMNS, *ASKED])


def _score_nulls(tasks: list[TaskConfig], members: pd.DataFrame) -> pd.DataFrame:
    """The `null_` columns of ASKED for each member, of its task and seed."""
    nulls = []
    for task, seed in zip(tasks, members.seed, strict=True):
        nulls.append(pd.DataFrame(score_baselines(task, seed)).max(axis=1))
    table = pd.DataFrame(nulls, members.index).drop(columns='seen_train')
    return table.add_prefix('null_')


def write_sentence(sentence: str, size: int, more: str = '') -> str:
    """The sentence after its number of examples, and what else belongs to that."""
    return f'{size:,} examples{more}: {sentence[0].lower()}{sentence[1:]}'


def compare(
    figure: str,
    source: str,
    task: str,
    eval_set: str,
    what: str,
    sizes: tuple[int, ...],
    contrasts: tuple[str, ...] = (BOTH,),
) -> list[Claim]:
    """A claim for each size and contrast: the first group answers more of the eval set.

    P1's comparison has a rule at the sizes that have fresh seeds and P1's numbers.

    Args:
      figure: in the address of the claims.
      what: is asked, in words: 'commands with `turn left`'.
    """
    claims = []
    for size in sizes:
        for contrast in contrasts:
            name, first, second = CONTRASTS[contrast]
            printed, runs, rule = '', RUNS[task], MORE
            if contrast == BOTH:
                printed = published.describe_exact_match(task, eval_set, size)
                if printed and (task, size) in FRESH:
                    runs, rule = FRESH[task, size], above(0, EARLIER)
            claims.append(
                Claim(
                    f'{figure}.w64.{name}_{size}',
                    source,
                    write_sentence(contrast.format(what), size),
                    runs,
                    difference(eval_set, first, second),
                    rule,
                    {'size': size},
                    printed,
                )
            )
    return claims


def compare_in_range(
    figure: str,
    source: str,
    task: str,
    eval_set: str,
    what: str,
    size: int,
    steps: int,
    runs: tuple[str, ...],
) -> Claim:
    """P1's comparison at P1's own standard deviations, in runs with fresh seeds."""
    large, small = IN_RANGE[task]
    large_weak = Group('large, weak', {'gamma': large, 'weight_decay': 0.01})
    small_strong = Group('small, strong', {'gamma': small, 'weight_decay': 0.5})
    return Claim(
        f'{figure}.w64.in_range_{steps}',
        source.removeprefix('ours, on '),
        write_sentence(BOTH.format(what), size, f', {steps:,} steps'),
        runs,
        difference(eval_set, small_strong, large_weak),
        above(0, EARLIER),
        note=published.describe_exact_match(task, eval_set, size),
    )


def list_steps() -> list[Claim]:
    """How soon PrOntoQA converges, at P1's two corners."""
    claims = []
    for size in (1_000, 5_000, 20_000):
        sentence = (
            'A small initialization with strong decay converges in fewer steps than a '
            'large one with weak decay.'
        )
        claims.append(
            Claim(
                f'text_tasks.fig07.w64.steps_{size}',
                'ours, on P1 Fig 7',
                write_sentence(sentence, size),
                RUNS['prontoqa'],
                ratio('steps', LARGE_WEAK, SMALL_STRONG),
                MORE,
                where={'size': size},
                note=published.describe_steps(size),
            )
        )
    return claims


TURN_LEFT = (
    'text_tasks.fig06a',
    'ours, on P1 Fig 6 a',
    'scan',
    'test',
    'commands with `turn left`',
)
NEW_COMMANDS = (
    'text_tasks.fig06a_new',
    'ours, on P1 Fig 6 a',
    'scan',
    'seen_heldout',
    'new commands of the trained kinds',
)
SENTENCES = (
    'text_tasks.fig06b',
    'ours, on P1 Fig 6 b',
    'cogs',
    'seen_heldout',
    'in-distribution sentences',
)
CASES = (
    'text_tasks.fig06c',
    'ours, on P1 Fig 6 c',
    'cogs',
    'gen',
    'sentences of the 21 cases',
)
QUESTIONS = (
    'text_tasks.fig07',
    'ours, on P1 Fig 7',
    'prontoqa',
    'seen_heldout',
    'new questions',
)
SQUARE = (
    'text_tasks.fig17a',
    'ours, on P1 Fig 17 a',
    'addition',
    'test',
    'of the held-out square',
)

CLAIMS = (
    compare_in_range(*SQUARE, 8_600, 4_000, ('addition_matched',)),
    compare_in_range(*TURN_LEFT, 500, 1_500, ('scan_matched_1', 'scan_matched_2')),
    compare_in_range(
        *TURN_LEFT, 500, 6_000, ('scan_matched_long_1', 'scan_matched_long_2')
    ),
    compare_in_range(*SENTENCES, 500, 1_300, ('cogs_matched_1', 'cogs_matched_2')),
    compare_in_range(
        *SENTENCES, 500, 5_200, ('cogs_matched_long_1', 'cogs_matched_long_2')
    ),
    *compare(*SQUARE, (8_600,), (BOTH, *ALONE)),
    Claim(
        'text_tasks.fig17b.w64.perplexity',
        'P1 Fig 17 b, stories',
        'Stories in bytes, two blocks: from γ 0.83 (0.5 at width 1,024) to 1.67 (1.0) '
        'the perplexity of held-out windows falls.',
        ('stories',),
        difference('perplexity_seen_heldout', SMALL_TEXTS, LARGE_TEXTS, POSITIVE),
        LESS,
        note='P1, of code: from 1.7207 to 1.7027, in this order from 2 B tokens on',
    ),
    Claim(
        'text_tasks.fig17a.w64.small_strong',
        'ours, on P1 Fig 17 a',
        'A small initialization with strong decay answers the held-out square.',
        RUNS['addition'],
        level('test', SMALL_STRONG),
        note=published.describe_exact_match('addition', 'test', 0),
    ),
    Claim(
        'text_tasks.fig17a.w64.large_weak',
        'ours, on P1 Fig 17 a',
        'A large initialization with weak decay does not answer the held-out square.',
        RUNS['addition'],
        level('test', LARGE_WEAK),
        note=published.describe_exact_match('addition', 'test', 0),
    ),
    Claim(
        'text_tasks.fig17a.w64.outside',
        'ours, on P1 Fig 17 a',
        'A large initialization with weak decay answers held-out pairs outside the '
        'square.',
        RUNS['addition'],
        level('seen_heldout', LARGE_WEAK),
    ),
    *compare(*TURN_LEFT, (500,), (BOTH, *ALONE)),
    *compare(*TURN_LEFT, (1_000, 5_000)),
    *compare(*TURN_LEFT, (10_000,), (BOTH, GAMMA_WEAK, DECAY_SMALL)),
    *compare(*NEW_COMMANDS, (500,), ALONE),
    *compare(*NEW_COMMANDS, (10_000,), (DECAY_SMALL,)),
    *compare(*SENTENCES, (500,), (BOTH, *ALONE)),
    *compare(*SENTENCES, (1_000,), (BOTH, GAMMA_WEAK)),
    *compare(*CASES, (500,)),
    *compare(*QUESTIONS, (1_000,), (BOTH, *ALONE)),
    *compare(*QUESTIONS, (2_000, 5_000, 20_000)),
    *list_steps(),
    Claim(
        'text_tasks.fig07.w64.own_proof',
        'ours, on P1 Fig 7',
        '5,000 examples: a small initialization with strong decay judges as well after '
        'its own proof as after the right one.',
        RUNS['prontoqa'],
        paired_difference(
            'own_label',
            'right_label',
            ('own proof', 'right proof'),
            SMALL_STRONG.levels,
        ),
        where={'size': 5_000},
        note='a coin: 0.50',
    ),
)
