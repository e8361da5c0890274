"""What the fit says of a point of the design, and how far the point is outside."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analysis.designs import encoding, factors, outcomes, regression
from analysis.designs.factors import Factor
from analysis.designs.intervals import percentile_interval
from analysis.designs.regression import Fit
from anchorjax.errors import UserError

_NEAREST = 3  # cells to show beside a prediction


class Prediction(NamedTuple):
    """The probabilities of one point."""

    names: tuple[str, ...]
    probability: np.ndarray  # [K]
    low: np.ndarray
    high: np.ndarray
    outside: list[str]  # a line for each factor beyond what was trained
    nearest: list[str]  # a line for each of the nearest cells


def predict_point(
    members: pd.DataFrame, point: dict[str, Any], initialization: str = encoding.GAMMA
) -> Prediction:
    """The prediction of the fit over the members of the point's block.

    Raises:
      UserError: the point lacks a factor of the fit, or there is no fit.
    """
    _require_factors(['exception'], point)
    fit = regression.fit_block(members, point['exception'], initialization)
    if isinstance(fit, str):
        raise UserError(f'--predict: exception = {point["exception"]}: {fit}')
    needed = _name_factors(fit)
    if initialization == encoding.STD and 'width' not in needed:
        needed.append('width')
    _require_factors(needed, point)

    row = pd.DataFrame([point])
    X_1F = encoding.encode(fit.encoding, row)
    probability = regression.predict(fit.weights_KF, X_1F)[0]
    drawn = regression.predict(fit.weights_BKF, X_1F)[:, 0]
    low, high = percentile_interval(drawn)
    converged = outcomes.select_block(members[members.converged], fit.block)
    outside = find_outside(converged, point, initialization)
    nearest = _list_nearest(converged, fit, row)
    return Prediction(fit.names, probability, low, high, outside, nearest)


def format_prediction(prediction: Prediction) -> str:
    """The lines that --predict prints."""
    lines = []
    for k, name in enumerate(prediction.names):
        probability = prediction.probability[k]
        interval = f'[{prediction.low[k]:.2f}, {prediction.high[k]:.2f}]'
        lines.append(f'  {name:12s} {probability:.2f} {interval}')
    if prediction.outside:
        lines.append('  extrapolates, which the intervals do not cover:')
    else:
        lines.append('  every factor is within what was trained')
    for line in prediction.outside:
        lines.append(f'    {line}')
    lines.append('  nearest cells:')
    for line in prediction.nearest:
        lines.append(f'    {line}')
    return '\n'.join(lines)


def find_outside(
    members: pd.DataFrame, point: dict[str, Any], initialization: str = encoding.GAMMA
) -> list[str]:
    """A line for every factor of the point that is beyond those of the members.

    If the initialization counts as a standard deviation, so does gamma here: as the
    gamma of width 64 that has it.
    """
    if initialization == encoding.STD and 'gamma' in point:
        own = encoding.find_equal_std(point['gamma'], point['width'])
        point = point | {'gamma': float(own)}
        equal = encoding.find_equal_std(members.gamma, members.width)
        members = members.assign(gamma=equal)
    lines = []
    for name, value in point.items():
        factor = factors.BY_NAME[name]
        levels = factors.order_levels(factor, members[name])
        if name == factors.NUISANCE:
            continue
        if factor.scale == 'names':
            if value not in levels:
                known = ', '.join(str(level) for level in levels)
                lines.append(f'{factor.title} {value}: trained with {known} alone')
        elif not levels[0] <= value <= levels[-1]:
            lines.append(_describe_distance(factor, value, levels))
    return lines


def _describe_distance(factor: Factor, value: Any, levels: list) -> str:
    """'width 400: trained from 64 to 128, 1.6 doublings away'."""
    lowest = factors.format_level(factor, levels[0])
    highest = factors.format_level(factor, levels[-1])
    scaled = factors.to_scale(factor, [levels[0], value, levels[-1]])
    distance = max(scaled[0] - scaled[1], scaled[1] - scaled[2])
    unit = ' doublings' if factor.scale == 'log2' else ''
    text = factors.format_level(factor, value)
    return (
        f'{factor.title} {text}: trained from {lowest} to {highest}, '
        f'{distance:.2g}{unit} away'
    )


def _require_factors(names: list[str], point: dict[str, Any]) -> None:
    missing = [name for name in names if name not in point]
    if missing:
        raise UserError(
            f'--predict: give {", ".join(missing)}, too: they differ among the members'
        )


def _list_nearest(members: pd.DataFrame, fit: Fit, row: pd.DataFrame) -> list[str]:
    """The cells whose standardized factors are closest to those of the point."""
    names = _name_factors(fit)
    extra = [] if 'width' in names else ['width']  # the encoding may need it
    points = members[[*names, *extra]].drop_duplicates()
    points = points.sort_values(names)
    difference = encoding.encode_mains(fit.encoding, points)
    difference = difference - encoding.encode_mains(fit.encoding, row)
    distance = np.linalg.norm(difference, axis=1)
    nearest = points.iloc[np.argsort(distance, kind='stable')[:_NEAREST]]
    lines = []
    for point in nearest.to_dict('records'):
        cell = members
        for name, value in point.items():
            cell = cell[cell[name] == value]
        reached = cell.solution.value_counts()
        parts = [f'{solution} {number}' for solution, number in reached.items()]
        setting = factors.describe_setting(point, names)
        lines.append(f'{setting}: {", ".join(parts)}')
    return lines


def _name_factors(fit: Fit) -> list[str]:
    """The factors of the fit: 'split' of 'split=random'."""
    names = []
    for main in fit.encoding.mains:
        name, _, _ = main.partition('=')
        if name not in names:
            names.append(name)
    return names
