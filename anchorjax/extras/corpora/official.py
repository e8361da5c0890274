"""The official files of SCAN, COGS and PrOntoQA, and questions like PrOntoQA's."""

import hashlib
import http.client
import json
import pathlib
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import NamedTuple

from anchorjax import files
from anchorjax.errors import TemporaryError, UserError
from anchorjax.tasks import prontoqa
from anchorjax.tasks.prontoqa import ProntoqaConfig
from anchorjax.tasks.prontoqa.files import format_questions
from anchorjax.tasks.prontoqa.texts import write_answer, write_prompt
from anchorjax.tasks.text_files import find_file, read_bytes

_GITHUB = 'https://raw.githubusercontent.com'
_TIMEOUT = 30  # seconds without any byte
_DIGESTS = pathlib.Path(__file__).with_name('official.sha256')


class Official(NamedTuple):
    """A data set whose files are public; commits and digests: DATASETS 11."""

    title: str
    licence: str
    address: str
    files: dict[str, str]  # SHA-256 by path below the address


def _list_files(name: str) -> dict[str, str]:
    """{path below the address: SHA-256} of a data set, in the order of the list."""
    digests = {}
    for line in _DIGESTS.read_text().splitlines():
        digest, place = line.split()
        folder, _, path = place.partition('/')
        if folder == name:
            digests[path] = digest
    return digests


OFFICIAL = {
    'scan': Official(
        'SCAN (Lake & Baroni 2018)',
        'BSD-3-Clause, (c) Facebook: https://github.com/brendenlake/SCAN',
        f'{_GITHUB}/brendenlake/SCAN/c4b756cbc010d75c912f16c42c8f15dc6b7e6c8f',
        _list_files('scan'),
    ),
    'cogs': Official(
        'COGS (Kim & Linzen 2020)',
        'MIT, (c) 2020 najoungkim: https://github.com/najoungkim/COGS',
        f'{_GITHUB}/najoungkim/COGS/165a7b669eade971fa47bf568a2e51925360fed8/data',
        _list_files('cogs'),
    ),
    'prontoqa': Official(
        'PrOntoQA (Saparov & He 2023), the 500 questions of Logic-LM',
        'Apache-2.0 (generator) and MIT (copy): '
        'https://github.com/teacherpeterpan/Logic-LLM',
        f'{_GITHUB}/teacherpeterpan/Logic-LLM/'
        'd29f1e5e7203e8826cb9c41ba3003e43dc0b9d34/data/ProntoQA',
        _list_files('prontoqa'),
    ),
}


def prepare_official(
    name: str, source: pathlib.Path | None, out: pathlib.Path
) -> Iterator[tuple[str, int]]:
    """Copies the files of a data set, or downloads them; (name, bytes) of each.

    Args:
      source: a folder with copies, gzipped or not; None: from their public address.

    Raises:
      UserError: a file is missing or another one, here or in `out`.
      TemporaryError: there is no connection.
    """
    official = OFFICIAL[name]
    for path, digest in official.files.items():
        file_name = pathlib.PurePosixPath(path).name
        address = f'{official.address}/{path}'
        if source is None:
            data, where = _download(address), address
        else:
            where = find_file(source, file_name, f'logic_llm_prontoqa_{file_name}')
            data = read_bytes(where)
        found = hashlib.sha256(data).hexdigest()
        if found != digest:
            raise UserError(
                f'{where}: truncated, or another file than {file_name}: its sha256 is '
                f'{found}'
            )
        write_file(out / file_name, data)
        yield file_name, len(data)


def write_questions(config: ProntoqaConfig, out: pathlib.Path) -> None:
    """Writes the questions of a config as questions.json and texts.jsonl.

    The first is in the official generator's format. A text is a question with its proof
    and judgement, for a language model to be trained on (DATASETS 4.2).
    """
    questions = prontoqa.list_questions(config)
    text = json.dumps(format_questions(questions), indent=1) + '\n'
    write_file(out / 'questions.json', text.encode())
    rows = []
    for question in questions:
        answer = write_answer(question, chain_of_thought=True)
        rows.append(json.dumps({'text': f'{write_prompt(question)} {answer}'}) + '\n')
    write_file(out / 'texts.jsonl', ''.join(rows).encode())


def write_file(path: pathlib.Path, data: bytes) -> None:
    """Writes a file; UserError if another one has its name."""
    if not path.exists():
        files.write_atomic(path, lambda temporary: temporary.write_bytes(data))
    elif path.read_bytes() != data:
        raise UserError(f'{path}: another file is there; give another --out')


def _download(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as response:
            return response.read()
    except (OSError, http.client.HTTPException) as e:
        reason = getattr(e, 'reason', e)
        line = f'{address}: {reason}; a local copy can be --source FOLDER'
        is_missing = isinstance(e, urllib.error.HTTPError) and e.code == 404
        raise (UserError if is_missing else TemporaryError)(line) from None
