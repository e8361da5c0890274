"""The fields of the mixture and every value they may take (PAPERS 2.3)."""

import dataclasses
from typing import Annotated, Literal

from anchorjax.limits import at_least, at_most, check_fields


@dataclasses.dataclass(frozen=True)
class MixtureConfig:
    """Defaults are P2's number of sequences; what it does not state is ours."""

    name: str = 'mixture'
    # The stories as words: a folder that launch/data.py wrote; '': a tiny sample.
    story_path: str = ''
    # PrOntoQA as such a folder too, of the same tokenizer; '': questions are drawn, a
    # token a word.
    reasoning_path: str = ''
    # 'matched': the words of the stories are merged into classes, as many and as
    # frequent as the words of PrOntoQA; see matching.py.
    control: Literal['none', 'matched'] = 'none'
    hops: Annotated[int, at_least(1), at_most(5)] = 2  # of drawn questions
    num_sequences: Annotated[int, at_least(1), at_most(10**6)] = 5_000  # per source
    num_heldout: Annotated[int, at_least(1), at_most(10**5)] = 100  # per source
    seq_len: Annotated[int, at_least(8), at_most(2**14)] = 128
    vocab: Annotated[int, at_least(2), at_most(2**20)] = 8_192
    probe_examples: Annotated[int, at_least(1), at_most(2**20)] = 100  # per probe

    def __post_init__(self) -> None:
        check_fields(self, 'task')

    @property
    def num_all(self) -> int:
        """Sequences of each source, trained and held out."""
        return self.num_sequences + self.num_heldout

    @property
    def num_needed(self) -> int:
        """Tokens of a stream that has so many sequences."""
        return self.num_all * self.seq_len + 1
