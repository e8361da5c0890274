"""Does a regression on the factors predict the solution of a network?

A multinomial logistic regression (scikit-learn), with an L2 penalty that keeps it
finite where one factor decides alone. Every setting counts equally, however many
networks it has. Lengths, batches, rates, decays, widths and numbers of anchors count in
doublings, and γ by the standard deviation that it gives: as the γ of width 400.
"""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from analysis import stats
from analysis.law import members as law_members
from analysis.law.members import FACTORS, NAMES, SETTING, TRAINED
from analysis.members.columns import equivalent_gamma
from analysis.spectra import single_thread
from analysis.tables.text import format_table
from anchorjax.config.schema import literal_or_text
from anchorjax.errors import UserError, nearest
from anchorjax.limits import check_value

SOLUTIONS = ('memorizing', 'symmetric', 'inferential', 'other')
MIN_SETTINGS = 4  # fewer say nothing of a setting that is left out
REPLICATES = 200  # of the bootstrap over settings, for the intervals of a prediction
PENALTY = 1.0  # of the squared coefficients of standardized factors
# Pairs whose products are columns, too, if both factors vary.
PRODUCTS = (
    ('gamma', 'batch_size'),
    ('gamma', 'seq_len'),
    ('batch_size', 'seq_len'),
    ('gamma', 'weight_decay'),
)
_LINEAR = ('depth', 'qk_offset')  # all other numbers count in doublings
_LEAST_DECAY = 1e-3  # stands for 0 on a scale of doublings
_ABOUT = (
    'Each cell (at any number of steps), or setting (all γ), is predicted from the '
    'others. The null predicts the shares of the others. Gain: log loss of the null '
    "less that of the fit, a mean over settings with Student's interval. All networks "
    'count, by their solution. '
    'The fit says nothing of one factor alone: few settings have batch 2048, the '
    'official split comes with nine tokens only, and lengths differ in rate and decay.'
)


def find_solutions(members: pd.DataFrame) -> pd.Series:
    """The one of SOLUTIONS of every member; the symmetric one only where it exists."""
    is_kept = members.solution.isin(SOLUTIONS)
    is_kept &= (members.solution != 'symmetric') | (members.exception == TRAINED)
    return members.solution.where(is_kept, 'other')


def measure_factors(members: pd.DataFrame) -> pd.DataFrame:
    """The factors on their scales; names have a column for every level but the first.

    The exception is left out, since a fit is of one kind, and so is the number of steps
    of training, which follows from how fast a setting converges.
    """
    columns = {}
    for name, factor in FACTORS.items():
        values = members[name]
        if name in ('exception', 'num_steps'):
            continue
        if name == 'gamma':
            columns[name] = equivalent_gamma(values, members.width)
        elif factor.levels:
            for level in factor.levels[1:]:
                columns[f'{name}={level}'] = values == level
        elif name in _LINEAR:
            columns[name] = values
        elif name == 'weight_decay':
            columns[name] = np.log2(values.clip(lower=_LEAST_DECAY))
        else:
            columns[name] = np.log2(values)
    return pd.DataFrame(columns).astype(float)


def weigh_settings(members: pd.DataFrame) -> pd.Series:
    """A weight per member that gives every setting the same, of mean 1."""
    size = members.groupby(SETTING).seed.transform('size')
    settings = members.groupby(SETTING).ngroups
    return len(members) / settings / size


def fit_and_predict(
    members: pd.DataFrame, weights: pd.Series, asked: pd.DataFrame
) -> pd.DataFrame:
    """Probabilities [asked, SOLUTIONS] by a fit over the members."""
    solutions = find_solutions(members)
    factors = measure_factors(members)
    factors = factors.loc[:, factors.nunique() > 1]
    if solutions.nunique() == 1 or not len(factors.columns):
        return predict_shares(members, weights, asked)
    scale = StandardScaler().set_output(transform='pandas')
    regression = LogisticRegression(C=1 / PENALTY, solver='newton-cg')
    model = make_pipeline(scale, FunctionTransformer(_add_products), regression)
    model.fit(factors, solutions, logisticregression__sample_weight=weights)
    found = model.predict_proba(measure_factors(asked)[factors.columns])
    table = pd.DataFrame(found, asked.index, model.classes_)
    return table.reindex(columns=SOLUTIONS, fill_value=0.0)


def predict_shares(
    members: pd.DataFrame, weights: pd.Series, asked: pd.DataFrame
) -> pd.DataFrame:
    """The null: the weighted shares of the solutions, for whatever is asked."""
    shares = weights.groupby(find_solutions(members)).sum() / weights.sum()
    shares = shares.reindex(SOLUTIONS, fill_value=0.0)
    return pd.DataFrame([shares] * len(asked), asked.index)


@single_thread
def score_block(members: pd.DataFrame, keys: list[str]) -> dict[str, Any]:
    """How well a fit over one kind of exception predicts what it has not seen.

    Args:
      keys: what is left out at a time is all members with the same values of these.

    Returns:
      log loss and accuracy of the fit and of the null, means over settings; `gain` is
      the null's loss less the fit's, with its interval `low` to `high`.
    """
    members = members.reset_index(drop=True)
    solutions = find_solutions(members)
    groups = members.groupby(keys).ngroup()
    fitted = []
    nulls = []
    for group in groups.unique():
        rest, asked = members[groups != group], members[groups == group]
        weights = weigh_settings(rest)
        fitted.append(fit_and_predict(rest, weights, asked))
        nulls.append(predict_shares(rest, weights, asked))
    scores = {}
    for prefix, parts in (('', fitted), ('null_', nulls)):
        found = pd.concat(parts).sort_index()
        scores[f'{prefix}log_loss'] = _measure_loss(found, solutions)
        scores[f'{prefix}accuracy'] = found.idxmax(axis=1) == solutions
    by_setting = pd.DataFrame(scores).groupby([members[key] for key in SETTING]).mean()
    gain = stats.mean_interval(by_setting.null_log_loss - by_setting.log_loss)
    row = {'networks': len(members), 'groups': groups.nunique(), **by_setting.mean()}
    return row | {'gain': gain.mean, 'low': gain.low, 'high': gain.high}


def score(members: pd.DataFrame) -> pd.DataFrame:
    """A row per kind of exception and per way to leave out; none with few settings."""
    rows = []
    for block in law_members.list_blocks(members):
        of_block = members[members.exception == block]
        if of_block.groupby(SETTING).ngroups < MIN_SETTINGS:
            continue
        # Not NAMES: the fit cannot tell cells apart that differ in their steps alone.
        for left_out, keys in (('cell', [*SETTING, 'gamma']), ('setting', SETTING)):
            row = {'block': block, 'left_out': left_out}
            rows.append(row | score_block(of_block, keys))
    return pd.DataFrame(rows)


def format_scores(scores: pd.DataFrame) -> str:
    """The scores as Markdown, with a heading."""
    lines = ['## Does a fit predict what was left out?', '', _ABOUT, '']
    if not len(scores):
        return '\n'.join([*lines, f'Fewer than {MIN_SETTINGS} settings: no fit.', ''])
    header = ['', 'left out', 'networks', 'log loss', 'null', 'accuracy', 'null']
    rows = []
    for row in scores.itertuples():
        texts = [law_members.name_block(row.block), f'{row.left_out} ({row.groups})']
        texts.append(str(row.networks))
        losses = (row.log_loss, row.null_log_loss)
        for number in (*losses, row.accuracy, row.null_accuracy):
            texts.append(f'{number:.2f}')
        texts.append(stats.format_mean(stats.Mean(row.gain, row.low, row.high)))
        rows.append(texts)
    return '\n'.join([*lines, format_table([*header, 'gain'], rows), ''])


@single_thread
def predict_point(members: pd.DataFrame, point: dict[str, Any]) -> str:
    """What the fit says of a point of the design, and where it extrapolates.

    Raises:
      UserError: the point lacks a factor of the fit, or there is nothing to fit.
    """
    members = members[members.exception == point.get('exception')]
    if members.groupby(SETTING).ngroups < MIN_SETTINGS:
        line = f'exception = {point.get("exception")!r}: fewer than {MIN_SETTINGS}'
        raise UserError(f'--predict: {line} settings')
    needed = {*law_members.list_varying(members), 'width'} - {'num_steps'}
    missing = sorted(needed - set(point))
    if missing:
        line = f'give {", ".join(missing)}, too'
        raise UserError(f'--predict: {line}: they differ among the members')
    fixed = members.iloc[0][NAMES].to_dict()
    asked = pd.DataFrame([fixed | point])
    weights = weigh_settings(members)
    found = fit_and_predict(members, weights, asked).iloc[0]
    drawn = _bootstrap(members, weights, asked)
    ends = drawn.quantile([(1 - stats.LEVEL) / 2, (1 + stats.LEVEL) / 2])
    lines = []
    for solution in SOLUTIONS:
        low, high = ends[solution]
        lines.append(f'{solution:12s} {found[solution]:.2f} [{low:.2f}, {high:.2f}]')
    return '\n'.join(lines + find_outside(members, point))


def find_outside(members: pd.DataFrame, point: dict[str, Any]) -> list[str]:
    """A line for every factor of the point beyond what was trained."""
    lines = []
    for name, value in point.items():
        values = members[name]
        if FACTORS[name].levels:
            is_outside = value not in set(values)
            known = f'with {", ".join(sorted(set(values)))} alone'
        else:
            is_outside = not values.min() <= value <= values.max()
            ends = map(law_members.format_level, (values.min(), values.max()))
            known = f'from {" to ".join(ends)}'
        if is_outside and name != 'num_steps':
            text = f'{FACTORS[name].title} {law_members.format_level(value)}'
            lines.append(f'extrapolates: {text}, trained {known}')
    return lines


def parse_point(text: str) -> dict[str, Any]:
    """The values of factors in 'seq_len=9, split=code'.

    Raises:
      UserError: a factor is unknown, or its value cannot be read.
    """
    point = {}
    for part in text.split(','):
        name, _, word = part.strip().partition('=')
        if name not in FACTORS:
            line = f'unknown factor {name!r}, {nearest(name, NAMES)}'
            raise UserError(f'--predict: {line}')
        value = literal_or_text(word)
        point[name] = check_value(value, FACTORS[name].hint, f'--predict: {name}')
    return point


def _add_products(factors: pd.DataFrame) -> pd.DataFrame:
    products = {}
    for first, second in PRODUCTS:
        if first in factors and second in factors:
            products[f'{first} × {second}'] = factors[first] * factors[second]
    return factors.assign(**products)


def _measure_loss(found: pd.DataFrame, solutions: pd.Series) -> pd.Series:
    """-log of the probability of what happened, after adding one member of each kind.

    A solution that the rest does not have would cost infinitely much otherwise.
    """
    number, kinds = found.shape
    places = np.arange(number), found.columns.get_indexer(solutions)
    smoothed = (number * found.to_numpy()[places] + 1) / (number + kinds)
    return pd.Series(-np.log(smoothed), found.index)


def _bootstrap(
    members: pd.DataFrame, weights: pd.Series, asked: pd.DataFrame
) -> pd.DataFrame:
    """Probabilities [replicate, SOLUTIONS] of fits to settings drawn again."""
    setting = members.groupby(SETTING).ngroup()
    number = setting.max() + 1
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(REPLICATES):
        times = np.bincount(rng.integers(number, size=number), minlength=number)
        times_drawn = setting.map(pd.Series(times))
        is_drawn = times_drawn > 0
        weight = weights[is_drawn] * times_drawn[is_drawn]
        drawn.append(fit_and_predict(members[is_drawn], weight, asked))
    return pd.concat(drawn)
