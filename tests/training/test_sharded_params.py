"""One member whose parameters are spread over devices: the same numbers, less memory.

Stated tolerance: after three steps, float32, every parameter within 2e-5 and every loss
within 1e-5 of the member that is whole on one device. Real processes with 1, 2 and 8
fake devices.
"""

import json

import jax
import numpy as np
import pytest
from jax.sharding import PartitionSpec

from anchorjax.training.forward import compute_logits, forward
from anchorjax.training.members import EVERYWHERE, divide_matrix
from tests.support import cases
from tests.support.sweeps import run_on_devices

_SCRIPT = """
import json, sys
import jax
from anchorjax import api
from anchorjax.sweeps.trainer import get_trainer
from anchorjax.training.devices import make_mesh
from tests.support import cases

for devices, shard in ((1, False), (1, True), (2, True), (8, True)):
    experiment = cases.tiny_gpt2(
        model__width=32, model__remat=devices == 8, task__vocab=64, grid__gamma=(0.5,),
        train__batch_size=16, train__num_steps=3, train__eval_every=3, train__lanes=1,
        train__batch_devices=devices, train__shard_params=shard,
        optimizer__warmup_steps=0, grid__learning_rate=(1e-3,),
    )
    mesh = make_mesh(devices, batch_devices=devices)
    run = api.train(experiment, f'{sys.argv[1]}/{devices}_{shard}', mesh=mesh)
    compiled = get_trainer(experiment, mesh, 1).compile(1)
    leaves = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(run.params()):
        leaves[jax.tree_util.keystr(path)] = leaf.tolist()
    print(json.dumps({
        'devices': devices,
        'params': leaves,
        'loss': run.results.train_loss.values.ravel().tolist(),
        'probe_loss': run.results.probe_loss.values.ravel().tolist(),
        'arguments': compiled.memory_analysis().argument_size_in_bytes,
        'gathers': compiled.as_text().count('all-gather'),
    }))
"""


@pytest.mark.slow
def test_sharded_parameters_train_as_whole_ones(tmp_path):
    printed = run_on_devices(8, _SCRIPT, tmp_path)
    whole, *others = map(json.loads, printed.splitlines())
    assert [sharded['devices'] for sharded in others] == [1, 2, 8]
    for sharded in others:
        for name, expected in whole['params'].items():
            found = sharded['params'][name]
            if name.endswith("['b_K']"):
                continue  # the softmax ignores it: rounding, magnified by Adam
            np.testing.assert_allclose(found, expected, atol=2e-5, err_msg=name)
        for name in ('loss', 'probe_loss'):
            np.testing.assert_allclose(sharded[name], whole[name], atol=1e-5)
        devices = sharded['devices']
        assert (sharded['gathers'] > 0) == (devices > 1)
        # Of the state, only biases, LayerNorms and the short table stay whole.
        most = 1.2 * whole['arguments'] / devices + 25_000
        assert sharded['arguments'] <= (most if devices > 1 else whole['arguments'])


@pytest.mark.parametrize(
    ('shape', 'parts', 'expected'),
    [
        ((8, 24), 4, PartitionSpec(None, 'batch')),
        ((24, 8), 4, PartitionSpec('batch')),
        ((6, 9), 3, PartitionSpec(None, 'batch')),
        ((50257, 1024), 8, PartitionSpec(None, 'batch')),
        ((5, 7), 2, EVERYWHERE),
        ((64,), 2, EVERYWHERE),
        ((), 2, EVERYWHERE),
        ((8, 8), 1, EVERYWHERE),
    ],
)
def test_a_matrix_is_divided_along_its_longest_side_that_allows_it(
    shape, parts, expected
):
    assert divide_matrix(shape, parts) == expected


@pytest.mark.slow
def test_logits_for_training_are_those_of_the_forward_pass():
    for changes in ({}, {'model__remat': True, 'model__depth': 3}):
        experiment = cases.tiny_gpt2(**changes, train__shard_params=True)
        params = cases.random_params(experiment, scale=0.3)
        tokens = np.random.default_rng(0).integers(0, 20, (4, 4))
        for last_only in (True, False):
            expected = forward(experiment, params, tokens, last_only).logits
            found = compute_logits(experiment, params, tokens, last_only)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_blocks_in_a_loop_keep_one_block_for_the_backward_pass():
    sizes = []
    for depth in (3, 12):
        experiment = cases.tiny_gpt2(model__remat=True, model__depth=depth)
        params = cases.random_params(experiment)
        tokens = np.zeros((512, 4), np.int32)

        def loss(params, experiment=experiment, tokens=tokens):
            return compute_logits(experiment, params, tokens, False).var()

        compiled = jax.jit(jax.grad(loss)).lower(params).compile()
        sizes.append(compiled.memory_analysis().temp_size_in_bytes)
    # Each of the nine blocks more keeps its input, 8 numbers a position, and little
    # else.
    stream = 512 * 4 * 8 * 4
    assert (sizes[1] - sizes[0]) / 9 < 2 * stream
