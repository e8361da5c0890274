"""Next-token prediction on a tokenized corpus (P1 Fig 17 b; DATASETS 7).

The tokens of all documents, each with its END, are cut into windows of `seq_len`. The
last windows are held out. `eval_set_loss` is in nats a token: its exponential is the
perplexity.

A corpus that fits is an array on every device. A larger one stays in its file: the step
asks the host for the windows of its batch, by their numbers, so nothing is sampled on
the host and a member resumes with the same bits either way. Reading the next windows
ahead in a thread, or by the library grain, gained nothing
(analysis/gallery/log/costs.md).
"""

import dataclasses
import functools
from typing import Annotated, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec

from anchorjax.caching import cache_files
from anchorjax.errors import ConfigError, require
from anchorjax.limits import above, at_least, at_most, below, check_fields
from anchorjax.permutation import permute
from anchorjax.tasks import Batch, EvalSets, Task, texts
from anchorjax.tasks.corpus import sample, token_files

_MOST_WINDOWS = 2**31 - 1  # they are numbered in int32
_FITS = 2**28  # bytes of tokens that feed = 'auto' puts on a device
_MOST_ON_DEVICE = 2**31 - 1  # tokens there: their places are int32


@dataclasses.dataclass(frozen=True)
class CorpusConfig:
    """Defaults are GPT-2's; without a path, a tiny sample in bytes."""

    name: str = 'corpus'
    path: str = ''  # folder that launch/data.py wrote; '': the bundled sample
    seq_len: Annotated[int, at_least(1), at_most(2**16)] = 1024  # tokens of a window
    vocab: Annotated[int, at_least(2), at_most(2**20)] = 50257  # of the tokenizer
    # Windows that are trained; 0: all that are not held out.
    num_examples: Annotated[int, at_least(0), at_most(_MOST_WINDOWS)] = 0
    holdout: Annotated[float, above(0), below(1)] = 0.02  # share of the windows
    # 'device': an array on every device; 'host': mapped from the file by the host;
    # 'auto': on the device up to 256 MiB.
    feed: Literal['auto', 'device', 'host'] = 'auto'
    eval_examples: Annotated[int, at_least(1), at_most(2**20)] = 64  # per eval set

    def __post_init__(self) -> None:
        check_fields(self, 'task')

    def make(self) -> Task:
        """The data of a seed is the random key that orders the windows."""
        return Task(
            vocab=self.vocab,
            seq_len=self.seq_len,
            num_train=count_trained(self),
            eval_set_names=('seen_train', 'seen_heldout'),
            make_data=lambda key: key,
            batch=functools.partial(make_batch, self),
            eval_sets=functools.partial(make_eval_sets, self),
            describe_data=functools.partial(describe_eval_sets, self),
            digest_data=functools.partial(token_files.digest_corpora, self.path),
            last_only=False,
            is_language_modeling=True,
        )


class Windows(NamedTuple):
    """The windows of a config: which are trained, and which are held out."""

    tokens: np.ndarray  # [token]
    num_available: int  # the first windows of `tokens`, which may be trained
    num_heldout: int  # the windows after them


@cache_files(maxsize=8)
def open_windows(config: CorpusConfig) -> Windows:
    """The windows of a config, opened once; UserError if a corpus does not fit it."""
    tokens = _open(config).tokens
    num_windows = token_files.count_windows(len(tokens), config.seq_len)
    num_heldout = max(1, round(config.holdout * num_windows))
    num_available = num_windows - num_heldout
    _require_fit(config, len(tokens), num_windows, num_available)
    return Windows(tokens, num_available, num_heldout)


@cache_files(maxsize=8)
def find_heldout(config: CorpusConfig) -> np.ndarray:
    """The numbers [N] of the held-out windows asked; no trained one reads alike.

    Raises:
      ConfigError: there is none, since the corpus repeats itself.
    """
    tokens, num_available, num_heldout = open_windows(config)
    heldout_N = num_available + np.arange(min(num_heldout, config.eval_examples))
    first_token_N = np.asarray(
        tokens[: num_available * config.seq_len : config.seq_len]
    )
    new = []
    for number in heldout_N:
        window = token_files.read_windows(tokens, np.asarray(number), config.seq_len)
        same = np.flatnonzero(first_token_N == window[0])
        for place in range(1, config.seq_len):
            same = same[tokens[same * config.seq_len + place] == window[place]]
        if not same.size:
            new.append(number)
    allowed = f'longer: the {len(heldout_N)} held-out windows are trained as well'
    require(len(new) > 0, 'task.seq_len', config.seq_len, allowed)
    return np.array(new)


def describe_eval_sets(config: CorpusConfig) -> str:
    """How many windows are asked; errors as `find_heldout`."""
    num_trained = min(count_trained(config), config.eval_examples)
    return (
        f'{num_trained:,} trained and {len(find_heldout(config)):,} held-out windows '
        f'are asked, of task.eval_examples, {config.eval_examples:,}; held-out ones '
        'that are trained as well are left out'
    )


def _require_fit(
    config: CorpusConfig, num_tokens: int, num_windows: int, num_available: int
) -> None:
    """Raises ConfigError unless there are as many windows as the config needs."""
    allowed = f'short enough for two windows of {num_tokens:,} tokens'
    require(num_windows >= 2, 'task.seq_len', config.seq_len, allowed)
    allowed = f'a share that leaves some of {num_windows:,} windows to train'
    require(num_available >= 1, 'task.holdout', config.holdout, allowed)
    can_number = num_available < _MOST_WINDOWS
    require(can_number, 'task.seq_len', config.seq_len, 'longer')
    can_address = num_tokens <= _MOST_ON_DEVICE or config.feed != 'device'
    allowed = f"'host' for {num_tokens:,} tokens, too many to number in int32"
    require(can_address, 'task.feed', config.feed, allowed)
    has_examples = config.num_examples <= num_available
    allowed = f'at most the {num_available:,} windows of the corpus'
    require(has_examples, 'task.num_examples', config.num_examples, allowed)


def make_batch(config: CorpusConfig, key: jax.Array, index_B: jax.Array) -> Batch:
    """The training windows with these numbers, in an order that `key` selects."""
    windows = open_windows(config)
    window_B = permute(key, index_B, windows.num_available)
    if _is_on_device(config):
        return _ask(read_on_device(windows.tokens, window_B, config.seq_len))
    return _ask(read_from_host(windows.tokens, window_B, config.seq_len))


def make_eval_sets(config: CorpusConfig, key: jax.Array) -> EvalSets:
    """Windows that are trained, and held-out ones; padding where a set is short."""
    size = config.eval_examples
    # Read once, not at every evaluation: their rows are known before the key is.
    read = token_files.read_windows(
        open_windows(config).tokens, find_heldout(config), config.seq_len
    )
    trained_B, is_trained_B = texts.count_up(count_trained(config), size)
    heldout_B, is_heldout_B = texts.count_up(len(read), size)
    heldout_BL = jnp.asarray(read.astype(np.int32))[heldout_B]
    asked = [make_batch(config, key, trained_B), _ask(heldout_BL)]
    eval_sets = texts.join_eval_sets(asked, [is_trained_B, is_heldout_B], [None])
    is_full = min(count_trained(config), len(read)) >= size
    return eval_sets._replace(weights_PBQ=None) if is_full else eval_sets


def read_on_device(tokens: np.ndarray, index_B: jax.Array, seq_len: int) -> jax.Array:
    """The windows with these numbers, [B, T + 1], of an array on the device."""
    first_B1 = index_B[:, None] * seq_len
    address_BL = first_B1 + jnp.arange(seq_len + 1)
    windows_BL = jnp.asarray(tokens)[address_BL]
    return windows_BL.astype(jnp.int32)


def read_from_host(tokens: np.ndarray, index_B: jax.Array, seq_len: int) -> jax.Array:
    """The windows with these numbers, [B, T + 1], from the file.

    Devices that share a batch each ask their host for their own part of it.
    """

    def read(index: np.ndarray) -> np.ndarray:
        return token_files.read_windows(tokens, index, seq_len).astype(np.int32)

    def ask_host(index_B: jax.Array) -> jax.Array:
        windows_BL = jax.ShapeDtypeStruct((*index_B.shape, seq_len + 1), jnp.int32)
        return jax.pure_callback(read, windows_BL, index_B, vmap_method='broadcast_all')

    mesh = jax.sharding.get_abstract_mesh()
    num_parts = mesh.shape.get('batch', 1)
    if num_parts > 1 and len(index_B) % num_parts == 0:
        # JAX calls a host from parts of an array only where it is cut by hand.
        of_part = PartitionSpec('batch')
        ask_host = jax.shard_map(
            ask_host,
            in_specs=of_part,
            out_specs=of_part,
            axis_names={'batch'},
            check_vma=False,
        )
    return ask_host(index_B)


def count_trained(config: CorpusConfig) -> int:
    """How many windows are trained."""
    return config.num_examples or open_windows(config).num_available


def _is_on_device(config: CorpusConfig) -> bool:
    if config.feed == 'auto':
        return open_windows(config).tokens.nbytes <= _FITS
    return config.feed == 'device'


def _ask(tokens_BL: jax.Array) -> Batch:
    """Windows [B, T + 1] as next-token questions."""
    tokens_BT = tokens_BL[:, :-1]
    next_BT = tokens_BL[:, 1:]
    return Batch(tokens_BT, next_BT)


def _open(config: CorpusConfig) -> token_files.Corpus:
    """The corpus in the folder, or the sample; ConfigError if it does not fit."""
    if not config.path:
        allowed = f'at least {sample.BYTE_VOCAB}, for the bytes of the bundled sample'
        require(config.vocab >= sample.BYTE_VOCAB, 'task.vocab', config.vocab, allowed)
        return sample.make_corpus()
    corpus = token_files.open_corpus(config.path)
    if corpus.vocab > config.vocab:
        raise ConfigError(
            f'task.vocab = {config.vocab}: must be at least the {corpus.vocab} tokens '
            f'of task.path = {config.path!r}'
        )
    return corpus
