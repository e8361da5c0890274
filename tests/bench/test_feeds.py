"""The feeds of the benchmark read the same windows, and their waiting is measured."""

import time

import numpy as np
import pytest

from anchorjax.bench import feeds
from anchorjax.tasks.corpus.feed import HostFeed

SHRUNK = feeds.Workload(4_000, batch_size=2, length=8, width=8, num_steps=2, rounds=2)
TOKENS = np.arange(1_000, dtype=np.uint16)


def test_a_feed_without_a_thread_reads_the_same():
    index = np.array([[3, 0], [7, 5]])
    direct = feeds.DirectFeed(TOKENS, 4).read(index, index)
    expected = HostFeed(TOKENS, 4).read(index, index + 1)
    assert direct.dtype == expected.dtype == np.int32
    np.testing.assert_array_equal(direct, expected)


def test_the_seconds_of_reading_are_counted_and_the_feed_is_exchanged():
    class Slow:
        def read(self, index, next_index):
            time.sleep(0.02)
            return index

    timed = feeds.TimedFeed(Slow())
    for _ in range(2):
        assert timed.read(np.arange(2), np.arange(2)).tolist() == [0, 1]
    assert timed.seconds >= 0.04
    waiting = []

    def train(num_steps):
        timed.read(np.array([num_steps]), np.array([0]))

    direct = feeds.DirectFeed(TOKENS, 4)
    feeds._exchange(timed, direct, train, waiting)(2)
    assert timed.feed is direct and 0 < waiting[0] < 0.04


def test_grain_reads_every_window_of_an_epoch_once():
    pytest.importorskip('grain')
    feed = feeds.GrainFeed(TOKENS, 4, batch_size=3)
    index = np.zeros((1, 3), int)
    windows = []
    for _ in range(len(feed) // 3):
        batch = feed.read(index, index)
        assert batch.shape == (1, 3, 5) and batch.dtype == np.int32
        windows += batch[0].tolist()
    assert sorted(windows) == [list(range(4 * i, 4 * i + 5)) for i in range(249)]


def test_a_slow_file_is_as_slow_as_it_says():
    slow = feeds.slow_down(feeds.DirectFeed(TOKENS, 4))
    start = time.perf_counter()
    assert slow.read(np.array([1]), np.array([2])).tolist() == [[4, 5, 6, 7, 8]]
    assert time.perf_counter() - start >= feeds.SLOW


@pytest.mark.slow
def test_every_feed_is_measured():
    rows = dict(feeds.compare_feeds(SHRUNK))
    assert float(rows['feed: on the device'].split()[0]) > 0
    shares = {}
    for name in ('thread', 'no thread', 'no thread, slow file', 'grain'):
        value = rows[f'feed: {name}']
        if value.startswith('skipped'):
            continue
        shares[name] = float(value.removeprefix('waits ').split('%')[0])
        assert 0 < shares[name] < 100 and 'the time on the device' in value
    assert shares['no thread, slow file'] > shares['no thread']
