"""Every preset of every config resolves; shrunk, it runs.

What compiles is slow, so one preset is run of each task and of each model. For each
choice of each field a step is traced; numbers but 0 are one choice.
"""

from collections.abc import Callable
from typing import Any

import ml_collections
import numpy as np
import pytest

from anchorjax import api, config
from anchorjax.sweeps.cost import count_step
from anchorjax.training.devices import make_mesh
from tests.support.sweeps import ROOT, list_specs

SPECS = list_specs()


def shrink(c: ml_collections.ConfigDict) -> ml_collections.ConfigDict:
    """Two members of one cohort, two segments, everything small that costs time."""
    smaller = {
        'num_examples': 640,
        'eval_examples': 16,
        'num_sequences': 20,
        'num_heldout': 4,
        'hops': 1,
    }
    for field, size in smaller.items():
        if field in c.task:  # a task may always have all its examples
            c.task[field] = size
    for field in ('path', 'story_path', 'reasoning_path'):
        if field in c.task:  # the files may not be on this machine
            c.task[field] = ''
    if c.task.name == 'corpus':  # the bundled sample is short
        c.task.update(num_examples=40, seq_len=16)
    if c.task.name == 'mixture':  # the bundled stories have few words
        c.task.vocab = 1_792
    if 'start' in c.model and c.model.start:  # then there is no gamma
        c.model.update(start='', start_rows=())
        c.grid.gamma = (0.3, 0.5)
    sizes = {'depth': 1, 'width': 8, 'head_dim': 4, 'mlp_dim': 8, 'heads': 2}
    for field, size in sizes.items():
        # Not every model has all of them: of GPT-2 the last two follow from the others.
        if field in c.model:
            c.model[field] = min(c.model[field], size)
    c.train.update(batch_size=4, num_steps=4, eval_every=2)
    c.train.update(snapshot_steps=(0, 2), resume_every=0.0, lanes=2, batch_devices=1)
    c.optimizer.update(warmup_steps=2, schedule_steps=0)
    c.static_axes = tuple((path, values[:1]) for path, values in c.static_axes)
    if 'task.num_examples' in dict(c.static_axes):
        c.static_axes = ()
    for axis in ('learning_rate', 'weight_decay'):
        c.grid[axis] = c.grid[axis][:1]
    c.grid.gamma = c.grid.gamma[-2:]
    c.grid.seed = c.grid.seed[: 3 - len(c.grid.gamma)]
    if c.grid.decay_window != ((),):
        c.grid.decay_window = ((1, 3),)
    return c


def test_every_preset_resolves_and_has_a_name_of_its_own():
    names = [config.resolve(config.load(spec)).name for spec in SPECS]
    assert len(set(names)) == len(SPECS)


def test_presets_of_gpt2_have_its_size_and_what_the_paper_states():
    """PAPERS 1.6: GPT-2 small, and of SCAN and COGS the settings of P1's code."""
    for name in ('addition', 'cogs', 'prontoqa', 'scan'):
        spec = str(ROOT / 'configs' / f'{name}.py:gpt2')
        resolved = config.resolve(config.load(spec))
        model = resolved.model
        assert (model.depth, model.width, model.heads) == (12, 768, 12)
        decays = (0.01, 0.5) if name == 'addition' else (0.01, 0.1)
        assert resolved.grid.weight_decay == decays
        assert resolved.grid.gamma == (0.5, 0.7)
        assert resolved.grid.learning_rate == (5e-5,)
        is_of_code = resolved.task.name in ('scan', 'cogs')
        assert (model.fan == 'out') == is_of_code
        assert (model.embed_init == 'fixed') == is_of_code
        assert model.residual_init == ('overwritten' if is_of_code else 'plain')
        if is_of_code:
            assert resolved.train.batch_size == 7 * 20
            assert resolved.task.loss_on == 'answer_and_padding'


def name_choice(value: Any) -> str:
    """A word or a flag, or whether there is a number or a tuple of numbers."""
    return repr(value) if isinstance(value, str | bool) else str(bool(value))


def name_program(c: ml_collections.ConfigDict) -> set[tuple]:
    return {('task', c.task.name), ('model', c.model.name)}


def list_choices(c: ml_collections.ConfigDict) -> set[tuple]:
    """(task or model, field, value) of all that may change the program of a preset."""
    owners = {'task': c.task.name, 'model': c.model.name, 'optimizer': 'optimizer'}
    choices = {('grid', c.grid.decay_window != ((),))}
    for group, owner in owners.items():
        for field, value in c[group].items():
            choices.add((owner, field, name_choice(value)))
    for path, (value, *_) in c.static_axes:
        group, _, field = path.partition('.')
        choices.add((owners[group], field, name_choice(value)))
    return choices


def choose_presets(describe: Callable[[ml_collections.ConfigDict], set]) -> list[str]:
    """Presets that have all kinds together, when shrunk; first who adds most."""
    rest = {spec: describe(shrink(config.load(spec))) for spec in SPECS}
    presets = []
    while any(rest.values()):
        chosen = max(rest, key=lambda spec: len(rest[spec]))
        presets.append(chosen)
        known = rest[chosen]
        rest = {spec: kinds - known for spec, kinds in rest.items()}
    return presets


@pytest.mark.slow
def test_every_choice_of_every_field_has_a_training_step():
    for spec in choose_presets(list_choices):
        shrunk = config.resolve(shrink(config.load(spec)))
        assert count_step(shrunk).operations > 0, spec


@pytest.mark.slow
@pytest.mark.parametrize(
    'spec', choose_presets(name_program), ids=lambda spec: spec.split('/')[-1]
)
def test_its_training_runs_shrunk(spec, tmp_path):
    shrunk = config.resolve(shrink(config.load(spec)))
    run = api.train(shrunk, tmp_path, mesh=make_mesh(1))
    assert int(run.results.trained.sum()) == 2
    assert np.isfinite(run.curves.agreement).all()
    assert np.isfinite(run.curves.train_loss).all()
