"""The state of sweeps in a few files: it continues elsewhere, and stays in bounds."""

import errno
import io
import pathlib
import tarfile

import pytest

from anchorjax import api
from anchorjax.errors import StoreError
from anchorjax.storage import checkpoint
from anchorjax.storage.portable import pack_state, restore_state
from anchorjax.storage.reader import open_run
from anchorjax.sweeps.signals import Preempted
from anchorjax.training.devices import make_mesh
from tests.support.sweeps import bits, experiment, tree_hash

LIMIT = 2**24


class StopAfter:
    """A should_stop that says so after a number of calls."""

    def __init__(self, calls):
        self.left = calls

    def __call__(self):
        self.left -= 1
        return self.left < 0


@pytest.fixture(scope='module')
def root(tmp_path_factory):
    """Two finished members of a tiny sweep, a third that has begun, and a file."""
    folder = tmp_path_factory.mktemp('root')
    with pytest.raises(Preempted):
        should_stop = StopAfter(13)
        api.train(
            experiment(), folder / 'tiny', mesh=make_mesh(1), should_stop=should_stop
        )
    done = [chunk.folder.done for chunk in open_run(folder / 'tiny').folder.chunks]
    assert done[0] and not done[3]
    (folder / 'rows.json').write_text('[]')
    return folder


def begun(folder):
    """The steps of the newest resume states, by chunk."""
    found = {}
    for chunk in open_run(folder / 'tiny').folder.chunks:
        steps = checkpoint.list_steps(chunk.folder.path / 'resume')
        if steps:
            found[chunk.index] = steps[-1]
    return found


@pytest.mark.slow
def test_a_sweep_continues_elsewhere_to_the_same_bits(root, tmp_path, train_once):
    assert begun(root)
    names = ['tiny', 'absent', 'rows.json']
    left_out = pack_state(root, tmp_path / 'out', LIMIT, names, ['tiny'])
    assert left_out == []
    assert [path.name for path in (tmp_path / 'out').iterdir()] == ['state_1_of_1.tar']
    fresh = tmp_path / 'fresh'
    assert restore_state(tmp_path / 'out', fresh) == ['rows.json', 'tiny']
    assert begun(fresh) == begun(root)
    api.train(experiment(), fresh / 'tiny', mesh=make_mesh(1))
    uninterrupted = train_once('whole').folder.workdir
    assert bits(fresh / 'tiny') == bits(uninterrupted)


def test_it_comes_in_parts_and_earlier_parts_are_removed(root, tmp_path):
    out = tmp_path / 'out'
    pack_state(root, out, LIMIT, ['tiny'], ['tiny'], part_bytes=100_000)
    many = sorted(path.name for path in out.iterdir())
    assert f'state_1_of_{len(many)}.tar' in many and len(many) > 1
    assert all(path.stat().st_size <= 100_000 for path in out.iterdir())
    restore_state(out, tmp_path / 'fresh')
    assert begun(tmp_path / 'fresh') == begun(root)
    pack_state(root, out, LIMIT, ['tiny'])
    assert [path.name for path in out.iterdir()] == ['state_1_of_1.tar']


def test_parts_that_cannot_be_written_leave_the_earlier_ones(
    root, tmp_path, monkeypatch
):
    out = tmp_path / 'out'
    pack_state(root, out, LIMIT, ['tiny'], part_bytes=100_000)
    before = tree_hash(out)
    sizes = []
    write = pathlib.Path.write_bytes

    def fill_the_disk(path, data):
        """A disk with room for one part."""
        sizes.append(len(data))
        if len(sizes) > 1:
            raise OSError(errno.ENOSPC, 'No space left on device')
        return write(path, data)

    with monkeypatch.context() as full:
        full.setattr(pathlib.Path, 'write_bytes', fill_the_disk)
        with pytest.raises(StoreError, match='No space left on device'):
            pack_state(root, out, LIMIT, ['tiny', 'rows.json'], part_bytes=90_000)
    assert len(sizes) == 2 and tree_hash(out) == before
    assert len(list(out.iterdir())) == len(before)  # and nothing beside them
    assert restore_state(out, tmp_path / 'fresh') == ['tiny']


def test_what_is_too_large_stays_behind_with_a_line(root, tmp_path):
    out = tmp_path / 'out'
    limit = 60_000
    lines = pack_state(root, out, limit, ['tiny'], ['tiny'])
    assert any('will be trained anew from step 0' in line for line in lines)
    assert any('the parameters of tiny, all, chunk 1 stay behind' in x for x in lines)
    sizes = [path.stat().st_size for path in out.iterdir()]
    assert sum(sizes) <= limit
    restore_state(out, tmp_path / 'fresh')
    assert begun(tmp_path / 'fresh') == {}
    trained = open_run(tmp_path / 'fresh' / 'tiny').results.trained
    assert trained.equals(open_run(root / 'tiny').results.trained)


def test_a_sweep_that_is_there_already_stays(root, tmp_path):
    pack_state(root, tmp_path / 'out', LIMIT, ['tiny', 'rows.json'])
    (tmp_path / 'here' / 'tiny').mkdir(parents=True)
    (tmp_path / 'here' / 'tiny' / 'mine').write_text('newer')
    assert restore_state(tmp_path / 'out', tmp_path / 'here') == ['rows.json']
    files = sorted(path.name for path in (tmp_path / 'here').iterdir())
    assert files == ['rows.json', 'tiny']
    assert [path.name for path in (tmp_path / 'here' / 'tiny').iterdir()] == ['mine']


def write_tar(folder, member, data=b''):
    """A state of one part that holds one member."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode='w') as tar:
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'state_1_of_1.tar').write_bytes(archive.getvalue())


def make_link(kind):
    member = tarfile.TarInfo('tiny')
    member.type = kind
    member.linkname = '/etc/passwd'
    return member


@pytest.mark.parametrize(
    'member',
    [
        tarfile.TarInfo('../outside'),
        make_link(tarfile.SYMTYPE),
        make_link(tarfile.LNKTYPE),
        make_link(tarfile.FIFOTYPE),
    ],
    ids=['outside', 'symlink', 'hardlink', 'pipe'],
)
def test_what_leads_out_of_the_folder_is_refused(tmp_path, member):
    write_tar(tmp_path / 'out', member)
    before = tree_hash(tmp_path)
    with pytest.raises(StoreError, match='is damaged'):
        restore_state(tmp_path / 'out', tmp_path / 'root')
    assert tree_hash(tmp_path) == before
    assert not list((tmp_path / 'root').iterdir())


def test_a_state_that_is_absent_incomplete_or_cut_is_refused(root, tmp_path):
    out, fresh = tmp_path / 'out', tmp_path / 'fresh'
    with pytest.raises(StoreError, match=r'holds no state \(no state_1_of_N.tar\)'):
        restore_state(out, fresh)
    pack_state(root, out, LIMIT, ['tiny'], part_bytes=100_000)
    parts = sorted(out.iterdir())
    last = parts[-1].read_bytes()
    parts[-1].unlink()
    with pytest.raises(StoreError, match='parts of the state do not match'):
        restore_state(out, fresh)
    parts[-1].write_bytes(last[: len(last) // 2])
    parts[0].write_bytes(b'x' * 100)
    with pytest.raises(StoreError, match='is damaged'):
        restore_state(out, fresh)
    assert not list(fresh.iterdir())
