"""A run as the page's data: every member's place, numbers and curves, and a look inside it."""

import time
from typing import Any

import numpy as np

from analysis import attention_flow, embedding, phase
from analysis.members.member import Member, member_of
from analysis.members.selection import every, row_axis, usable
from analysis.vectors import order
from anchorjax import config
from anchorjax.config.grid import TRACED_AXES
from anchorjax.errors import UserError
from anchorjax.storage.manifest import read_manifest
from anchorjax.storage.reader import Run, members_table
from anchorjax.tasks import anchors

DIGITS = 4  # of every number on the page


def collect(run: Run, tell) -> dict[str, Any]:
    """All but figures and claims, as `page.render` wants it; `tell` hears of the progress."""
    axes = run.experiment.axes
    members = _members(run, tell)
    return {
        'title': run.experiment.name,
        'created': time.strftime('%Y-%m-%d'),
        'summary': _summary(run, members),
        'unseen': _unseen(run.experiment.task),
        'axes': {axis: list(values) for axis, values in axes.items()},
        'row_axis': row_axis(run),
        'column_axis': 'gamma',
        'probes': run.curves.probe.values.tolist(),
        'mappings': run.curves.mapping.values.tolist(),
        'record_steps': run.curves.step.values.tolist(),
        'members': members,
        'provenance': _provenance(run),
    }


def chosen(run: Run) -> dict[str, dict]:
    """The most inferential member, and the most symmetric one of the same architecture.

    Held-out agreement breaks ties.

    Raises:
      UserError: no member is trained yet.
    """
    there = usable(run)
    if not there.any():
        raise UserError(f'{run.sweep_dir.workdir}: no member is trained yet')
    agreement = run.results.agreement.where(there)
    seen = agreement.sel(probe='seen_heldout', mapping='assigned').fillna(0)
    score = lambda solution: (
        agreement.sel(probe='unseen', mapping=solution) + 1e-3 * seen
    )
    inferential = _point(run, score('inferential'))
    same = {a: v for a, v in inferential.items() if a not in TRACED_AXES}
    return {
        'inferential': inferential,
        'symmetric': inferential | _point(run, score('symmetric').sel(same)),
    }


def _point(run: Run, scores) -> dict[str, Any]:
    """The point of the highest score, with the sweep's own numbers."""
    index = scores.argmax(...)
    axes = run.experiment.axes
    return {axis: axes[axis][int(index[axis])] for axis in axes if axis in index}


def rounded(values) -> Any:
    """Nested lists of numbers of DIGITS digits; None for what is not finite."""
    if isinstance(values, np.ndarray | list | tuple) and np.ndim(values):
        return [rounded(v) for v in values]
    value = float(values)
    return float(f'{value:.{DIGITS}g}') if np.isfinite(value) else None


def _members(run: Run, tell) -> list[dict[str, Any]]:
    """One entry per member, in the order of the grid."""
    all_points, table, found = [p for _, p in every(run)], members_table(run), []
    axes = len(run.experiment.axes)
    names = ('agreement', 'probe_loss', 'train_loss')
    flat = lambda cube: cube.values.reshape(len(all_points), *cube.shape[axes:])
    curves = {name: np.moveaxis(flat(run.curves[name]), 1, -1) for name in names}
    for i, point in enumerate(all_points):
        series = {name: rounded(curves[name][i]) for name in names}
        state, inside = _state(table.iloc[i]), _inside(run, point)
        found.append({'point': point} | state | series | inside)
        if i % 100 == 99:
            tell(f'{i + 1} of {len(all_points)} members')
    return found


def _state(row) -> dict[str, Any]:
    """Status, solution and numbers of one row of `store.table`."""
    scores = row.unseen_inferential, row.unseen_symmetric, row.seen_heldout_assigned
    numbers = {
        'inferential on unseen': scores[0],
        'symmetric on unseen': scores[1],
        'held-out': scores[2],
        'train loss': row.train_loss,
        'held-out loss': row.loss_seen_heldout,
    }
    whole = row.trained and row.diverged < 0
    status = 'trained' if whole else 'not trained'
    status = f'diverged at step {int(row.diverged)}' if row.diverged >= 0 else status
    return {
        'status': status,
        'solution': phase.solution(*scores) if whole else None,
        'numbers': {name: rounded(value) for name, value in numbers.items()},
    }


def _inside(run: Run, point: dict) -> dict[str, Any]:
    """Attention and embedding of a member; None where there is nothing to look into."""
    try:
        member = member_of(run, **point)
        return {'attention': _attention(member), 'embedding': _embedding(member)}
    except UserError:
        return {'attention': None, 'embedding': None}


def _attention(member: Member) -> dict[str, Any]:
    flow = attention_flow.compute(member, number=64)
    return {
        'tokens': flow.tokens_T.tolist(),
        'roles': [flow.role_names[r] for r in flow.roles_T],
        'layers': rounded(flow.Attn_NTT),
        'prediction': flow.prediction,
        'expected': flow.expected,
    }


def _embedding(member: Member) -> dict[str, Any]:
    items = embedding.check_items(
        member.experiment.task, member.matrix(embedding.MATRIX), None
    )
    scores, explained = order.pca(member.matrix(embedding.MATRIX)[items])
    return {
        'values': items.tolist(),
        'xy': rounded(scores[:, :2]),
        'explained': rounded(explained[:2]),
    }


def _unseen(task: anchors.AnchorsConfig) -> dict[str, str]:
    """The pair that is asked, its answers, and why a symmetric network gives the one it gives."""
    pair = task.unseen[0]
    reverse = f'({pair[1]}, {pair[0]})'
    at = anchors.pairs(task).tolist().index(list(pair))
    shift = dict(
        zip(anchors.MAPPINGS, anchors.mapping_shifts(task)[at].tolist(), strict=True)
    )
    words = {m: f'x {"−" if shift[m] < 0 else "+"} {abs(shift[m])}' for m in shift}
    trained = f'the reversed pair {reverse} was trained so'
    because = (
        trained
        if pair[::-1] not in task.unseen
        else f'it treats {reverse} in the same way'
    )
    return {
        'pair': f'({pair[0]}, {pair[1]})',
        'inferential': words['inferential'],
        'symmetric': words['symmetric'],
        'because': because,
    }


def _summary(run: Run, members: list[dict]) -> str:
    count = lambda status: sum(m['status'].startswith(status) for m in members)
    several = {a: v for a, v in run.experiment.axes.items() if len(v) > 1}
    axes = ' × '.join(f'{a} {", ".join(map(str, v))}' for a, v in several.items())
    moved = int((run.results.environments > 1).sum())
    return (
        f'{len(members)} networks, {count("trained")} trained, {count("diverged")} diverged, '
        f'{count("not trained")} not trained; {axes}'
        + (
            f'; {moved} were trained in several environments, one after the other'
            if moved
            else ''
        )
    )


def _provenance(run: Run) -> dict[str, Any]:
    environments = read_manifest(run.sweep_dir.workdir).environments
    return {'experiment': config.to_dict(run.experiment), 'environments': environments}
