"""What a sweep's folder says of itself: the experiment, and what its bits hang on.

manifest.json is written when the sweep begins. After that only `environments` may grow, by someone
who allowed it: one entry for each that members were trained in.
"""

import hashlib
import json
import pathlib
import subprocess
import time
from typing import Any, NamedTuple

from anchorjax import config
from anchorjax.errors import ConfigError, StoreError, brief
from anchorjax.storage import atomic, locks

MANIFEST_FORMAT = 3
MANIFEST_FILE = 'manifest.json'
_CHUNK = 2**20  # members of a chunk at most; a slip there is memory
_ABSENT = '(absent)'  # in place of a field; not None, which is a value


class Manifest(NamedTuple):
    """The content of manifest.json, checked."""

    experiment: config.Experiment
    chunk_size: int  # members that train together and share a folder
    environments: list[
        dict[str, Any]
    ]  # since, git_commit, numerics; in order of appearance

    @property
    def numerics(self) -> list[dict[str, Any]]:
        """`sweep.numerics` of every environment."""
        return [environment['numerics'] for environment in self.environments]


def take_up_sweep(
    workdir: pathlib.Path,
    experiment: config.Experiment,
    numerics: dict,
    allow: bool = False,
) -> Manifest:
    """The manifest of a new sweep, or of the one that lies there; `numerics` is in its list.

    Args:
      allow: train on although these numerics are new to the sweep: recorded, with the time.

    Raises:
      StoreError: the folder holds another experiment, is damaged, or the numerics are new and
        not allowed; the line names the first field that differs.
    """
    with locks.hold_results(workdir):
        if not (workdir / MANIFEST_FILE).exists():
            return _begin(workdir, experiment, numerics)
        content = _content(workdir)
        _same(
            content['experiment'],
            _listed(config.to_dict(experiment)),
            workdir,
            'the config',
        )
        if numerics not in (
            known := [entry['numerics'] for entry in content['environments']]
        ):
            if not allow:
                refuse_environment(workdir, known[-1], numerics)
            content['environments'].append(_entry(numerics))
            _write(workdir, content)
    return _manifest(content, workdir)


def read_manifest(workdir: pathlib.Path) -> Manifest:
    """The manifest of the sweep in a folder.

    Raises:
      StoreError: there is none, or it is damaged, altered or of another version.
    """
    if not (workdir / MANIFEST_FILE).exists():
        raise StoreError(f'{workdir} holds no sweep (no {MANIFEST_FILE})')
    return _manifest(_content(workdir), workdir)


def read_experiment(path: pathlib.Path) -> config.Experiment:
    """The experiment of a manifest, or of a JSON file that is nothing but `config.to_dict`.

    Raises:
      StoreError: no such file, or not JSON; ConfigError: not an experiment.
    """
    values = atomic.read_json(path)
    if isinstance(values, dict) and 'experiment' in values:
        values = values['experiment']
    if not isinstance(values, dict):
        raise StoreError(f'{path}: must be the JSON of a config or a manifest')
    return config.from_json(values)


def refuse_environment(where: Any, there: dict, here: dict) -> None:
    """Raises StoreError: bits cannot be promised; names the first field that differs."""
    hint = 'give another --workdir, or --allow_numerics_change to go on with other bits (recorded)'
    _same(there, here, where, 'this machine or environment', hint)


def _begin(
    workdir: pathlib.Path, experiment: config.Experiment, numerics: dict
) -> Manifest:
    layout = numerics['layout']
    content = {
        'format': MANIFEST_FORMAT,
        'experiment': _listed(config.to_dict(experiment)),
        'chunk_size': layout['lanes'] * layout['devices'],
        'environments': [_entry(numerics)],
    }
    _write(workdir, content)
    return _manifest(content, workdir)


def _entry(numerics: dict) -> dict:
    since = time.strftime('%Y-%m-%dT%H:%M:%S%z')
    return {'since': since, 'git_commit': _git_commit(), 'numerics': numerics}


def _write(workdir: pathlib.Path, content: dict) -> None:
    atomic.write_json(workdir / MANIFEST_FILE, {**content, 'digest': _digest(content)})


def _content(workdir: pathlib.Path) -> dict:
    path = workdir / MANIFEST_FILE
    content = atomic.read_json(path)
    found = content.get('format') if isinstance(content, dict) else None
    if found != MANIFEST_FORMAT:
        said = brief(f'format {found!r}')
        raise StoreError(f'{path}: {said}, this version reads {MANIFEST_FORMAT}')
    if content.pop('digest', None) != _digest(content):
        raise StoreError(f'{path} is altered: its digest differs')
    _check_parts(content, path)
    return content


def _check_parts(content: dict, path: pathlib.Path) -> None:
    """The digest keeps out accidents; whoever means harm computes it anew."""
    size, entries = content.get('chunk_size'), content.get('environments')
    entries = entries if isinstance(entries, list) else []
    parts = {
        'experiment': isinstance(content.get('experiment'), dict),
        'chunk_size': type(size) is int and 1 <= size <= _CHUNK,
        'environments': bool(entries) and all(map(_is_entry, entries)),
    }
    for name, good in parts.items():
        if not good:
            said = brief(f'{name} = {content.get(name)!r}')
            raise StoreError(f'{path} is damaged: {said}')


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get('numerics'), dict)


def _manifest(content: dict, workdir: pathlib.Path) -> Manifest:
    try:
        experiment = config.from_json(content['experiment'])
    except ConfigError as e:
        raise StoreError(
            f'{workdir / MANIFEST_FILE} holds no valid experiment: {e}'
        ) from e
    return Manifest(experiment, content['chunk_size'], content['environments'])


def _digest(content: dict) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def _same(
    there: Any, here: Any, where: Any, what: str, hint='give another --workdir', path=''
):
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted({*there, *here}):
            inner = f'{path}.{key}' if path else key
            _same(
                there.get(key, _ABSENT),
                here.get(key, _ABSENT),
                where,
                what,
                hint,
                inner,
            )
    elif there != here:
        differs = brief(f'{path} = {there!r}, {what} has {here!r}')
        raise StoreError(f'{where} holds a sweep with {differs}; {hint}')


def _listed(value: Any) -> Any:
    """The value as JSON gives it back: tuples are lists."""
    return json.loads(json.dumps(value))


def _git_commit() -> str:
    here = str(pathlib.Path(__file__).parent)
    command = ['git', '-C', here, 'describe', '--always', '--dirty']
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or 'unknown'
