"""Next-token prediction on a tokenized corpus (P1 Fig 17 b; DATASETS 7).

The tokens of all documents, each with its END, are cut into windows of `seq_len`. The
last windows are held out, or another corpus is. `probe_loss` is in nats a token: its
exponential is the perplexity.
"""

import dataclasses
import functools
from typing import Annotated, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.errors import ConfigError, require
from anchorjax.limits import above, at_least, at_most, below, check_fields
from anchorjax.permutation import permute
from anchorjax.task import Batch, Probes, Task, keep_key
from anchorjax.tasks.corpus import feed, sample
from anchorjax.tasks.corpus.token_files import (
    Corpus,
    count_windows,
    digest_corpora,
    open_corpus,
    read_windows,
)

_MOST_WINDOWS = 2**31 - 1  # they are numbered in int32
_FITS = 2**28  # bytes of tokens that feed = 'auto' puts on a device
_MOST_ON_DEVICE = 2**31 - 1  # tokens there: their places are int32


@dataclasses.dataclass(frozen=True)
class CorpusConfig:
    """Defaults are GPT-2's; without a path, a tiny sample in bytes."""

    name: str = 'corpus'
    path: str = ''  # folder that launch/data.py wrote; '': the bundled sample
    heldout_path: str = ''  # the same for the probe; '': the last windows of `path`
    seq_len: Annotated[int, at_least(1), at_most(2**16)] = 1024
    vocab: Annotated[int, at_least(2), at_most(2**20)] = 50257
    # Windows that are trained; 0: all that are not held out.
    num_examples: Annotated[int, at_least(0), at_most(_MOST_WINDOWS)] = 0
    # Share of the windows of `path` that is held out if there is no heldout_path.
    holdout: Annotated[float, above(0), below(1)] = 0.02
    # 'device': an array on every device; 'host': mapped from the file by the host;
    # 'auto': on the device up to 256 MiB.
    feed: Literal['auto', 'device', 'host'] = 'auto'
    probe_examples: Annotated[int, at_least(1), at_most(2**20)] = 64  # per probe

    def __post_init__(self) -> None:
        check_fields(self, 'task')

    def make(self) -> Task:
        """The data of a seed is the random key that orders the windows."""
        batch = functools.partial(make_batch, self)
        return Task(
            vocab=self.vocab,
            seq_len=self.seq_len,
            num_train=count_trained(self),
            probe_names=('seen_train', 'seen_heldout'),
            make_data=keep_key,
            batch=batch,
            probes=functools.partial(make_probes, self),
            batch_ahead=None if _is_on_device(self) else batch,
            digest_data=functools.partial(digest_corpora, self.path, self.heldout_path),
            last_only=False,
            is_text_alone=True,
        )


class Windows(NamedTuple):
    """The windows of a config: which are trained, and which are held out."""

    tokens: np.ndarray
    num_available: int  # the first windows of `tokens`, which may be trained
    heldout_tokens: np.ndarray
    heldout_N: np.ndarray  # the numbers of the held-out windows that the probe shows


@functools.lru_cache(maxsize=8)
def open_windows(config: CorpusConfig) -> Windows:
    """The windows of a config; opened once, because every cohort asks.

    Raises:
      UserError: a corpus cannot be read or does not fit the config.
    """
    corpus = heldout = _open(config, config.path, 'task.path')
    num_windows = count_windows(len(corpus.tokens), config.seq_len)
    if config.heldout_path:
        heldout = _open(config, config.heldout_path, 'task.heldout_path')
        _require_other_text(config, corpus, heldout)
        num_available, first_heldout = num_windows, 0
        num_heldout = count_windows(len(heldout.tokens), config.seq_len)
    else:
        num_heldout = max(1, round(config.holdout * num_windows))
        num_available = first_heldout = num_windows - num_heldout
    _require_fit(config, len(corpus.tokens), num_available, num_heldout)
    heldout_N = first_heldout + np.arange(min(num_heldout, config.probe_examples))
    return Windows(corpus.tokens, num_available, heldout.tokens, heldout_N)


def _require_fit(
    config: CorpusConfig, num_tokens: int, num_available: int, num_heldout: int
) -> None:
    """Raises ConfigError unless there are as many windows as the config needs."""
    has_both = num_available >= 1 and num_heldout >= 1
    allowed = f'short enough for two windows of {num_tokens:,} tokens'
    require(has_both, 'task.seq_len', config.seq_len, allowed)
    can_number = num_available + num_heldout <= _MOST_WINDOWS
    require(can_number, 'task.seq_len', config.seq_len, 'longer')
    can_address = num_tokens <= _MOST_ON_DEVICE or config.feed != 'device'
    allowed = f"'host' for {num_tokens:,} tokens, too many to number in int32"
    require(can_address, 'task.feed', config.feed, allowed)
    has_examples = config.num_examples <= num_available
    allowed = f'at most the {num_available:,} windows of the corpus'
    require(has_examples, 'task.num_examples', config.num_examples, allowed)


@functools.lru_cache(maxsize=8)
def open_feed(config: CorpusConfig) -> feed.HostFeed:
    """The feed of a config, which all its members share."""
    tokens = open_windows(config).tokens
    return feed.HostFeed(tokens, config.seq_len)


def make_batch(
    config: CorpusConfig,
    key: jax.Array,
    index_B: jax.Array,
    next_B: jax.Array | None = None,
) -> Batch:
    """The training windows with these numbers, in an order that `key` selects.

    Args:
      next_B: the numbers that will be asked for next, to be read meanwhile.
    """
    if next_B is None:
        next_B = index_B
    tokens_BL = _read(config, key, index_B, next_B)
    return _ask(tokens_BL)


def make_probes(config: CorpusConfig, key: jax.Array) -> Probes:
    """Windows that are trained, and held-out ones; a short probe repeats."""
    windows = open_windows(config)
    size = config.probe_examples
    number_B = jnp.arange(size) % count_trained(config)
    # Read once, not at every evaluation: their rows are known before the key is.
    read = read_windows(windows.heldout_tokens, windows.heldout_N, config.seq_len)
    all_heldout = jnp.asarray(read.astype(np.int32))
    heldout_BL = all_heldout[jnp.arange(size) % len(all_heldout)]
    trained = make_batch(config, key, number_B)
    heldout = _ask(heldout_BL)
    tokens_PBT = jnp.stack([trained.tokens_BT, heldout.tokens_BT])
    targets_PBQ = jnp.stack([trained.targets_BQ, heldout.targets_BQ])
    return Probes(tokens_PBT, targets_PBQ[:, None])


def count_trained(config: CorpusConfig) -> int:
    """How many windows are trained."""
    return config.num_examples or open_windows(config).num_available


def _read(
    config: CorpusConfig, key: jax.Array, index_B: jax.Array, next_B: jax.Array
) -> jax.Array:
    """The tokens of the windows with these numbers, [B, T + 1]."""
    windows = open_windows(config)
    window_B = permute(key, index_B, windows.num_available)
    if _is_on_device(config):
        return feed.read_on_device(windows.tokens, window_B, config.seq_len)
    next_window_B = permute(key, next_B, windows.num_available)
    return feed.read_from_host(
        open_feed(config), window_B, next_window_B, config.seq_len
    )


def _is_on_device(config: CorpusConfig) -> bool:
    if config.feed == 'auto':
        return open_windows(config).tokens.nbytes <= _FITS
    return config.feed == 'device'


def _ask(tokens_BL: jax.Array) -> Batch:
    """Windows [B, T + 1] as next-token questions."""
    tokens_BT = tokens_BL[:, :-1]
    next_BT = tokens_BL[:, 1:]
    return Batch(tokens_BT, next_BT)


def _open(config: CorpusConfig, path: str, field: str) -> Corpus:
    """The corpus in a folder, or the sample; ConfigError if it does not fit."""
    if not path:
        allowed = f'at least {sample.BYTE_VOCAB}, for the bytes of the bundled sample'
        require(config.vocab >= sample.BYTE_VOCAB, 'task.vocab', config.vocab, allowed)
        return sample.make_corpus()
    corpus = open_corpus(path)
    if corpus.vocab > config.vocab:
        raise ConfigError(
            f'task.vocab = {config.vocab}: must be at least the {corpus.vocab} tokens '
            f'of {field} = {path!r}'
        )
    return corpus


def _require_other_text(config: CorpusConfig, trained: Corpus, heldout: Corpus) -> None:
    """Raises ConfigError unless both are of one tokenizer, and differ."""
    of_path = f'task.path = {config.path!r}'
    has_same_tokenizer = heldout.tokenizer == trained.tokenizer
    allowed = f'of the same tokenizer as {of_path}'
    require(has_same_tokenizer, 'task.heldout_path', config.heldout_path, allowed)
    is_other = heldout.digest != trained.digest
    allowed = f'another corpus than {of_path}: their tokens are the same'
    require(is_other, 'task.heldout_path', config.heldout_path, allowed)
