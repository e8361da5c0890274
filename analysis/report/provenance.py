"""Where the numbers come from: the experiment, and what it was trained on."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from anchorjax import config
from anchorjax.hashing import digest_json
from anchorjax.storage.manifest import Entry, read_manifest
from anchorjax.storage.reader import Run

Rows = list[tuple[str, str]]


class Provenance(NamedTuple):
    """Provenance as the page shows it."""

    command: str | None
    lines: Rows
    groups: list[tuple[str, Rows]]  # a name and the rows that it opens


def collect_provenance(run: Run) -> dict[str, Any]:
    """The experiment and every environment that members were trained in."""
    entries = read_manifest(run.folder.workdir).environments
    found = {'experiment': config.to_dict(run.experiment)}
    for number, entry in enumerate(entries, start=1):
        name = 'environment'
        if len(entries) > 1:
            name = f'environment {number} of {len(entries)}'
        found[name] = _describe_entry(entry)
    return found


def arrange_provenance(provenance: dict[str, Any]) -> Provenance:
    """The command, the single values, and every nested table by its name."""
    lines, groups = {}, []
    for name, value in provenance.items():
        if isinstance(value, dict):
            title = name.replace('_', ' ')
            groups.append((title, list(_flatten(value))))
        elif name != 'command':
            lines[name] = value
    return Provenance(provenance.get('command'), list(_flatten(lines)), groups)


def _describe_entry(entry: Entry) -> dict[str, Any]:
    start = {'since': entry.since, 'git_commit': entry.git_commit}
    environment = dataclasses.asdict(entry.environment)
    # Of some 80 files, which the manifest lists.
    environment['code'] = digest_json(environment['code'])
    if not environment['data']:
        del environment['data']
    return start | environment


def _flatten(tree: dict[str, Any], prefix: str = '') -> Iterator[tuple[str, str]]:
    """(dotted path, value) of every leaf, as on the command line."""
    for name, value in tree.items():
        path = f'{prefix}{name}'
        if isinstance(value, dict) and value:
            yield from _flatten(value, f'{path}.')
        elif isinstance(value, str):
            yield path, value
        else:
            yield path, json.dumps(value, default=str)
