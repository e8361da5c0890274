"""manifest.json: the experiment of a sweep, and the environments of its members.

It is written when the sweep begins. After that only the list of environments may grow,
by one entry whenever the user allows the sweep to continue in a new one.
"""

import dataclasses
import json
import pathlib
import re
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import jax

from anchorjax import config, files, numerics
from anchorjax.errors import ConfigError, CorruptFileError, StoreError, brief
from anchorjax.hashing import digest_json
from anchorjax.storage import locks
from anchorjax.training.devices import name_device

MANIFEST_FORMAT = 6
MANIFEST_FILE = 'manifest.json'
_ABSENT = '(absent)'  # in place of a field; not None, which is a value
_MOST_FILES = 4  # named in one line
_LONGEST_NAME = 40  # characters that a field adds to the name of a folder


@dataclasses.dataclass(frozen=True)
class Environment:
    """What the bits of a member depend on besides the config; plain JSON values.

    The same experiment gives the same bits in equal environments, but for the last ones
    on a GPU, where XLA measures anew which kernels are fastest. The number of hosts is
    not part of it: it does not matter on how many the devices are.
    """

    lanes: int  # members side by side on one device
    devices: int  # along 'member' in the mesh
    batch_devices: int  # devices that share a batch
    platform: str  # 'cpu', 'gpu' or 'tpu'
    precision: str  # of matrix products
    versions: dict[str, str]  # of the libraries that decide bits
    hardware: dict[str, str]
    flags: dict[str, Any]  # of XLA and JAX that change what is computed
    # {path: SHA-256} of what the examples, and weights to start from, are read from
    data: dict[str, str] = dataclasses.field(default_factory=dict)
    # {path: digest} of the sources of tasks, models and training
    code: dict[str, str] = dataclasses.field(default_factory=dict)
    # {'task of cohort NAME': digest} of the programs of own tasks and models; {} before
    # they were recorded
    programs: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def chunk_size(self) -> int:
        """Members that train at the same time, on all devices."""
        return self.lanes * self.devices


class Entry(NamedTuple):
    """One environment of a sweep, and when it was first used."""

    since: str  # ISO 8601 with time zone
    git_commit: str  # of this code; 'unknown' outside a repository
    environment: Environment
    # Its name; not compared. '' of a sweep begun before names were recorded.
    device: str = ''


class Manifest(NamedTuple):
    """The content of manifest.json, checked."""

    experiment: config.Experiment
    chunk_size: int  # members that train together and share a folder
    environments: tuple[Entry, ...]  # in order of appearance


def begin_or_resume(
    workdir: pathlib.Path,
    experiment: config.Experiment,
    environment: Environment,
    allow_change: bool = False,
) -> None:
    """Begins a sweep in a folder, or lists `environment` in the one that is there.

    Args:
      allow_change: continue although this environment is new to the sweep, and record
        it with the time.

    Raises:
      StoreError: the folder holds another experiment or is damaged, or the environment
        is new and not allowed; the line names the first field that differs.
    """
    with locks.hold_folder(workdir, wait=True):
        manifest = find_sweep(workdir, experiment)
        if manifest is None:
            manifest = Manifest(experiment, environment.chunk_size, ())
        known = [entry.environment for entry in manifest.environments]
        if environment in known:
            return
        if known and not allow_change:
            # What was edited before anything was trained with it mixes nothing.
            difference = _find_difference(known[-1], environment)
            may_change = ('code.', 'programs.')
            is_edit = difference is not None and difference[0].startswith(may_change)
            if _has_begun(workdir) or not is_edit:
                refuse_environment(workdir, known[-1], environment)
        entries = (*manifest.environments, _new_entry(environment))
        _write(workdir, manifest._replace(environments=entries))


def find_sweep(workdir: pathlib.Path, experiment: config.Experiment) -> Manifest | None:
    """The manifest of this sweep in a folder; None if none has begun there.

    Raises:
      StoreError: the folder holds another experiment or is damaged; the line names the
        first field that differs.
    """
    if workdir.is_file():
        raise StoreError(f'{workdir}: is a file; give a folder')
    if not (workdir / MANIFEST_FILE).exists():
        return None
    manifest = read_manifest(workdir)
    _require_same(manifest.experiment, experiment, workdir)
    return manifest


def read_manifest(workdir: pathlib.Path) -> Manifest:
    """The manifest of the sweep in a folder.

    Raises:
      StoreError: there is none, or it is altered or of another format.
    """
    path = workdir / MANIFEST_FILE
    if not workdir.exists():
        raise StoreError(f'{workdir}: no such folder')
    if not path.exists():
        raise StoreError(f'{workdir} holds no sweep (no {MANIFEST_FILE})')
    content = files.read_json(path)
    found = content.get('format') if isinstance(content, dict) else None
    if found != MANIFEST_FORMAT:
        line = f'{path}: format {found!r}, this version reads {MANIFEST_FORMAT}'
        raise StoreError(line)
    if content.pop('digest', None) != digest_json(content):
        raise CorruptFileError(f'{path} is altered: its digest differs')
    try:
        values = content['experiment']
        for group, origin in content.get('origins', {}).items():
            config.enter_class(group, values[group]['name'], origin, workdir)
        experiment = config.from_json(values)
    except ConfigError as e:
        raise StoreError(f'{path} holds no valid experiment: {e}') from e
    entries = []
    for entry in content['environments']:
        environment = Environment(**entry['environment'])
        device = entry.get('device', '')
        entries.append(Entry(entry['since'], entry['git_commit'], environment, device))
    return Manifest(experiment, content['chunk_size'], tuple(entries))


def refuse_environment(
    where: pathlib.Path, theirs: Environment | None, ours: Environment
) -> None:
    """Raises StoreError unless the environments, and so the bits, are equal.

    Args:
      where: the folder of the sweep, or of a chunk.
      theirs: the environment that was used last; None if the manifest does not list it.
      ours: the environment of this process.
    """
    difference = _find_difference(theirs, ours)
    if difference is None:
        return
    field, theirs_value, ours_value = difference
    allow = '--allow_numerics_change (in Python: allow_environment_change=True)'
    if field.startswith('code.'):
        raise StoreError(
            f'{where} was last trained with other code: '
            f'{describe_changed_code(theirs, ours)}; use another --workdir, or delete '
            f'this one to begin anew; {allow} mixes both codes (recorded)'
        )
    if field.startswith('programs.'):
        raise StoreError(
            f'{where} was last trained with another {field.removeprefix("programs.")}: '
            'its sources are the same, but not what it computes; put back what it '
            'reads (a file, a variable), or use another --workdir; '
            f'{allow} mixes both (recorded)'
        )
    differs = brief(f'{field} = {theirs_value!r}, this process has {ours_value!r}')
    raise StoreError(
        f'{where} was last trained with {differs}; use another --workdir, or {allow} '
        'to continue with other bits (recorded)'
    )


def describe_changed_code(theirs: Environment | None, ours: Environment) -> str:
    """'a.py, b.py and 3 more files': the sources that differ; '' if none does."""
    known = theirs.code if theirs else {}
    paths = []
    for path in sorted({*known, *ours.code}):
        if known.get(path) != ours.code.get(path):
            paths.append(path)
    if len(paths) <= _MOST_FILES + 1:
        return brief(', '.join(paths))
    named = ', '.join(paths[:_MOST_FILES])
    return brief(f'{named} and {len(paths) - _MOST_FILES} more files')


def compare_programs(
    environments: Iterable[Environment], programs: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """(those that no member was trained with, those of which that cannot be told).

    The same libraries, settings and kind of device alone give a program the same text.
    """

    def list_settings(flags: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in flags.items() if name.startswith('jax')}

    settings, versions = list_settings(numerics.read_flags()), numerics.read_versions()
    ours = (versions, jax.default_backend(), settings)
    comparable = []
    for theirs in environments:
        settings = list_settings(theirs.flags)
        if (theirs.versions, theirs.platform, settings) == ours:
            comparable.append(theirs.programs)
    changed, unknown = [], []
    for name, digest in programs.items():
        known = [program[name] for program in comparable if name in program]
        if not known:
            unknown.append(name)
        elif digest not in known:
            changed.append(name)
    return changed, unknown


def _find_difference(
    theirs: Environment | None, ours: Environment
) -> tuple[str, Any, Any] | None:
    """Where two environments first differ: machine and versions, code, programs.

    Each of these may be why the next ones differ. See `_compare`; a field of the
    code is 'code.anchorjax/grid.py'.
    """
    known = dataclasses.asdict(theirs) if theirs else {}
    own = dataclasses.asdict(ours)
    last = []
    for group in ('code', 'programs'):
        last.append(({group: known.pop(group, {})}, {group: own.pop(group)}))
    for first, second in ((known, own), *last):
        difference = next(_compare(first, second), None)
        if difference is not None:
            return difference
    return None


def _has_begun(workdir: pathlib.Path) -> bool:
    """Whether members of the sweep in a folder were trained, if only a step."""
    return any(workdir.glob('cohorts/*/chunk_*/environments.json'))


def list_differences(
    first: config.Experiment, second: config.Experiment
) -> list[tuple[str, Any, Any]]:
    """('optimizer.b2', 0.999, 0.9): every field that differs, and its two values."""
    values = [_describe(experiment) for experiment in (first, second)]
    return list(_compare(*json.loads(json.dumps(values))))


def _require_same(
    theirs: config.Experiment, ours: config.Experiment, where: pathlib.Path
) -> None:
    differences = list_differences(theirs, ours)
    if not differences:
        return
    field, theirs_value, ours_value = differences[0]
    differs = brief(f'{field} = {theirs_value!r}, the config has {ours_value!r}')
    raise StoreError(
        f'{where} holds a sweep with {differs}; '
        f'use --workdir {_name_sibling(where, field, ours_value)}'
    )


def _describe(experiment: config.Experiment) -> dict:
    """As nested values; a schedule as long as training follows its length."""
    values = config.to_dict(experiment)
    if experiment.optimizer.schedule_steps == experiment.train.num_steps:
        values['optimizer']['schedule_steps'] = 0
    return values


def _name_sibling(where: pathlib.Path, field: str, value: Any) -> pathlib.Path:
    """'runs/phase_b2=0.9': a folder for the sweep in which this field differs."""
    if isinstance(value, list):
        value = ','.join(map(str, value))
    text = re.sub(r'[^\w.,=+-]+', '', f'{field.rpartition(".")[2]}={value}')
    return where.with_name(f'{where.name}_{text[:_LONGEST_NAME]}')


def _compare(theirs: Any, ours: Any, path: str = '') -> Iterator[tuple[str, Any, Any]]:
    """(path of a field, its two values) wherever two JSON values differ."""
    if not (isinstance(theirs, dict) and isinstance(ours, dict)):
        if theirs != ours:
            yield path, theirs, ours
        return
    for key in sorted({*theirs, *ours}):
        inner = f'{path}.{key}' if path else key
        yield from _compare(theirs.get(key, _ABSENT), ours.get(key, _ABSENT), inner)


def _new_entry(environment: Environment) -> Entry:
    since = time.strftime('%Y-%m-%dT%H:%M:%S%z')
    return Entry(since, _git_commit(), environment, name_device(jax.devices()[0]))


def _write(workdir: pathlib.Path, manifest: Manifest) -> None:
    entries = []
    for entry in manifest.environments:
        environment = dataclasses.asdict(entry.environment)
        entries.append(entry._asdict() | {'environment': environment})
    origins = {}
    for group in ('task', 'model'):
        name = config.dotted_name(type(getattr(manifest.experiment, group)))
        if name:
            origins[group] = name
    content = {
        'format': MANIFEST_FORMAT,
        # After a round trip through JSON: with lists for tuples.
        'experiment': json.loads(json.dumps(config.to_dict(manifest.experiment))),
        'origins': origins,
        'chunk_size': manifest.chunk_size,
        'environments': entries,
    }
    digest = digest_json(content)
    files.write_json(workdir / MANIFEST_FILE, {**content, 'digest': digest})


def _git_commit() -> str:
    """The commit of this file; 'unknown' if git does not track it.

    Installed into a user's own project, it lies in a repository of other code.
    """
    git = ['git', '-C', str(pathlib.Path(__file__).parent)]
    is_tracked = [*git, 'ls-files', '--error-unmatch', pathlib.Path(__file__).name]
    describe = [*git, 'describe', '--always', '--dirty']
    try:
        for command in (is_tracked, describe):
            found = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):  # no git, as in a slim container
        return 'unknown'
    return found.stdout.strip()
