"""A folder of prompts: what is asked, of which config, and which answers count.

  settings.json    the experiment of the config, and how the prompts were drawn
  prompts.jsonl    a line per prompt: id, prompt, answers under every mapping
  replies/*.jsonl  a file per model: id, reply

Whoever reads prompts.jsonl draws the prompts again from settings.json and compares, so
that replies to other prompts are not scored by mistake.
"""

import dataclasses
import json
import pathlib
from typing import Any, NamedTuple

from anchorjax import config
from anchorjax.config.consistency import check_name
from anchorjax.config.grid import Cohort
from anchorjax.errors import ConfigError, StoreError, UserError, brief, require
from anchorjax.prompts.equations import draw_questions, write_prompt
from anchorjax.storage import atomic
from anchorjax.tasks.anchors_config import AnchorsConfig

SETTINGS_FILE = 'settings.json'
PROMPTS_FILE = 'prompts.jsonl'
REPLIES_FOLDER = 'replies'
_FORMAT = 1


class Prompt(NamedTuple):
    """One question to a language model, and where its answer belongs."""

    id: str
    cohort: str  # its name: the static values of the task
    seed: int
    probe: str
    asked: tuple[int, int, int]  # first anchor, second anchor, key item
    prompt: str
    answers: dict[str, int]  # by mapping


class PromptSet(NamedTuple):
    """All prompts of a config."""

    experiment: config.Experiment  # its loop has the axes of the task alone
    number: int  # of questions for each probe, cohort and seed
    shots: int  # equations of every trained pair
    instruct: bool

    def cohorts(self) -> tuple[Cohort, ...]:
        return self.experiment.cohorts()

    def list_prompts(self) -> list[Prompt]:
        """All prompts, in a fixed order."""
        prompts = []
        for cohort in self.cohorts():
            task = self.experiment.for_cohort(cohort).task
            for seed in self.experiment.grid.seed:
                prompts += self._list_of_cohort(cohort.name, task, seed)
        return prompts

    def _list_of_cohort(
        self, cohort: str, task: AnchorsConfig, seed: int
    ) -> list[Prompt]:
        prompts = []
        questions = draw_questions(task, seed, self.number, self.shots)
        for i, question in enumerate(questions):
            prompt = Prompt(
                id=f'{cohort}/{seed}/{question.probe}/{i % self.number}',
                cohort=cohort,
                seed=seed,
                probe=question.probe,
                asked=question.asked,
                prompt=write_prompt(question, self.instruct),
                answers=question.answers,
            )
            prompts.append(prompt)
        return prompts


def make_prompts(
    experiment: config.Experiment, number: int, shots: int, instruct: bool
) -> PromptSet:
    """The prompts of an experiment; axes of anything but the task are dropped.

    Raises:
      ConfigError: it is not of the anchor task.
    """
    allowed = "'anchors', the task that is written as equations"
    is_anchors = isinstance(experiment.task, AnchorsConfig)
    require(is_anchors, 'task.name', experiment.task.name, allowed)
    loop = []
    for path, values in experiment.loop:
        if path.startswith('task.'):
            loop.append((path, values))
    grid = config.GridConfig(gamma=(0.0,), seed=experiment.grid.seed)
    experiment = dataclasses.replace(experiment, loop=tuple(loop), grid=grid)
    return PromptSet(experiment, number, shots, instruct)


def write_folder(folder: pathlib.Path, prompts: PromptSet) -> int:
    """Writes the prompts; returns how many. The same prompts again change nothing.

    Raises:
      StoreError: the folder holds other prompts, or cannot be written.
    """
    settings = _describe(prompts)
    path = folder / SETTINGS_FILE
    if path.exists() and atomic.read_json(path) != settings:
        raise StoreError(f'{folder}: holds other prompts; give another --out')
    listed = prompts.list_prompts()
    text = _format(listed)
    prompts_path = folder / PROMPTS_FILE
    # Without settings it is what an interrupted call left, or somebody else's file.
    if prompts_path.exists() and not path.exists():
        with atomic.report_in_one_line('read', prompts_path):
            is_ours = prompts_path.read_bytes() == text.encode()
        if not is_ours:
            raise StoreError(f'{prompts_path}: another file; give another --out')
    atomic.write_text(prompts_path, text)
    atomic.write_json(path, settings)
    return len(listed)


def read_folder(folder: pathlib.Path) -> PromptSet:
    """The prompts in a folder.

    Raises:
      StoreError: there are none, or they are damaged or altered.
    """
    path = folder / SETTINGS_FILE
    prompts_path = folder / PROMPTS_FILE
    if not path.exists():
        raise StoreError(f'{folder}: holds no prompts (no {SETTINGS_FILE})')
    settings = atomic.read_json(path)
    try:
        if settings['format'] != _FORMAT:
            raise ValueError(f'format {settings["format"]!r}')
        experiment = config.from_json(settings['experiment'])
        prompts = make_prompts(
            experiment, settings['number'], settings['shots'], settings['instruct']
        )
        expected = _format(prompts.list_prompts())
    except (KeyError, TypeError, ValueError, ConfigError) as e:
        reason = brief(f'{type(e).__name__}: {e}')
        raise StoreError(f'{path}: no settings of prompts ({reason})') from None
    with atomic.report_in_one_line('read', prompts_path):
        data = prompts_path.read_bytes()
    if data != expected.encode():
        raise StoreError(f'{prompts_path}: not the prompts of {path.name}')
    return prompts


def reply_path(folder: pathlib.Path, name: str) -> pathlib.Path:
    """Where the replies of a model are kept.

    Raises:
      UserError: the name cannot be that of a file.
    """
    try:
        check_name(name)
    except ConfigError as e:
        raise UserError(f'--{e}') from None
    return folder / REPLIES_FOLDER / f'{name}.jsonl'


def _describe(prompts: PromptSet) -> dict[str, Any]:
    described = {
        'format': _FORMAT,
        'experiment': config.to_dict(prompts.experiment),
        'number': prompts.number,
        'shots': prompts.shots,
        'instruct': prompts.instruct,
    }
    return json.loads(json.dumps(described))  # lists for tuples, as in the file


def _format(prompts: list[Prompt]) -> str:
    lines = []
    for prompt in prompts:
        lines.append(json.dumps(prompt._asdict()) + '\n')
    return ''.join(lines)
