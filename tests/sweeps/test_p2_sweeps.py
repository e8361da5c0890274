"""P2's task trains with every model, resumes, and is read by its own names."""

import numpy as np
import pytest

from analysis.first_look import summarize_members
from analysis.members.member import member_of
from anchorjax import api
from anchorjax.training.devices import make_mesh
from tests.support.p2_tasks import make_experiment

FIELDS = {
    'train__num_steps': 6,
    'train__eval_every': 2,
    'train__snapshot_steps': (0, 2),
    'train__lanes': 1,
    'train__resume_every': 0.0,
    'grid__gamma': (0.3, 0.8),
    'task__memory_anchors': (20, 24),
    'task__label_ranges': ((5, 8), (5, 12)),
    'task__vocab': 24,
}
MATRICES = {
    'emb_mlp': 'W_1',
    'one_layer': 'block_0/W_V',
    'transformer': 'block_1/W_V',
}


@pytest.mark.slow
@pytest.mark.parametrize('name', ['emb_mlp', 'one_layer', 'transformer'])
def test_a_sweep_trains_and_is_read_by_its_own_names(name, tmp_path):
    experiment = make_experiment(name, **FIELDS)
    run = api.train(experiment, tmp_path, mesh=make_mesh(1))
    agreement = run.results.agreement
    assert agreement.eval_set.values.tolist() == [
        'memory',
        'reasoning_train',
        'reasoning_test',
    ]
    assert run.curves.eval_set_loss.sizes['step'] == 3
    assert np.isfinite(run.curves.eval_set_loss).all()
    by_group = run.results.agreement_by_group.sel(mapping='assigned')
    assert by_group.group.values.tolist() == ['labels_5_7', 'labels_5_11', 'reasoning']
    is_asked = np.isfinite(by_group.sel(eval_set='memory').isel(gamma=0)).squeeze()
    assert is_asked.values.tolist() == [True, True, False]
    table = run.members
    assert {'loss_memory', 'memory_assigned', 'reasoning_test_sum'} <= set(table)
    heading = summarize_members(run).splitlines()[0].split()
    eval_sets = ['memory', 'reasoning_train', 'reasoning_test']
    assert heading == ['gamma', 'loss', *eval_sets, 'converged']
    member = member_of(run, gamma=0.8, step=2)
    assert member.matrix(MATRICES[name]).ndim == 2
    assert member.forward(member.eval_sets.tokens_PBT[0]).logits.shape == (16, 5, 24)
    roles_BT = member.roles(member.eval_sets.tokens_PBT[0])
    assert (roles_BT == 0).sum() == 16  # one key in every sequence
