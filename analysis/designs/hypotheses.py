"""The hypotheses of the law: which contrasts each is about, and their signs."""

from typing import Any, NamedTuple

from analysis.designs import factors, outcomes

# The setting of the lead, whose batch its twin changes.
LEAD = {
    'seq_len': 9,
    'split': 'code',
    'last_token': 'any',
    'anchors': 4,
    'learning_rate': 1e-3,
    'weight_decay': 0.1,
    'width': 64,
    'depth': 2,
}
# Where four tokens show P1's order (analysis/gallery/predictions.md, 2026-11-23).
P1_ORDER = LEAD | {
    'seq_len': 4,
    'split': 'random',
    'batch_size': 512,
    'learning_rate': 4e-3,
    'weight_decay': 0.15,
    'num_steps': 12_000,  # γ 1.0 has others, of fewer steps, that γ 2.0 lacks
}


class Part(NamedTuple):
    """A contrast that a hypothesis is about."""

    factor: str
    outcome: str
    sign: int  # of the expected effect of the higher level
    # Compare the effect at the longest sequences with that at all shorter ones.
    by_length: bool = False


class Hypothesis(NamedTuple):
    """What should be true of the members of one block."""

    name: str
    text: str
    block: str
    parts: tuple[Part, ...]
    at: dict[str, Any] | None = None  # about this setting alone
    among: dict[str, tuple] | None = None  # about these levels alone


# Shares with a star are of the members that are no table of the data: where all are, no
# factor could turn one rule into another.
_RULES = (outcomes.SYMMETRIC_RULE, outcomes.INFERENTIAL_RULE)
_ANSWERS = (outcomes.SYMMETRIC_ANSWERS, outcomes.INFERENTIAL_ANSWERS)


def _expect_tipping(
    factor: str,
    by_length: bool = False,
    sign: int = 1,
    shares: tuple[str, str] = _RULES,
) -> tuple[Part, ...]:
    """More of the factor (less, if sign is -1) turns symmetric into inferential."""
    symmetric, inferential = shares
    return (
        Part(factor, symmetric, -sign, by_length),
        Part(factor, inferential, sign, by_length),
    )


HYPOTHESES = (
    Hypothesis(
        'a, batch',
        'a larger batch (less gradient noise) turns symmetric into inferential',
        factors.TRAINED,
        _expect_tipping('batch_size'),
    ),
    Hypothesis(
        'a, batch, answers',
        'the same for the mean share of answers, not of members that pass 90 %',
        factors.TRAINED,
        _expect_tipping('batch_size', shares=_ANSWERS),
    ),
    Hypothesis(
        'a, batch, the lead and its twin',
        'at nine tokens, rate 1e-3 and decay 0.1, a larger batch turns symmetric into '
        'inferential',
        factors.TRAINED,
        _expect_tipping('batch_size'),
        at=LEAD,
    ),
    Hypothesis(
        'a, rate',
        'a higher learning rate (more gradient noise) favours symmetric',
        factors.TRAINED,
        (Part('learning_rate', outcomes.SYMMETRIC_RULE, 1),),
    ),
    Hypothesis(
        'a, decay',
        'more weight decay turns third solutions (other) into inferential',
        factors.TRAINED,
        (
            Part('weight_decay', outcomes.OTHER, -1),
            Part('weight_decay', outcomes.INFERENTIAL_RULE, 1),
        ),
    ),
    Hypothesis(
        'b, length',
        'longer sequences turn symmetric into inferential',
        factors.TRAINED,
        _expect_tipping('seq_len'),
    ),
    Hypothesis(
        'noise',
        'a noise token (from three to four tokens) turns inferential into symmetric',
        factors.TRAINED,
        _expect_tipping('seq_len', sign=-1),
        among={'seq_len': (3, 4)},
    ),
    Hypothesis(
        'noise after the pair',
        'the less often noise comes after the pair (last token: noise, any, pair), the '
        'more symmetric turns into inferential',
        factors.TRAINED,
        _expect_tipping('last_token'),
    ),
    Hypothesis(
        'noise after the pair, answers',
        'the same for the mean share of answers, not of members that pass 90 %',
        factors.TRAINED,
        _expect_tipping('last_token', shares=_ANSWERS),
    ),
    Hypothesis(
        'W_Q and W_K',
        'W_Q and W_K drawn larger than all other parts (a smaller γ for them alone) '
        'turn symmetric into inferential; measured from larger to equal ones, so that '
        'the signs are reversed',
        factors.TRAINED,
        _expect_tipping('qk_offset', sign=-1),
    ),
    Hypothesis(
        'W_Q and W_K, answers',
        'the same for the mean share of answers',
        factors.TRAINED,
        _expect_tipping('qk_offset', sign=-1, shares=_ANSWERS),
    ),
    Hypothesis(
        'b, width',
        'a larger width at the same γ, so with smaller weights, turns symmetric into '
        'inferential',
        factors.TRAINED,
        _expect_tipping('width'),
    ),
    Hypothesis(
        'b, width, held-out',
        'a larger width at the same γ answers more held-out questions',
        factors.TRAINED,
        (Part('width', outcomes.HELDOUT_ANSWERS, 1),),
    ),
    Hypothesis(
        'b, anchors',
        'more anchors turn symmetric into inferential',
        factors.TRAINED,
        _expect_tipping('anchors'),
    ),
    Hypothesis(
        'b, anchors, memorizing',
        'more anchors leave fewer tables of the data',
        factors.TRAINED,
        (Part('anchors', outcomes.MEMORIZING, -1),),
    ),
    Hypothesis(
        'a × b',
        'the batch turns symmetric into inferential more in the longest sequences '
        'than in shorter ones',
        factors.TRAINED,
        _expect_tipping('batch_size', by_length=True),
    ),
    Hypothesis(
        'a × b, answers',
        'the same for the mean share of answers, not of members that pass 90 %',
        factors.TRAINED,
        _expect_tipping('batch_size', by_length=True, shares=_ANSWERS),
    ),
    Hypothesis(
        'γ, memorizing, exception trained',
        'a smaller initialization (larger γ) leaves fewer tables of the data',
        factors.TRAINED,
        (Part('gamma', outcomes.MEMORIZING, -1),),
    ),
    Hypothesis(
        'γ, composing, exception trained',
        'a smaller initialization (larger γ) turns symmetric into inferential',
        factors.TRAINED,
        _expect_tipping('gamma'),
    ),
    Hypothesis(
        'γ, composing, answers',
        'the same for the mean share of answers',
        factors.TRAINED,
        _expect_tipping('gamma', shares=_ANSWERS),
    ),
    Hypothesis(
        "γ, composing, P1's order",
        'at four tokens and anchors, rate 4e-3, decay 0.15 and 12,000 steps, going '
        'from γ 1.0 to 2.0 turns symmetric into inferential',
        factors.TRAINED,
        _expect_tipping('gamma'),
        at=P1_ORDER,
        among={'gamma': (1.0, 2.0)},
    ),
    Hypothesis(
        "γ, composing, P1's order, answers",
        'the same for the mean share of answers',
        factors.TRAINED,
        _expect_tipping('gamma', shares=_ANSWERS),
        at=P1_ORDER,
        among={'gamma': (1.0, 2.0)},
    ),
    Hypothesis(
        'γ, both unseen',
        'a smaller initialization (larger γ) turns memorizing into composing',
        factors.BOTH_UNSEEN,
        (
            Part('gamma', outcomes.MEMORIZING, -1),
            Part('gamma', outcomes.INFERENTIAL, 1),
        ),
    ),
)
