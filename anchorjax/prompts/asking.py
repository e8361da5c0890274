"""Asks a model every prompt that has no reply yet: at a rate, with retries."""

import itertools
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from anchorjax.errors import TemporaryError
from anchorjax.prompts.prompt_files import Prompt
from anchorjax.prompts.reply_files import ReplyFile

_FIRST_WAIT = 1.0  # seconds before the first retry; doubled before every other
_LONGEST_WAIT = 60.0
_MOST_PATIENCE = 3600.0  # seconds that a server may tell us to wait

Sleep = Callable[[float], None]


class Answer(NamedTuple):
    """What a model says."""

    text: str
    finish: str  # why it stopped: 'stop', 'length', ...


class Unavailable(Exception):
    """The model did not answer now; it may later."""

    def __init__(self, reason: str, wait: float | None = None):
        super().__init__(reason)
        self.wait = wait  # seconds, if the model says so


class LanguageModel(Protocol):
    """Anything that continues a text."""

    def ask(self, prompt: str, id: str) -> Answer:
        """The answer to a prompt.

        Raises:
          Unavailable: none now.
          UserError: none ever.
        """


class Progress(NamedTuple):
    """How far the asking is."""

    done: int
    total: int
    asked: int  # by this process
    seconds: float  # of this process
    retries: int
    trouble: str  # why the last retry was necessary


class Pace:
    """Lets a call begin no more often than so many times a minute."""

    def __init__(self, per_minute: float, sleep: Sleep = time.sleep):
        self._interval = 60.0 / per_minute
        self._sleep = sleep
        self._next = 0.0

    def wait(self) -> None:
        now = time.monotonic()
        if now < self._next:
            self._sleep(self._next - now)
        self._next = max(now, self._next) + self._interval


def ask_all(
    prompts: list[Prompt],
    file: ReplyFile,
    model: LanguageModel,
    *,
    pace: Pace,
    retries: int,
    report: Callable[[Progress], None],
    sleep: Sleep = time.sleep,
) -> int:
    """Asks what has no reply yet, one prompt after another; returns how many.

    Every reply is kept before the next prompt is sent.

    Raises:
      UserError: the model refuses.
      TemporaryError: it failed `retries` + 1 times; the same call continues.
    """
    waiting = [prompt for prompt in prompts if prompt.id not in file.replies]
    num_kept = len(prompts) - len(waiting)
    num_retries = 0
    trouble = ''
    started = time.monotonic()
    for num_asked, prompt in enumerate(waiting, 1):
        try:
            result = _ask_patiently(prompt, model, pace, retries, sleep)
        except Unavailable as e:
            raise TemporaryError(f'{e}; {num_kept} replies are kept') from None
        file.add(prompt.id, result.answer.text, finish=result.answer.finish)
        num_kept += 1
        num_retries += result.retries
        trouble = result.trouble or trouble
        seconds = time.monotonic() - started
        progress = Progress(
            num_kept, len(prompts), num_asked, seconds, num_retries, trouble
        )
        report(progress)
    return len(waiting)


class _Result(NamedTuple):
    """An answer, and how hard it was to get."""

    answer: Answer
    retries: int
    trouble: str  # why the last of them was necessary; '' without any


def _ask_patiently(
    prompt: Prompt, model: LanguageModel, pace: Pace, retries: int, sleep: Sleep
) -> _Result:
    """Asks one prompt until there is an answer.

    Raises:
      Unavailable: there is none after `retries` + 1 attempts, or the model wants us to
        wait longer than _MOST_PATIENCE.
    """
    trouble = ''
    for attempt in itertools.count():
        pace.wait()
        try:
            answer = model.ask(prompt.prompt, prompt.id)
            return _Result(answer, attempt, trouble)
        except Unavailable as e:
            trouble = str(e)
            wait = _choose_wait(attempt, e.wait)
        if attempt >= retries or wait > _MOST_PATIENCE:
            raise Unavailable(f'{trouble}, after {attempt + 1} attempts')
        sleep(wait)


def _choose_wait(attempt: int, asked: float | None) -> float:
    """Seconds until the next attempt: what the model says, or twice the last wait."""
    if asked is not None:
        return max(asked, 0.0)
    return min(_FIRST_WAIT * 2**attempt, _LONGEST_WAIT)
