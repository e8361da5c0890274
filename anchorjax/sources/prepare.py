"""Prepares a data set in a folder, file by file; what is there already is kept."""

import pathlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from anchorjax.errors import UserError
from anchorjax.sources import fetch, own
from anchorjax.sources.catalog import SOURCES, PublicFile
from anchorjax.storage import atomic
from anchorjax.tasks import ProntoqaConfig
from anchorjax.tasks.cogs.files import read_rows
from anchorjax.tasks.prontoqa.files import read_questions
from anchorjax.tasks.scan.files import read_pairs
from anchorjax.tasks.scan.grammar import interpret

OWN, PUBLIC = 'own', 'public'  # values of `source` besides a path
LIST_FILE = 'source.json'

# report(file name, bytes so far, bytes in all or 0)
Report = Callable[[str, int, int], None]


class Prepared(NamedTuple):
    """A file in the prepared folder."""

    name: str
    rows: int
    size: int  # bytes
    is_new: bool  # False: it was there already


def describe(name: str, source: str, questions: ProntoqaConfig) -> str:
    """What will be prepared: its title; also what the folder is known by."""
    title = SOURCES[name].title
    if source != OWN:
        return title
    if name in ('addition', 'scan'):
        return f'{title}, written by our own rules'
    title = f'like {title}, drawn by our own rules, seed {questions.pool_seed}'
    if name == 'prontoqa':
        title += f': {questions.hops} hops, {questions.ontology}, {questions.order}, '
        title += f'distractor {questions.distractor}'
    return title


def prepare(
    name: str,
    out: pathlib.Path,
    source: str,
    questions: ProntoqaConfig,
    report: Report,
) -> Iterator[Prepared]:
    """Prepares the files of a data set, one after the other.

    Args:
      name: a key of SOURCES.
      source: OWN, PUBLIC, or the path of a local folder or file.
      questions: what OWN writes for prontoqa.

    Raises:
      UserError: a file is missing, truncated or another one.
      TemporaryError: a file cannot be fetched for the moment.
    """
    listed = _read_list(out, name, source, questions)
    out.mkdir(parents=True, exist_ok=True)
    if source == OWN:
        files = _write_own(name, out, questions, listed)
    else:
        files = _fetch_all(name, out, source, report)
    for file in files:
        path = out / file.name
        digest = fetch.digest(path.read_bytes())
        listed['files'][file.name] = {'rows': file.rows, 'sha256': digest}
        atomic.write_json(out / LIST_FILE, listed)
        yield file


def _write_own(
    name: str, out: pathlib.Path, questions: ProntoqaConfig, listed: dict
) -> Iterator[Prepared]:
    """Writes the files of a data set by our own rules."""
    writers = {
        'addition': own.write_addition,
        'scan': own.write_scan,
        'cogs': lambda: own.write_cogs(questions.pool_seed),
        'prontoqa': lambda: own.write_prontoqa(questions),
    }
    for file_name, text, rows in writers[name]():
        path = out / file_name
        data = text.encode()
        is_new = not path.is_file() or path.read_bytes() != data
        if is_new and path.exists() and file_name not in listed['files']:
            raise UserError(f'{path}: another file is there; give another --out')
        if is_new:
            atomic.write_text(path, text)
        yield Prepared(file_name, rows, len(data), is_new)


def _fetch_all(
    name: str, out: pathlib.Path, source: str, report: Report
) -> Iterator[Prepared]:
    """Copies or downloads the public files of a data set, and checks what they say."""
    files = SOURCES[name].files
    if not files:
        raise UserError(f'{name}: nothing of it is public; use --source own')
    for file in files:
        path = out / file.name
        is_new = not fetch.is_whole(path, file)
        if is_new and source == PUBLIC:

            def report_file(done: int, total: int, file: PublicFile = file) -> None:
                report(file.name, done, total)

            fetch.download(out, file, report_file)
        elif is_new:
            fetch.copy_local(pathlib.Path(source), out, file)
        rows = _count_rows(name, path)
        if rows != file.rows:
            raise UserError(f'{path}: {rows:,} rows, not {file.rows:,}; truncated?')
        yield Prepared(file.name, rows, path.stat().st_size, is_new)


def _count_rows(name: str, path: pathlib.Path) -> int:
    """The rows of a file, each of which agrees with our own rules."""
    if name == 'prontoqa':
        return len(read_questions(path))
    if name == 'cogs':
        return len(read_rows(path))
    pairs = read_pairs(path)
    for number, (command, actions) in enumerate(pairs, 1):
        if interpret(command) != actions:
            raise UserError(f'{path}, line {number}: other actions than ours')
    return len(pairs)


def _read_list(
    out: pathlib.Path, name: str, source: str, questions: ProntoqaConfig
) -> dict:
    """The list of what is in the folder; UserError if that is something else."""
    title = describe(name, source, questions)
    licence = SOURCES[name].licence
    listed = {'name': name, 'title': title, 'licence': licence, 'files': {}}
    path = out / LIST_FILE
    if not path.exists():
        return listed
    found = atomic.read_json(path)
    is_list = isinstance(found, dict) and isinstance(found.get('files'), dict)
    if not is_list or found.get('title') != title:
        raise UserError(f'{out}: holds another data set; give another --out')
    if name == 'prontoqa' and source == OWN:
        _require_number(out, found['files'], questions)
    return found


def _require_number(out: pathlib.Path, files: dict, questions: ProntoqaConfig) -> None:
    """Raises UserError if the folder has another number of our own questions."""
    number = questions.num_examples + questions.probe_examples
    of_questions = files.get(own.QUESTIONS_FILE)
    found = of_questions.get('rows') if isinstance(of_questions, dict) else None
    if found not in (None, number):
        raise UserError(
            f'{out}: holds {found} questions, not --number {number}; give another --out'
        )
