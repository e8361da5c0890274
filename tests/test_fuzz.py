"""Whatever is wrong with a config, a manifest or a checkpoint: one clear line, or the right result.

Never a traceback, a hang or a silent difference. The examples are the same in every run.
"""

import json
import math
import os
import pathlib
import re

import fuzzing
import jax
import pytest
import tiny
from conftest import bits, experiment, opened, trained
from fuzzing import BYTES, NUMBERS, SCALARS, TEXTS, VALUES, refused_or_right
from hypothesis import given
from hypothesis import strategies as st
from test_resume import stopped

from anchorjax import (
    checkpoint,
    config,
    digests,
    manifest,
    models,
    records,
    sharding,
    store,
    sweep,
    sweepdir,
    tasks,
    trainer,
)
from anchorjax.chunk import Chunk
from anchorjax.errors import ConfigError, StoreError

ONE = {'grid__gamma': (0.5,), 'grid__seed': (3,)}  # one member, one chunk
TINY = config.to_dict(experiment())
GROUPS = ('task', 'model', 'optimizer', 'train', 'grid')
FIELDS = [(g, f) for g in GROUPS for f in TINY[g]]

# Configs


def scaled(value):
    """Numbers ten, or a million million times what is there, with its type."""
    factors = st.sampled_from((0.1, 0.5, 2, 10, 1000, 10**12))
    if isinstance(value, tuple):
        return factors.flatmap(lambda _: st.tuples(*map(scaled, value)))
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return factors.map(lambda f: type(value)(value * f)) if number else st.just(value)


LOOPS = st.lists(
    st.tuples(
        st.sampled_from([f'{g}.{f}' for g, f in FIELDS]) | st.sampled_from(TEXTS),
        st.lists(VALUES, max_size=3).map(tuple) | st.just(tuple(range(1, 400))),
    ),
    max_size=3,
).map(tuple)
SCALED = st.sampled_from(FIELDS).flatmap(lambda w: st.tuples(st.just(w), scaled(TINY[w[0]][w[1]])))
OTHER = st.one_of(
    st.tuples(st.sampled_from(FIELDS), VALUES),
    st.tuples(st.sampled_from(FIELDS), st.just(tuple(range(1000)) * 2)),
    st.tuples(st.tuples(st.sampled_from(GROUPS), st.sampled_from(TEXTS)), SCALARS),
    st.tuples(st.sampled_from([(g,) for g in (*GROUPS, 'name', 'loop', 'extra', 'x\n')]), VALUES),
    st.tuples(st.just(('loop',)), LOOPS),
    st.tuples(st.just(('grid', 'seed')), st.integers(1, 5000).map(lambda n: tuple(range(n)))),
    st.tuples(st.sampled_from([*FIELDS, *((g,) for g in GROUPS)]), st.just('missing')),
)


CHANGES = st.booleans().flatmap(lambda mild: SCALED if mild else OTHER)


def changed(values: dict, path: tuple, value) -> dict:
    """A copy in which the value at a path is another one, or 'missing'."""
    first, *rest = path
    if rest:
        inner = values.get(first)
        return values | {first: changed(inner if isinstance(inner, dict) else {}, rest, value)}
    left = {k: v for k, v in values.items() if k != first}
    return left if value == 'missing' else left | {first: value}


def require_valid(e: config.Experiment) -> None:
    """It can be written, planned, and its names are folders."""
    assert config.from_json(json.loads(json.dumps(config.to_dict(e)))) == e
    rows, cohorts = e.record_steps, e.cohorts()
    assert rows[-1] == e.train.num_steps and len(rows) <= 10**5 + 1
    members = sum(cohort.size for cohort in cohorts)
    assert members == math.prod(map(len, e.axes.values())) <= 10**5
    for name in (e.name, *(cohort.name for cohort in cohorts)):
        assert name.isprintable() and 0 < len(name.encode()) <= 200
        assert pathlib.PurePath(name).name == name != '..'
    assert tasks.make(e.task).num_train >= e.train.batch_size


def test_a_changed_config_is_one_line_or_valid():
    outcomes = []

    @fuzzing.fuzz(150)
    @given(st.lists(CHANGES, min_size=1, max_size=2))
    def fuzzed(changes):
        values = TINY
        for path, value in changes:
            values = changed(values, path, value)
        with refused_or_right():
            outcomes.append('refused')
            made = config.from_dict(values)
            require_valid(made)
            outcomes[-1] = 'valid'

    fuzzed()
    assert min(outcomes.count(o) for o in ('refused', 'valid')) >= 20


ODD = [
    *('0x' + 'f' * 5000, '(' * 5000, '[' * 90 + ']' * 90, '-' * 5000, '9' * 5000, '1,' * 2000),
    *('{}', '{1: 2}', '{"a": 1}', '{1, 2}', "b'x'", '1j', '...', '0.3,0.5'),
]
WORDS = st.one_of(
    st.sampled_from((*TEXTS, *ODD)),
    st.sampled_from([str(n) for n in NUMBERS if n != 10**400]),
    VALUES.map(lambda v: ascii(v)[:5000]),
    st.text(max_size=20),
)


def test_overrides_of_any_text_are_one_line_or_valid():
    named = st.sampled_from(['.'.join(w) for w in FIELDS] + ['name', 'loop', 'grid', 'grid.x'])

    @fuzzing.fuzz(100)
    @given(st.lists(st.tuples(named | st.text(max_size=9), WORDS), min_size=1, max_size=2))
    def fuzzed(words):
        made = tiny.get_config()
        with refused_or_right():
            for path, text in words:
                config.override(made, path, text)
            require_valid(config.resolve(made))

    fuzzed()


@pytest.mark.parametrize(
    ('changes', 'line'),
    [
        ({'train__num_steps': 10**12}, 'train.num_steps = 1000000000000: must be at most'),
        (
            {'train__num_steps': 10**9, 'train__eval_every': 1},
            'train.eval_every = 1: must be large enough that the curves have at most 100,000 rows',
        ),
        ({'model__width': 10**9}, 'model.width = 1000000000: must be at least 1, at most 65,536'),
        ({'grid__seed': tuple(range(10**5))}, 'grid = 200000: must be at most 100,000 members'),
        ({'loop': (('model.width', tuple(range(1, 1003))),)}, 'loop = 1002: must be at most 1,000'),
        ({'name': '../../x'}, "name = '../../x': must be at most 100 of A-Z"),
        ({'task__holdout': 1e308}, 'task.holdout = 1e+308: must be at most 3e+38 in size'),
        ({'optimizer__schedule_steps': 10**12}, 'optimizer.schedule_steps = 1000000000000'),
    ],
)
def test_what_would_hang_is_refused_with_its_bound(changes, line):
    with pytest.raises(ConfigError) as caught:
        experiment(**changes)
    assert line in str(caught.value)


# Manifests


@pytest.fixture(scope='module')
def begun(tmp_path_factory) -> pathlib.Path:
    """A sweep of which nothing but the manifest is there."""
    folder = tmp_path_factory.mktemp('begun') / 'run'
    opened(folder)
    return folder


def taken(folder: pathlib.Path, numerics: dict) -> list:
    """What every reader of the manifest says: a result, or None when it was refused in a line."""
    readers = (
        lambda: manifest.read(folder),
        lambda: manifest.experiment_of(folder / manifest.NAME),
        lambda: seen(store.open(folder)),
        lambda: manifest.read(folder) and sweepdir.create(folder, experiment(), numerics).known,
    )
    found = []
    for reader in readers:
        found.append(None)
        with refused_or_right(folder):
            found[-1] = reader()
    return found


def seen(run: store.Run) -> dict:
    """Sizes of the results, and that nothing of the sweep lies elsewhere."""
    home = run.sweep_dir.workdir
    for piece in run.sweep_dir.chunks[:3]:
        assert piece.chunk.folder.resolve().parents[2] == home.resolve()
    with refused_or_right(home):
        run.params(**{axis: values[0] for axis, values in run.experiment.axes.items()})
    return dict(run.results.sizes)


def require_nothing_outside(folder: pathlib.Path) -> None:
    assert [p.name for p in folder.parent.iterdir()] == [folder.name]
    assert {p.name for p in folder.iterdir()} <= {manifest.NAME, '.lock'}


def test_damaged_bytes_of_a_manifest_are_found(begun):
    path, e = begun / manifest.NAME, experiment()
    data, numerics = path.read_bytes(), sweep.numerics(e, sharding.mesh(1))
    right, differences = taken(begun, numerics), []

    @fuzzing.fuzz(80)
    @given(BYTES)
    def fuzzed(mutation):
        path.write_bytes(fuzzing.damaged(data, mutation))
        found = taken(begun, numerics)
        found.pop(1), (expected := list(right)).pop(1)  # reads any JSON of a config
        assert all(f in (None, r) for f, r in zip(found, expected, strict=True))
        differences.append(found != expected)
        require_nothing_outside(begun)

    try:
        fuzzed()
    finally:
        path.write_bytes(data)
    assert sum(differences) > 40


def places(value, path=()) -> list[tuple]:
    """Paths to everything in a JSON value."""
    if not isinstance(value, dict | list):
        return [path]
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(p for k, v in inner for p in places(v, (*path, k)))]


def replaced(value, path: tuple, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    if new == 'missing' and len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


NESTED = json.loads('[' * 300 + ']' * 300)
JSON = st.one_of(
    VALUES, st.just('missing'), st.just(NESTED), st.sampled_from([{}, [], {'x\n': 1}, [[]], 1000])
)


@pytest.mark.parametrize('forged', [False, True])
def test_other_values_in_a_manifest_are_refused_or_a_valid_sweep(begun, forged):
    path, e = begun / manifest.NAME, experiment()
    text, numerics = path.read_text(), sweep.numerics(e, sharding.mesh(1))
    right, content = manifest.read(begun), json.loads(text)

    @fuzzing.fuzz(80)
    @given(st.sampled_from(places(content)), JSON)
    def fuzzed(place, new):
        forgery = replaced(content, place, new)
        if forged and isinstance(forgery, dict):
            forgery.pop('digest', None)
            forgery['digest'] = manifest._digest(forgery)
        try:
            path.write_text(json.dumps(forgery))
        except ValueError:  # a number of 400 digits or a lone surrogate
            return
        found, *_ = taken(begun, numerics)
        assert forged or found in (None, right)
        require_nothing_outside(begun)

    try:
        fuzzed()
    finally:
        path.write_text(text)


# Checkpoints


@pytest.fixture(scope='module')
def halted(tmp_path_factory):
    """(folder, its piece of work, what load_resume needs) of a sweep stopped at step 30 of 40."""
    folder = tmp_path_factory.mktemp('halted') / 'run'
    stopped(folder, 3)
    there, mesh = opened(folder, **ONE)
    piece, e = there.chunks[0], there.experiment
    hparams = sharding.place(sweep.chunk_hparams(piece.cohort, 0, 1), mesh, 1)
    state = sharding.placement(jax.eval_shape(trainer.of(e, mesh, 1).init, hparams), 1, mesh, 1)
    rows, shapes = len(e.record_steps), records.shapes(tasks.make(e.task))
    curves = [jax.ShapeDtypeStruct((rows, 1, *s), 'float32') for s in shapes]
    return folder, piece, {'state': state, 'curves': records.Record(*curves)}


@pytest.fixture(scope='module')
def whole(tmp_path_factory) -> pathlib.Path:
    """A finished sweep of one member."""
    return trained(tmp_path_factory.mktemp('whole') / 'run', **ONE).sweep_dir.workdir


ACCIDENTS = st.tuples(
    st.integers(0, 10**6),  # which file
    st.one_of(BYTES, st.sampled_from(['remove', 'folder', 'fifo', 'link']), st.integers(0, 10**6)),
)


# What is read of a chunk: the newest state, the parameters, the curves.
READ = r'/(30|40)/(tree/(d/|ocdbt|manifest)|digests/metadata)|curves\.npz'


def accident(folder: pathlib.Path, number: int, what) -> None:
    """Damages one file below a folder, one with data mostly; a number swaps it with another one."""
    there = fuzzing.files_below(folder)
    there += [p for p in there if re.search(READ, str(p))] * 2
    path = there[number % len(there)]
    if isinstance(what, tuple):
        path.write_bytes(fuzzing.damaged(path.read_bytes(), what))
    elif isinstance(what, int):
        other = there[what % len(there)]
        data = path.read_bytes()
        path.write_bytes(other.read_bytes()), other.write_bytes(data)
    else:
        path.unlink()
        special = {'folder': path.mkdir, 'link': lambda: path.symlink_to('/dev/zero')}
        special['fifo'] = lambda: os.mkfifo(path)
        special.get(what, lambda: None)()


def test_a_damaged_state_is_never_taken_for_a_good_one(halted, tmp_path_factory):
    _, piece, abstract = halted
    chunk, warned = piece.chunk, []
    good = {
        step: digests.of(checkpoint.load(chunk.folder / 'resume', step, abstract))
        for step in checkpoint.steps(chunk.folder / 'resume')
    }
    assert list(good) == [20, 30]
    copy = tmp_path_factory.mktemp('copy')

    @fuzzing.fuzz(60)
    @given(ACCIDENTS)
    def fuzzed(damage):
        there = fuzzing.copied(chunk.folder, copy / 'chunk')
        accident(there, *damage)
        lines, one = [], Chunk(copy, there)
        with refused_or_right(copy):
            found = one.load_resume(abstract, lines.append)
            assert found is None or digests.of(found[1]) == good[found[0]]
            assert len(lines) == [30, 20, None].index(found and found[0])
            one.numerics()
        for line in lines:
            fuzzing.require_line(line, copy)
        warned.append(bool(lines))

    fuzzed()
    assert 0 < sum(warned) < 60  # which file is hit hangs on names that Orbax draws


def test_a_damaged_result_is_never_taken_for_a_good_one(whole, tmp_path_factory):
    right = store.open(whole)
    (piece,), cube, e = right.sweep_dir.chunks, right.curves, right.experiment
    shapes = models.abstract_params(e.model, e.task.vocab)
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct((1, *x.shape), x.dtype), shapes)
    good = digests.of(piece.chunk.load_snapshot(40, shapes))
    member = digests.of(right.params())
    copy, refused = tmp_path_factory.mktemp('copy'), []

    @fuzzing.fuzz(60)
    @given(ACCIDENTS)
    def fuzzed(damage):
        there = fuzzing.copied(whole, copy / 'run')
        accident(there / 'cohorts', *damage)
        run = store.open(there)
        chunk = run.sweep_dir.chunks[0].chunk
        refused.append(True)
        with refused_or_right(copy):
            assert digests.of(run.params()) == member
            assert digests.of(chunk.load_snapshot(40, shapes)) == good
            refused[-1] = False
        with refused_or_right(copy):
            assert run.curves.equals(cube) or not (chunk.done or run.results.trained.any())

    fuzzed()
    assert 0 < sum(refused) < 60  # likewise


ENGINE = [  # a file below the chunk (by a part of its path), what befalls it
    ('resume/30/tree', ('flip', 0.5, 1)),
    ('resume/30/digests/metadata', ('empty', 0.0, 1)),
    ('resume/30/_CHECKPOINT_METADATA', ('truncate', 0.5, 1)),
    ('resume/30/digests/metadata', 'folder'),
    ('resume/20/tree', 'fifo'),
    ('numerics.json', ('truncate', 0.5, 1)),
]


@pytest.mark.slow
@pytest.mark.parametrize(('part', 'what'), ENGINE)
def test_the_engine_goes_on_from_a_damaged_state_with_the_same_bits(
    halted, whole, tmp_path, part, what
):
    folder, piece, _ = halted
    there = fuzzing.copied(folder, tmp_path / 'run')
    chunk = there / piece.chunk.folder.relative_to(folder)
    named = [i for i, p in enumerate(fuzzing.files_below(chunk)) if part in str(p)]
    accident(chunk, named[0], what)
    lines = []
    with refused_or_right(tmp_path):
        trained(there, warn=lines.append, **ONE)
        assert bits(there) == bits(whole)
    for line in lines:
        fuzzing.require_line(line, tmp_path)


def test_curves_of_another_sweep_are_named(whole, tmp_path):
    there = fuzzing.copied(whole, tmp_path / 'run')
    path = store.open(there).sweep_dir.chunks[0].chunk.folder / 'curves.npz'
    arrays = dict(store.files.read_arrays(path))
    wrong = [
        {k: v for k, v in arrays.items() if k != 'agreement'},
        arrays | {'agreement': arrays['agreement'][:-1]},
        arrays | {'train_loss': arrays['train_loss'].astype('float64')},
        arrays | {'numerics': arrays['numerics'] + 5},
        arrays | {'steps': arrays['steps'] + 1},
        arrays | {'x\n': arrays['steps']},
    ]
    for one in wrong:
        store.files.write_arrays(path, one)
        with pytest.raises(StoreError, match=r'curves.npz is damaged .* delete it') as caught:
            _ = store.open(there).results
        fuzzing.require_line(caught.value, tmp_path)


def test_an_axis_of_tuples_is_labelled_by_their_text(tmp_path):
    pairs = (((4, 3),), ((3, 4),))
    there, _ = opened(tmp_path, loop=(('task.unseen', pairs),))
    assert store.finalize(there).results.unseen.values.tolist() == [str(p) for p in pairs]
    assert store.open(tmp_path).at(unseen=pairs[1], gamma=0.3, seed=0).task.unseen == pairs[1]
