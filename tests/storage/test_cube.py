"""The cube holds cohorts whose eval sets and groups differ."""

import numpy as np
import pytest

from anchorjax import api, files
from anchorjax.storage import cube
from anchorjax.storage.reader import Run
from anchorjax.tasks.anchors import AnchorsConfig
from anchorjax.tasks.memory_reasoning import MemoryReasoningConfig
from anchorjax.tasks.mixture import MixtureConfig
from anchorjax.tasks.scan import ScanConfig
from anchorjax.training.curves import empty_record
from tests.support import sweeps
from tests.support.sweeps import copy_folder

# Two steps, no snapshots: what is tested is how the numbers are read.
BRIEF = {
    'optimizer__warmup_steps': 0,
    'train__num_steps': 2,
    'train__eval_every': 2,
    'train__snapshot_steps': (),
    'grid__gamma': (0.5,),
}


@pytest.mark.slow
def test_cohorts_with_other_unseen_pairs_and_lengths_share_a_cube(tmp_path):
    experiment = sweeps.experiment(
        task__split='random',
        model__max_len=5,
        **BRIEF,
        grid__seed=(0,),
        static_axes=(('task.unseen', (((4, 3), (3, 4)), ())), ('task.seq_len', (4, 5))),
    )
    run = api.train(experiment, tmp_path)
    results = run.results.squeeze()
    assert results.eval_set.values.tolist()[2:] == ['unseen', 'unseen_34']
    assert results.group.values.tolist() == ['at_0', 'at_1', 'at_2']
    both_unseen, none_unseen = results.unseen.values
    known = np.isfinite(results.agreement_by_group.isel(mapping=0))
    has_34 = known.sel(eval_set='unseen_34', group='at_0')
    assert not has_34.sel(unseen=none_unseen).any()
    assert has_34.sel(unseen=both_unseen).all()
    at_the_end = known.sel(eval_set='unseen', group='at_2').sel(unseen=both_unseen)
    assert not at_the_end.sel(seq_len=4) and at_the_end.sel(seq_len=5)

    table = run.members
    is_asked = table.unseen != none_unseen
    assert table.unseen_34_composed.isna().sum() == 2
    assert ((table.unseen_answer != '') == is_asked).all()
    assert (table.unseen_answer_share.notna() == is_asked).all()
    assert table.unseen_composed_at_2.isna().sum() == 3
    assert set(table.solution) == {'not converged'}


@pytest.mark.parametrize('base', [(), ((4, 3),)])
def test_the_columns_are_those_of_all_cohorts_whatever_the_base_is(tmp_path, base):
    static_axes = (('task.unseen', ((), ((4, 3),))),)
    changes = {
        'task__unseen': base,
        'task__noninferential': (),
        'static_axes': static_axes,
    }
    folder, _ = sweeps.opened(tmp_path, **changes)  # not trained: only the columns
    table = Run(folder).members
    assert {'unseen_answer', 'unseen_composed_at_0'} <= set(table.columns)


TASKS = {
    'anchors': (AnchorsConfig(), ['seen_train']),
    'prompts are trained': (ScanConfig(loss_on='answer_and_padding'), ['seen_train']),
    'two kinds': (MemoryReasoningConfig(), ['memory', 'reasoning_train']),
    'two sources': (MixtureConfig(), ['prontoqa', 'stories']),
}
# (losses on training examples at three records, the share of right tokens at the end,
# the first step that was not finite) -> has it converged?
JUDGED = {
    'low at the end': ([5.0, 1.0, 0.01], 0.99, -1, True),
    'low before': ([5.0, 0.001, 0.03], 0.99, -1, False),
    'not a number': ([5.0, 1.0, np.nan], 0.0, -1, False),
    'diverged': ([5.0, 1.0, 0.01], 0.99, 2, False),
    'nothing is scored': ([0.0, 0.0, 0.0], 0.0, -1, False),
}


@pytest.mark.parametrize('judged', JUDGED)
@pytest.mark.parametrize('name', TASKS)
def test_convergence_is_judged_by_training_examples_at_the_last_step(name, judged):
    config, eval_sets = TASKS[name]
    losses, right, diverged, expected = JUDGED[judged]
    task = config.make()
    curves = empty_record(task, 3, 1)._asdict()
    curves['train_loss'][:] = 0.0  # a mean over steps, which decides nothing
    curves['eval_set_loss'][:] = 9.0
    curves['token_agreement'][:] = 0.0
    for eval_set in eval_sets:
        place = task.eval_set_names.index(eval_set)
        curves['eval_set_loss'][:, 0, place] = losses
        curves['token_agreement'][:, 0, place] = right
    curves['diverged'] = np.array([diverged])
    np.testing.assert_allclose(cube.measure_fit(curves, task)[:, 0], losses)
    assert cube.has_converged(curves, task, limit=0.02).tolist() == [expected]


def test_a_task_without_eval_sets_of_training_examples_is_judged_by_its_train_loss():
    task = AnchorsConfig().make()._replace(trained_eval_sets=())
    curves = empty_record(task, 2, 2)._asdict()
    curves['train_loss'][-1] = [0.01, 0.03]
    curves['diverged'] = np.array([-1, -1])
    assert cube.has_converged(curves, task, limit=0.02).tolist() == [True, False]


@pytest.mark.slow
def test_a_divergence_in_the_last_update_is_flagged(tmp_path):
    """Its loss and gradient were finite; what its parameters answer is not."""
    changes = BRIEF | {'train__num_steps': 1, 'train__eval_every': 1}
    changes |= {'grid__learning_rate': (1e-3, 2e38), 'grid__seed': (0,)}
    changes |= {'optimizer__shape': 'constant', 'optimizer__floor': 0.0}
    run = api.train(sweeps.experiment(**changes), tmp_path)
    assert np.isfinite(run.results.train_loss).all()
    assert run.members.diverged.tolist() == [-1, 1]
    assert not run.members.converged[1]


def test_an_environment_that_is_come_back_to_counts_once(one_member, tmp_path):
    workdir = copy_folder(one_member, tmp_path / 'run')
    (chunk,) = api.open(workdir).folder.chunks
    arrays = chunk.folder.read_curves()
    assert arrays['environments'].tolist() == [[0, 0]]
    twice = np.array([[0, 0], [10, 0]], np.int32)
    path = chunk.folder.path / 'curves.npz'
    files.write_arrays(path, {**arrays, 'environments': twice})
    assert api.open(workdir).results.environments.values.item() == 1
