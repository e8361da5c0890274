"""The training segment compiles for a TPU, on a machine without one."""

import pathlib

import numpy as np
import pytest
from jax.experimental import topologies
from jax.sharding import AxisType, Mesh

from anchorjax import config
from anchorjax.sweeps.trainer import Trainer

CONFIGS = pathlib.Path('configs').resolve()


@pytest.mark.slow
@pytest.mark.parametrize(
    ('name', 'precision'),
    [('phase.py', 'bfloat16'), ('paper_size.py:pair', 'tensorfloat32')],
)
def test_a_segment_compiles_for_a_tpu(name, precision, monkeypatch):
    pytest.importorskip('libtpu', reason="pip install -e '.[tpu-compile]'")
    monkeypatch.setenv('TPU_SKIP_MDS_QUERY', '1')  # there is no such machine to ask
    monkeypatch.delenv('XLA_FLAGS')  # libtpu aborts at those for a CPU (conftest.py)
    chip = topologies.get_topology_desc('v5e:2x2', platform='tpu').devices[0]
    axes = (AxisType.Auto,) * 2
    mesh = Mesh(np.array([[chip]]), ('member', 'batch'), axis_types=axes)
    c = config.load(f'{CONFIGS}/{name}')
    c.model.width, c.model.head_dim, c.model.mlp_dim = 16, 16, 32
    c.train.batch_size, c.task.eval_examples = 64, 16
    c.train.precision, c.train.lanes = precision, 2
    experiment = config.resolve(c)
    of_cohort = experiment.for_cohort(experiment.cohorts()[0])
    program = Trainer(of_cohort, mesh, lanes=2).compile(2)
    assert program.memory_analysis().temp_size_in_bytes > 0
