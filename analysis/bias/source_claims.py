"""What P2 says of PrOntoQA mixed with stories: a claim is a row of CLAIMS."""

from functools import partial

from analysis import reasoning_bias
from analysis.bias.readings import sources
from analysis.old_claims.by_setting import Claim
from anchorjax.experiment import Experiment


def is_mixture(experiment: Experiment) -> bool:
    return experiment.task.control == 'none'


def is_matched(experiment: Experiment) -> bool:
    """The control: as many labels and as much label entropy in both sources."""
    return experiment.task.control == 'matched'


def _claim_of_both(source: str, sentence: str, read: object) -> list[Claim]:
    """A claim about the mixture, and the same about the matched control."""
    matched = f'{sentence.removesuffix(".")}: with labels matched in entropy.'
    return [
        Claim(source, sentence, reasoning_bias, is_mixture, read),
        Claim(f'{source}, control', matched, reasoning_bias, is_matched, read),
    ]


CLAIMS = (
    *_claim_of_both(
        'P2 Fig 1',
        'At a small initialization (large γ), the loss of PrOntoQA falls much earlier '
        'than that of stories.',
        sources.read_reasoning_first,
    ),
    *_claim_of_both(
        'P2 Fig 7 A',
        'The smaller the initialization, the larger is Delta L.',
        sources.read_delta_grows,
    ),
    *_claim_of_both(
        'Ours, on P2 Fig 7 A',
        'At a small initialization, Delta L is larger than counting tokens makes it.',
        sources.read_more_than_counting,
    ),
    *_claim_of_both(
        'P2 Fig 7 B',
        'At a small initialization, the tokens of stories are more alike than those of '
        'PrOntoQA: early.',
        partial(sources.read_cosines, step='early'),
    ),
    *_claim_of_both(
        'P2 Fig 7 B, later',
        'At a small initialization, the tokens of stories are more alike than those of '
        'PrOntoQA: late.',
        partial(sources.read_cosines, step='late'),
    ),
)
