"""effects.md: the verdicts, the matched contrasts and the fits, as a page to read."""

import pandas as pd

from analysis.designs import effect_table, factors, outcomes
from analysis.designs.contrasts import Contrast
from analysis.designs.effect_table import HIGHEST, LOWEST
from analysis.designs.judgement import (
    MARGIN,
    MIN_LEVEL_SETTINGS,
    MIN_SETTINGS,
    format_effect,
)
from analysis.designs.regression import MANY_SETTINGS
from analysis.members.statistics import MIN_SEEDS
from analysis.tables.text import format_table

_INTRODUCTION = (
    'Effects are differences of the share of converged members with an outcome, higher '
    'level minus lower. **Matched**: between cells that differ in one factor alone. '
    '**Marginal**: between all settings at one level and all at the other, which '
    'differ in other factors and in the number of steps, too. A setting is all cells '
    'that differ in γ or in the number of steps alone. The outcome `other` holds half '
    'and half, third solutions and the rest. Shares with a star are of the converged '
    'members that are no table (they know at least half of the held-out questions, or '
    'compose), `converged` is of all trained members; `answers` are the mean agreement '
    'of the converged members with a rule on the unseen pair, or with the truth on '
    'held-out questions of seen pairs. Intervals are of 95 %: the '
    "wider of Newcombe's, over members, and a t interval over settings; [-1, +1] with "
    f'fewer than {MIN_SEEDS} members.',
    'A hypothesis holds if its intervals are on the expected side of 0, is opposite if '
    f'they are on the other, and does not hold if they lie within {MARGIN:g} of 0 and '
    'there is room for a larger effect. '
    f'Matched cells of {MIN_SETTINGS} settings decide, or else the marginal contrast '
    f'with {MIN_LEVEL_SETTINGS} settings at either level, with {MIN_SEEDS} seeds of a '
    'setting (the median over settings); all else is undecided. Each interval has 95 % '
    'by itself: they are not corrected for the number of hypotheses.',
)


def format_effects(
    members: pd.DataFrame,
    verdicts: pd.DataFrame,
    effects: pd.DataFrame,
    scores: pd.DataFrame,
    coefficients: pd.DataFrame,
    remarks: list[str],
) -> str:
    """The page; `remarks` say what a fit cannot tell apart, or why there is none."""
    lines = ['# The law: what decides the solution', '', *_describe_members(members)]
    for paragraph in _INTRODUCTION:
        lines += ['', paragraph]
    lines += ['', '## Verdicts', '', _format_verdicts(verdicts)]
    for block, of_block in effects.groupby('block', sort=False):
        if block == effect_table.ALL:
            title = 'kinds of exception'
        else:
            title = outcomes.name_block(block)
        lines += ['', f'## Contrasts: {title}', '', *_format_block(of_block)]
    lines += ['', '## Does a fit predict what was left out?', '']
    lines += _format_scores(scores)
    lines += ['', '## Coefficients of the fits', '']
    lines += _format_coefficients(coefficients)
    for remark in remarks:
        lines += ['', f'{remark}.']
    return '\n'.join(lines) + '\n'


def format_verdicts(verdicts: pd.DataFrame) -> str:
    """verdicts.md: the hypotheses, what was measured and the verdicts, a row each."""
    rows = []
    for row in verdicts.to_dict('records'):
        text = f'{row["hypothesis"]} ({row["name"]})'
        rows.append([text, row['measured'], f'**{row["verdict"]}**'])
    return format_table(['hypothesis', 'measured', 'verdict'], rows) + '\n'


def _describe_members(members: pd.DataFrame) -> list[str]:
    """How many members there are and what they share."""
    varying = factors.list_varying(members)
    shared = [name for name in factors.NAMES if name not in varying]
    converged = int(members.converged.sum())
    lines = [
        f'{len(members)} trained members, {converged} of them converged; the other '
        f'{len(members) - converged} count for nothing but `converged`.',
        '',
    ]
    if shared:
        setting = factors.describe_setting(members.iloc[0], shared)
        lines.append(f'The same everywhere: {setting}.')
    listed = ', '.join(factors.BY_NAME[name].title for name in varying)
    lines.append(f'Varied: {listed or "nothing"}.')
    return lines


def _format_verdicts(verdicts: pd.DataFrame) -> str:
    rows = []
    for row in verdicts.to_dict('records'):
        verdict = f'**{row["verdict"]}**'
        texts = [row['name'], row['hypothesis'], row['measured'], row['null']]
        rows.append([*texts, verdict, row['note']])
    header = ['', 'hypothesis', 'measured', 'null', 'verdict', 'note']
    return format_table(header, rows)


def _format_block(effects: pd.DataFrame) -> list[str]:
    """A row per factor, method and pair of levels, a column per outcome."""
    named = [name for name in effects.outcome.unique() if name]
    header = ['factor', 'method', 'from', 'to', *named]
    header += ['cells', 'settings', 'members']
    table = []
    missing = []
    pairs = effects.groupby(['factor', 'method', 'lower', 'upper'], sort=False)
    for (factor, method, lower, upper), rows in pairs:
        title = factors.BY_NAME[factor].title
        by_outcome = _read_contrasts(rows)
        first = next(iter(by_outcome.values()))
        if all(contrast.sets == 0 for contrast in by_outcome.values()):
            missing.append(f'{title}, {method}: {first.note}')
            continue
        texts = [title, method, lower, upper]
        for name in named:
            texts.append(format_effect(by_outcome.get(name, Contrast())))
        texts += [str(first.sets), str(first.settings)]
        texts.append(f'{first.members_lower} and {first.members_upper}')
        table.append(texts)
    lines = [
        format_table(header, table),
        '',
        f'`{LOWEST}`, `{HIGHEST}`: of each matched set. Cells, settings and '
        f'members: of the first outcome; effects.csv has all.',
    ]
    if missing:
        lines += ['', f'Without an estimate: {"; ".join(missing)}.']
    return lines


def _read_contrasts(rows: pd.DataFrame) -> dict[str, Contrast]:
    """The contrasts of some rows by their outcomes."""
    by_outcome = {}
    for row in rows.to_dict('records'):
        fields = [row[name] for name in Contrast._fields]
        by_outcome[row['outcome']] = Contrast(*fields)
    return by_outcome


def _format_scores(scores: pd.DataFrame) -> list[str]:
    if scores.empty:
        return ['There is no fit.']
    introduction = (
        'Each cell (or setting: all gammas) is predicted from the others. The null '
        'predicts the shares of the others. Gain: log loss of the null minus that of '
        'the fit, a mean over settings; if its interval covers 0, the fit predicts '
        'nothing. '
        'The initialization counts by gamma, or by the standard deviation that it '
        'gives (std).'
    )
    header = ['block', 'left out', 'initialization', 'members', 'log loss', 'null']
    header += ['accuracy', 'null', 'gain', 'verdict']
    rows = []
    for row in scores.to_dict('records'):
        left_out = f'{row["left_out"]} ({row["groups"]})'
        texts = [outcomes.name_block(row['block']), left_out, row['initialization']]
        texts.append(str(row['members']))
        for name in ('log_loss', 'null_log_loss', 'accuracy', 'null_accuracy'):
            texts.append(f'{row[name]:.2f}')
        texts.append(f'{row["gain"]:+.2f} [{row["low"]:+.2f}, {row["high"]:+.2f}]')
        texts.append(row['verdict'])
        rows.append(texts)
    return [introduction, '', format_table(header, rows)]


def _format_coefficients(coefficients: pd.DataFrame) -> list[str]:
    if coefficients.empty:
        return ['There is no fit.']
    introduction = (
        'Log odds of the second outcome against the first for one standard deviation '
        'of a factor, L2-penalized, with intervals from a bootstrap over settings. All '
        'factors but gamma, depth and names are on a scale of doublings. Bold: the '
        f'interval leaves out 0, the fit is of at least {MANY_SETTINGS} settings, two '
        f'levels of the factor (of a product: all four combinations) have at least '
        f'{MIN_LEVEL_SETTINGS}, and no other factor goes with it. These are '
        'associations within the design, no effects of one factor alone.'
    )
    header = ['block', 'step', 'factor', 'log odds', 'interval']
    rows = []
    for row in coefficients.to_dict('records'):
        interval = f'[{row["low"]:+.2f}, {row["high"]:+.2f}]'
        is_sure = row['low'] > 0 or row['high'] < 0
        is_sure &= row['settings'] >= MANY_SETTINGS
        is_sure &= row['level_settings'] >= MIN_LEVEL_SETTINGS
        is_sure &= not row['is_confounded']
        value = f'{row["log_odds"]:+.2f}'
        texts = [outcomes.name_block(row['block']), row['step'], row['column']]
        texts += [f'**{value}**' if is_sure else value, interval]
        rows.append(texts)
    return [introduction, '', format_table(header, rows)]
