"""How long a training waits for its windows when the host reads them.

A small GPT-2 trains on a synthetic corpus in a file. All feeds take turns in one
process, as in speed.py, and only ratios within a round mean something. The feeds of the
host serve the same compiled program, so nothing but the reading differs:

  thread           reads a batch ahead, as task.feed = 'host' does
  no thread        reads when the step asks
  grain            the library's shuffled data set, with its own threads and settings
  ..., slow file   the first two on a file from which a batch takes SLOW seconds longer

Two losses are told apart. While a feed is asked, the device waits: a share of the time.
The call from the device to the host costs time too, however fast the feed is, and shows
only beside a training whose corpus is on the device. The file is in the system's cache.
"""

import pathlib
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np

from anchorjax import config
from anchorjax.bench.harness import (
    Contender,
    Row,
    prepare_anchorjax,
    prepare_chunk,
    time_in_turn,
)
from anchorjax.extras.corpora.texts import Wanted, find_local
from anchorjax.extras.corpora.tokenizers import Bytes
from anchorjax.extras.corpora.write import write_corpus
from anchorjax.sweeps.trainer import Trainer
from anchorjax.tasks.corpus import task as corpus_task
from anchorjax.tasks.corpus.feed import HostFeed
from anchorjax.tasks.corpus.token_files import count_windows, read_windows
from anchorjax.training.devices import make_mesh

SLOW = 0.02
_PROBES = 2  # windows of an evaluation, which ends every timed segment


class Workload(NamedTuple):
    """What to time: batches of `batch_size` windows of `length` tokens."""

    num_tokens: int = 2**25
    batch_size: int = 32
    length: int = 64
    width: int = 128
    num_steps: int = 10  # in a round
    rounds: int = 5


class Feed(Protocol):
    """Where windows come from, [..., T + 1] int32."""

    def read(self, index: np.ndarray, next_index: np.ndarray) -> np.ndarray: ...


class TimedFeed:
    """Stands for a feed in the compiled step, counts the seconds, can be exchanged."""

    def __init__(self, feed: Feed):
        self.feed = feed
        self.seconds = 0.0  # of all members together
        self._lock = threading.Lock()

    def read(self, index: np.ndarray, next_index: np.ndarray) -> np.ndarray:
        start = time.perf_counter()
        windows = self.feed.read(index, next_index)
        with self._lock:
            self.seconds += time.perf_counter() - start
        return windows


class DirectFeed(HostFeed):
    """Reads nothing ahead."""

    def read(self, index: np.ndarray, next_index: np.ndarray) -> np.ndarray:
        return self.fetch(np.asarray(index))


class GrainFeed:
    """Whatever grain has next: its order is its own, the amount is the same."""

    def __init__(self, tokens: np.ndarray, seq_len: int, batch_size: int):
        """Raises ImportError without grain."""
        import grain

        self._tokens = tokens
        self._seq_len = seq_len
        windows = grain.MapDataset.source(self).seed(0).shuffle().repeat()
        self._batches = iter(windows.batch(batch_size).to_iter_dataset())
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return count_windows(len(self._tokens), self._seq_len)

    def __getitem__(self, index: int) -> np.ndarray:
        window = read_windows(self._tokens, np.int64(index), self._seq_len)
        return window.astype(np.int32)

    def read(self, index: np.ndarray, next_index: np.ndarray) -> np.ndarray:
        """As many windows as are asked for, at most a batch."""
        with self._lock:
            batch = next(self._batches)
        return batch[: index.size].reshape(*index.shape, self._seq_len + 1)


def compare_feeds(workload: Workload = Workload()) -> Iterator[Row]:  # noqa: B008
    """Share of the time spent waiting, and the time of a step beside the device's."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        _write_corpus(path, workload.num_tokens)
        yield from _compare_feeds(workload, path / 'corpus')


def make_experiment(
    workload: Workload, corpus: pathlib.Path, feed: str
) -> config.Experiment:
    """GPT-2 of size 'tiny', one gamma, and as many seeds as there are devices."""
    c = config.default(task='corpus', model='gpt2', size='tiny')
    c.task.path = str(corpus)
    c.task.feed = feed
    c.task.vocab = 257  # bytes and END
    c.task.seq_len = workload.length
    c.task.probe_examples = _PROBES
    c.model.width = workload.width
    c.train.batch_size = workload.batch_size
    c.grid.gamma = (0.5,)
    c.grid.seed = tuple(range(len(jax.devices())))
    return config.resolve(c)


def _compare_feeds(workload: Workload, corpus: pathlib.Path) -> Iterator[Row]:
    experiment = make_experiment(workload, corpus, 'host')
    tokens = corpus_task.open_windows(experiment.task).tokens
    length = workload.length
    feeds: dict[str, Feed] = {
        'thread': HostFeed(tokens, length),
        'no thread': DirectFeed(tokens, length),
        'thread, slow file': slow_down(HostFeed(tokens, length)),
        'no thread, slow file': slow_down(DirectFeed(tokens, length)),
    }
    try:
        feeds['grain'] = GrainFeed(tokens, length, workload.batch_size)
    except ImportError:
        yield 'feed: grain', "skipped, not installed: pip install -e '.[bench]'"
    timed = TimedFeed(feeds['thread'])
    # The program calls what it finds here while it is compiled.
    corpus_task.open_feed(experiment.task).read = timed.read
    trainer = Trainer(experiment, make_mesh(), lanes=1)
    waiting: dict[str, list[float]] = {name: [] for name in feeds}
    on_device = make_experiment(workload, corpus, 'device')
    contenders: dict[str, Contender] = {'device': prepare_anchorjax(on_device)}
    for name, feed in feeds.items():
        # Members of its own, so that it is asked for what it read ahead.
        train = prepare_chunk(trainer)
        contenders[name] = _exchange(timed, feed, train, waiting[name])
    seconds = time_in_turn(contenders, workload.num_steps, workload.rounds)
    step = np.median(seconds['device']) / workload.num_steps
    yield 'feed: on the device', f'{step * 1e3:.1f} ms a step'
    for name in feeds:
        share = np.array(waiting[name][1:])  # the first is the warm-up's
        share = share / (seconds[name] * len(jax.devices()))
        yield f'feed: {name}', _describe(share, seconds[name] / seconds['device'])


def _describe(shares: np.ndarray, ratios: np.ndarray) -> str:
    """Medians and ranges of the rounds."""
    waits = f'{np.median(shares):.2%} ({shares.min():.2%} to {shares.max():.2%})'
    times = f'{np.median(ratios):.2f}x ({ratios.min():.2f} to {ratios.max():.2f})'
    return f'waits {waits} of the time; {times} the time on the device'


def slow_down(feed: HostFeed) -> HostFeed:
    """The feed, as if its file were on slow storage."""
    fetch = feed.fetch

    def fetch_slowly(index: np.ndarray) -> np.ndarray:
        time.sleep(SLOW)
        return fetch(index)

    feed.fetch = fetch_slowly
    return feed


def _exchange(
    timed: TimedFeed, feed: Feed, train: Contender, waiting: list[float]
) -> Contender:
    """Trains with this feed; adds the seconds of its reading to `waiting`."""

    def train_with_feed(num_steps: int) -> Any:
        timed.feed, timed.seconds = feed, 0.0
        train(num_steps)
        waiting.append(timed.seconds)

    return train_with_feed


def _write_corpus(folder: pathlib.Path, num_tokens: int) -> None:
    """A corpus of random letters, in lines, tokenized as any other."""

    def ignore(name: str, documents: int, tokens: int) -> None:
        """Says nothing."""

    rng = np.random.default_rng(0)
    letters = rng.integers(ord('a'), ord('z') + 1, num_tokens - 1, np.uint8)
    letters[::80] = ord(' ')
    path = folder / 'letters.txt'
    path.write_bytes(letters.tobytes())
    files = find_local(path)
    write_corpus(files, folder / 'corpus', Bytes(), Wanted(), ignore)
