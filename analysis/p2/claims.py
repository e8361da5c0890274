"""What P2 says of its synthetic task and of PrOntoQA beside stories (PAPERS 2.2, 2.3).

P2 shows curves and pictures and prints no numbers, so every border is 0: which of two
is larger; of "nearly the same rate" it is ours. That all anchors are orthogonal is a
null, which cannot be proved: that row has no rule.
"""

import numpy as np
import pandas as pd

from analysis import stats
from analysis.changes.crossings import Lag, compare_crossings
from analysis.claims import EARLIER, LESS, MORE, Claim, Rule, above, below, within
from analysis.estimates import (
    Estimate,
    Estimator,
    Group,
    compare_lags,
    compare_moments,
    difference,
    level,
    pair,
    paired_difference,
)
from analysis.p2 import members

INTRODUCTION = (
    'Small initialization is γ 0.8 and large γ 0.3; at width 64, which the '
    "transformer has, that is 0.63 and 0.24 at P2's width of 200, where it shows γ "
    '0.3, 0.5 and 0.8, so that rows of the transformer at γ 0.3 are ours. The '
    'transformer has five anchors of a kind and 15 epochs, P2 ten and 1,000. '
    'Differences and ratios are paired by seed. The moment of a loss is the step at '
    'which it falls below half of ln V; of PrOntoQA and stories, below 0.9 of their '
    'label entropy. The last step stands for a loss that never falls, so that a ratio '
    'is a bound. "Early" is the last snapshot before reasoning is learned '
    '(`analysis/p2/networks.py`), "untrained" the same network before training.'
)
OWN_SIZE = 'memory_reasoning_paper_emb_mlp'  # a run
NEARLY = 2.0  # "the same rate": neither loss takes twice the steps; the border is ours
# Until 2026-11-27 only what earlier seeds had shown had a rule.
AFTERWARDS = 'its rule came when its numbers were known'

SMALL = Group('γ 0.8', {'gamma': 0.8})
LARGE = Group('γ 0.3', {'gamma': 0.3})

tabulate = members.tabulate


def measure_lag(
    table: pd.DataFrame, slow: str, fast: str, slow_group: Group, fast_group: Group
) -> Lag:
    """How many times later the slow moment of a group is than the other's fast one."""
    pairs = pair(table, (slow, slow_group.levels), (fast, fast_group.levels))
    return compare_crossings(pairs.first, pairs.second, table.num_steps.max())


def lag(
    slow: str, fast: str, slow_group: Group = SMALL, fast_group: Group = SMALL
) -> Estimator:
    """How many times later the slow moment is than the fast one: log ratio by seed.

    A bound is nearer to 1 than the ratio, so that it cannot turn the sign.
    """

    def estimate(table: pd.DataFrame) -> Estimate:
        found = measure_lag(table, slow, fast, slow_group, fast_group)
        names = []
        for column, group in ((slow, slow_group), (fast, fast_group)):
            words = column.removeprefix('moment_').replace('_', ' ')
            names.append(f'{group.name} {words}')
        return compare_moments(found, *names)

    return estimate


def lag_grows(slow: str, fast: str) -> Estimator:
    """The `lag` at a small initialization by that at a large one: log ratio by seed.

    A seed that would bound it from above is left out: if the fast moment never comes at
    a small initialization, or the slow one at a large one. The note counts all.
    """

    def estimate(table: pd.DataFrame) -> Estimate:
        lags = []
        notes = []
        for group, needed in ((SMALL, fast), (LARGE, slow)):
            known = table.replace({needed: {np.inf: np.nan}})
            lags.append(measure_lag(known, slow, fast, group, group))
            never = measure_lag(table, slow, fast, group, group).never
            notes.append(f'{group.name} never: {never}')
        found = compare_lags(lags, (SMALL.name, LARGE.name))
        return found._replace(note=', '.join(notes) if len(found.values) else '')

    return estimate


def at_small(
    first: str,
    second: str,
    names: tuple[str, str],
    possible: stats.Possible = stats.COSINE,
) -> Estimator:
    """One column less another, of the networks with a small initialization."""
    return paired_difference(first, second, names, SMALL.levels, possible)


def list_order(
    family: str, source: str, words: str, run: str, source_at_large: str
) -> list[Claim]:
    """Which of reasoning and memory a model learns first, and what it knows in the end.

    Args:
      source_at_large: of the row that compares with a large initialization.
    """
    slow, fast = 'moment_memory', 'moment_reasoning_train'
    return [
        Claim(
            f'{family}.lag',
            source,
            f'{words}: at a small initialization the loss of reasoning falls earlier '
            'than that of memory.',
            (run,),
            lag(slow, fast),
            above(0, EARLIER),
        ),
        Claim(
            f'{family}.lag_grows',
            source_at_large,
            f'{words}: the smaller the initialization, the stronger the bias to '
            'reasoning.',
            (run,),
            lag_grows(slow, fast),
            above(0, EARLIER),
        ),
        Claim(
            f'{family}.sums_or_facts',
            f'ours, on {source}',
            f'{words}: in the end a small initialization knows reasoning better than '
            'memory.',
            (run,),
            at_small('reasoning_train', 'memory', ('reasoning', 'memory'), stats.SHARE),
        ),
    ]


def list_embeddings(family: str, source: str, words: str, run: str) -> list[Claim]:
    """What the cosines of a model's anchors show before reasoning is learned."""
    names = ('rank correlation', 'untrained')
    return [
        Claim(
            f'{family}.order',
            source,
            f'{words}: at a small initialization the cosine of two reasoning anchors '
            'falls with their distance, early.',
            (run,),
            at_small('order_early', 'order_untrained', names),
            below(0, EARLIER),
        ),
        Claim(
            f'{family}.memory_alike',
            source,
            f'{words}: at a small initialization memory anchors are more alike than '
            'reasoning anchors, early.',
            (run,),
            at_small('memory_cosine', 'reasoning_cosine', ('memory', 'reasoning')),
            MORE,
            note=AFTERWARDS,
        ),
    ]


def list_own_size() -> list[Claim]:
    """The rows of the Emb-MLP at P2's size, without rules: the rate is our guess."""
    size, words = "P2's size", 'Emb-MLP, 100 of 1,000 epochs'
    source = f'P2 Fig 3 B, {size}'
    judged = [
        *list_order('p2.fig03.emb_mlp_w200', source, words, OWN_SIZE, source),
        *list_embeddings(
            'p2.fig04.emb_mlp_w200', f'P2 Fig 4 A, {size}', words, OWN_SIZE
        ),
    ]
    claims = []
    for claim in judged:
        rule = claim.rule._replace(day=None) if claim.rule is not None else None
        claims.append(claim._replace(rule=rule, note=''))
    return claims


def list_attention() -> list[Claim]:
    """P2 Fig 6: what the attentions of the transformer do at a small initialization."""
    rows = {
        'attention': (
            'the first attention is nearer to 1/i than rows at random.',
            at_small(
                'attention_distance',
                'attention_random',
                ('distance', 'at random'),
                stats.POSITIVE,
            ),
        ),
        'values': (
            'the first W_V reads reasoning anchors, not memory anchors.',
            at_small('aligned_reasoning', 'aligned_memory', ('reasoning', 'memory')),
        ),
        'key': (
            'the second attention finds the key by its position.',
            at_small('key', 'key_blind', ('key', 'all positions alike')),
        ),
    }
    claims = []
    for name, (sentence, estimate) in rows.items():
        address = f'p2.fig06.transformer.{name}'
        words = f'Transformer: at a small initialization {sentence}'
        runs = ('memory_reasoning',)
        rule = LESS if name == 'attention' else MORE
        claim = Claim(address, 'P2 Fig 6', words, runs, estimate, rule)
        claims.append(claim._replace(note=AFTERWARDS))
    return claims


def list_sources(
    data: str, run: str, source: str, words: str, rule: Rule | None
) -> list[Claim]:
    """PrOntoQA beside stories: the mixture, or the control with merged words.

    Args:
      data: in the address of the claims.
      words: of the control, before every sentence.
      rule: of the mixture, which P2 is about.
    """
    cosines = at_small(
        'cosine_early_stories', 'cosine_early_prontoqa', ('stories', 'PrOntoQA')
    )
    rows = {
        'Fig 1': (
            f'p2.fig01.{data}.earlier',
            'at a small initialization the loss of PrOntoQA falls earlier than that of '
            'stories.',
            lag('moment_stories', 'moment_prontoqa'),
        ),
        'Fig 7 A': (
            f'p2.fig07a.{data}.bias',
            'the smaller the initialization, the larger is Delta L, mean over '
            'training.',
            difference('mean_delta', SMALL, LARGE, stats.ANY),
        ),
        'Fig 7 B': (
            f'p2.fig07b.{data}.cosine',
            'at a small initialization the tokens of stories are more alike than those '
            'of PrOntoQA, early.',
            cosines,
        ),
    }
    claims = []
    for figure, (address, sentence, estimate) in rows.items():
        name = f'{source} {figure}'
        claims.append(Claim(address, name, words + sentence, (run,), estimate, rule))
    return claims


UNIFORM = Group('uniform', {**SMALL.levels, 'setting': 'memory_labels=uniform'})
NEAR = Group('near', {**SMALL.levels, 'setting': 'memory_labels=near'})

# γ 0.3 at width 64 is a larger initialization than any of P2's.
FIG_3A_LARGE = 'ours, on P2 Fig 3 A'

CLAIMS = (
    *list_order(
        'p2.fig03.transformer',
        'P2 Fig 3 A',
        'Transformer',
        'memory_reasoning',
        FIG_3A_LARGE,
    ),
    Claim(
        'p2.fig03.transformer.masked',
        FIG_3A_LARGE,
        'Transformer: a smaller initialization answers more reasoning that was masked.',
        ('memory_reasoning',),
        difference('reasoning_test', SMALL, LARGE),
        above(0, EARLIER),
    ),
    Claim(
        'p2.fig03.transformer.lag_large',
        FIG_3A_LARGE,
        'Transformer: at a large initialization both losses fall at nearly the same '
        'rate.',
        ('memory_reasoning',),
        lag('moment_memory', 'moment_reasoning_train', LARGE, LARGE),
        within(float(np.log(NEARLY)), None),
        note=AFTERWARDS,
    ),
    *list_order(
        'p2.fig03.emb_mlp',
        'P2 Fig 3 B',
        'Emb-MLP',
        'memory_reasoning_emb_mlp',
        'P2 Fig 3 B',
    ),
    *list_embeddings(
        'p2.fig04.emb_mlp', 'P2 Fig 4 A', 'Emb-MLP', 'memory_reasoning_emb_mlp'
    ),
    *list_own_size(),
    *list_embeddings(
        'p2.fig05.transformer', 'P2 Fig 5 A', 'Transformer', 'memory_reasoning'
    ),
    Claim(
        'p2.fig14.emb_mlp.orthogonal',
        'P2 Fig 14',
        'Emb-MLP: at a large initialization the embeddings of all anchors are '
        'orthogonal, late.',
        ('memory_reasoning_emb_mlp',),
        level('abs_cosine_late', Group('mean |cosine|', LARGE.levels), stats.SIZE),
    ),
    Claim(
        'p2.fig04.emb_mlp.label_law',
        'P2 Fig 4 B, C',
        'Emb-MLP: the label law predicts the cosines of all anchors, early.',
        ('memory_reasoning_emb_mlp',),
        at_small('law', 'law_untrained', ('r', 'untrained')),
        above(0, EARLIER),
    ),
    Claim(
        'p2.fig05.one_layer.closed_form',
        'P2 Fig 5 C',
        "One layer, nine tokens: P2's closed form predicts the cosines of reasoning "
        'anchors, early.',
        ('memory_reasoning_one_layer',),
        level('closed_form', Group('r', SMALL.levels), stats.COSINE),
        MORE,
        where={'setting': 'seq_len=9'},
        note=AFTERWARDS,
    ),
    *list_attention(),
    Claim(
        'p2.fig08.transformer.near',
        'P2 Fig 8 left',
        'Memory labels near the key are learned earlier than uniform ones.',
        ('memory_reasoning_near',),
        lag('moment_memory', 'moment_memory', UNIFORM, NEAR),
        above(0, EARLIER),
    ),
    Claim(
        'p2.fig08.transformer.own_range',
        'P2 Fig 8 right',
        'Early answers never leave the range of labels of their group.',
        ('memory_reasoning_groups',),
        level('own_range', Group('lowest share', SMALL.levels)),
    ),
    Claim(
        'p2.sec04.emb_mlp.linear',
        'ours, on P2 Sec 4',
        "Gradient descent: P2's linear equation predicts the embedding for more steps "
        'at a small initialization than at a large one.',
        ('memory_reasoning_flow',),
        difference('frozen_until', SMALL, LARGE, stats.POSITIVE),
    ),
    *list_sources(
        'mixture',
        'reasoning_bias_laptop',
        'P2',
        'Both as they are: ',
        above(0, EARLIER),
    ),
    Claim(
        'p2.fig07a.mixture.counting',
        'ours, on P2 Fig 7 A',
        'Both as they are: at a small initialization Delta L ends above what counting '
        'tokens makes it.',
        ('reasoning_bias_laptop',),
        at_small(
            'last_delta', 'delta_of_counting', ('at the end', 'counting'), stats.ANY
        ),
    ),
    *list_sources(
        'matched', 'reasoning_bias_matched', 'ours, on P2', 'Labels matched: ', None
    ),
)
