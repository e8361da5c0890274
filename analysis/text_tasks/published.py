"""What P1 prints for its text tasks (PAPERS 1.6), beside which our numbers stand.

Every pair is (large initialization under weak decay, small one under strong decay): γ
0.5 and decay 0.01, γ 0.7 and decay 0.1 (addition: 0.5).
"""

Pair = tuple[float, float]

# Exact match in per cent by the size of the training set, of (task, eval set).
EXACT_MATCH: dict[tuple[str, str], dict[int, Pair]] = {
    ('scan', 'test'): {
        500: (28.0, 32.6),
        1_000: (43.7, 49.7),
        5_000: (89.3, 92.2),
        10_000: (99.1, 99.1),
    },
    ('cogs', 'seen_heldout'): {
        500: (14.0, 40.4),
        1_000: (50.5, 65.1),
        5_000: (91.5, 94.3),
        10_000: (97.5, 98.1),
        20_000: (99.2, 99.4),
    },
    ('cogs', 'gen'): {
        5_000: (8.9, 18.8),
        10_000: (24.0, 30.0),
        20_000: (47.2, 62.8),
        24_155: (65.3, 81.0),
    },
    ('prontoqa', 'seen_heldout'): {
        10_000: (50.6, 95.0),
        15_000: (65.7, 99.3),
        20_000: (95.8, 99.7),
        30_000: (98.4, 100.0),
        50_000: (100.0, 100.0),
        100_000: (100.0, 100.0),
        150_000: (100.0, 100.0),
        250_000: (100.0, 100.0),
    },
}
ADDITION: Pair = (1.2, 99.6)  # of the square, per cent; two layers, 0 to 999
# Steps until PrOntoQA converges, in units of 10,000, by size.
STEPS: dict[int, Pair] = {
    10_000: (0.83, 0.47),
    15_000: (1.17, 0.43),
    20_000: (1.52, 0.40),
    30_000: (1.90, 0.58),
    50_000: (1.01, 0.53),
    100_000: (0.95, 0.49),
    150_000: (1.00, 0.64),
    250_000: (1.11, 0.72),
}


def describe_exact_match(task: str, eval_set: str, size: int) -> str:
    """'P1: large 28.0 %, small 32.6 %'; '' where P1 prints nothing."""
    if (task, eval_set) == ('addition', 'test'):
        return _describe('P1, of 0 to 999', ADDITION)
    pair = EXACT_MATCH.get((task, eval_set), {}).get(size)
    return _describe('P1', pair) if pair else ''


def _describe(source: str, pair: Pair) -> str:
    large, small = pair
    return f'{source}: large {large:.1f} %, small {small:.1f} %'


def describe_steps(size: int) -> str:
    """'P1: large 15,200 steps, small 4,000'; '' where P1 prints nothing."""
    if size not in STEPS:
        return ''
    large, small = STEPS[size]
    return f'P1: large {10_000 * large:,.0f} steps, small {10_000 * small:,.0f}'
