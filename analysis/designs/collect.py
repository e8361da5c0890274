"""One table of the members of many runs, from their folders."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analysis.designs import factors, table
from analysis.members.cohorts import select_cohort
from analysis.members.lookup import LEVELS, SCORED, lookup_scores
from analysis.members.solution import classify_members
from analysis.tables.folders import find_run_folders
from anchorjax import config
from anchorjax.errors import UserError
from anchorjax.experiment import Experiment
from anchorjax.storage.reader import Run, members_table, open_run

# Fields of a config that are factors, change no number of a member, or follow from a
# factor in configs/law.py. That they follow is not checked: a run that sets shifts,
# head_dim, mlp_dim or a schedule of its own is not told from one that does not.
_EXPECTED = {
    'name',
    'task.seq_len',
    'task.split',
    'task.noninferential',
    'task.unseen',
    'task.exception',
    'task.last_token',
    'task.anchors',
    'task.shifts',
    'task.num_anchors',
    'task.probe_examples',
    'model.width',
    'model.head_dim',
    'model.mlp_dim',
    'model.depth',
    'model.max_len',
    'optimizer.warmup_steps',
    'optimizer.schedule_steps',
    'train.batch_size',
    'train.num_steps',
    'train.eval_every',
    'train.snapshot_steps',
    'train.resume_every',
    'train.lanes',
    'train.batch_devices',
}


class Collection(NamedTuple):
    """The members of many runs, and what a reader should know of how they differ."""

    members: pd.DataFrame  # see `table.COLUMNS`
    notes: list[str]


def collect_runs(patterns: list[str]) -> Collection:
    """The trained members of all runs whose folders match one of the patterns.

    A member that is in two runs with equal factors is kept once, from the run whose
    name comes first. Runs that are not finished count as far as they are trained.

    Raises:
      UserError: no folder matches, or nothing is trained.
      StoreError: a run is damaged.
    """
    notes = []
    tables = []
    experiments = []
    for folder in find_run_folders(patterns):
        run = open_run(folder)
        members = read_members(run, folder.name)
        trained = members[members.pop('trained')]
        notes.append(f'{folder.name}: {len(trained)} of {len(members)} trained')
        tables.append(trained)
        experiments += _list_experiments(run)
    members = pd.concat(tables, ignore_index=True)
    if members.empty:
        raise UserError(f'--runs {" ".join(patterns)}: no member is trained yet')
    members, repeated = table.drop_repeated(members)
    if repeated:
        notes.append(f'{repeated} members are in two runs and are kept once')
    notes += find_other_differences(experiments)
    return Collection(table.sort_members(members), notes)


def read_members(run: Run, name: str) -> pd.DataFrame:
    """All members of a run with their factors, `trained` and `table.COLUMNS`."""
    members = members_table(run)
    members['solution'] = classify_members(members)
    members['run'] = name
    members['hardware'] = [_name_hardware(run, i) for i in members.environment]
    members = members.rename(columns=table.SOURCES)
    for cohort in run.experiment.cohorts():
        rows = select_cohort(members, cohort)
        experiment = run.experiment.for_cohort(cohort)
        for factor, value in factors.describe_experiment(experiment).items():
            members.loc[rows, factor] = value
        of_cohort = members.gamma[rows]
        offset = factors.measure_qk_offset(experiment, of_cohort)
        members.loc[rows, 'qk_offset'] = offset
        # Here, and not by `score_members`: the factor `exception` has by now replaced
        # the axis of that name, which says what cohort a member is of.
        for seed in experiment.grid.seed:
            of_seed = rows & (members.seed == seed)
            members.loc[of_seed, list(table.LOOKUP)] = _score_table(experiment, seed)
    # Filled cohort by cohort, whole numbers have become floats, and 1000000 is 1e+06.
    for factor in factors.FACTORS:
        members[factor.name] = members[factor.name].astype(factor.kind)
    return members.reindex(columns=['trained', *table.COLUMNS])


def find_other_differences(experiments: list[Experiment]) -> list[str]:
    """One line for each field that differs between cohorts and is not a factor."""
    values = {}
    for experiment in experiments:
        fields = _flatten(config.to_dict(experiment))
        if 'model.own_gammas' in fields:
            fields['model.own_gammas'] = _list_unexpected_gammas(experiment)
        for path, value in fields.items():
            values.setdefault(path, []).append(str(value))
    lines = []
    for path, of_experiments in values.items():
        distinct = sorted(set(of_experiments))
        is_expected = path in _EXPECTED or path.startswith(('grid.', 'loop'))
        if len(distinct) > 1 and not is_expected:
            listed = ' and '.join(distinct)
            lines.append(f'{path} differs between the runs, but is no factor: {listed}')
    return lines


def _list_unexpected_gammas(experiment: Experiment) -> tuple:
    """The parts with a gamma of their own, without W_Q and W_K, which are a factor."""
    own_gammas = factors.list_own_gammas(experiment)
    return tuple(pair for pair in own_gammas if pair[0] != 'qk')


def _list_experiments(run: Run) -> list[Experiment]:
    return [run.experiment.for_cohort(cohort) for cohort in run.experiment.cohorts()]


def _score_table(experiment: Experiment, seed: int) -> list[float]:
    """The values of `table.LOOKUP`."""
    scores = lookup_scores(experiment.task, seed)[LEVELS[-1]]
    return [scores.get(question, np.nan) for question in SCORED.values()]


def _name_hardware(run: Run, environment: int) -> str:
    """'cpu 93ee0ce1' of the last environment a member was trained in."""
    if environment < 0:
        return ''
    recorded = run.folder.environments[environment]
    hardware = recorded.hardware
    which = hardware.get('cpu', hardware.get('device', ''))
    return f'{recorded.platform} {which}'.strip()


def _flatten(tree: dict[str, Any], prefix: str = '') -> dict[str, Any]:
    """The leaves of nested dicts by their dotted paths."""
    leaves = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            leaves |= _flatten(value, f'{prefix}{name}.')
        else:
            leaves[f'{prefix}{name}'] = value
    return leaves
