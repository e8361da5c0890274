"""What P1 prints for its real tasks (PAPERS 1.6), beside which our numbers stand.

Every pair is (large initialization under weak decay, small one under strong decay): γ
0.5 and decay 0.01, γ 0.7 and decay 0.1 (addition: 0.5).
"""

from anchorjax.experiment import Experiment

Pairs = dict[int, tuple[float, float]]  # by the size of the training set

# Exact match in per cent, by (task, probe).
EXACT_MATCH: dict[tuple[str, str], Pairs] = {
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
# Of addition, by model; its size is that of all pairs outside the square.
ADDITION_LARGEST = 999
ADDITION = {'transformer': (1.2, 99.6), 'gpt2': (28.2, 99.6)}
# Steps until PrOntoQA converges, in units of 10,000.
STEPS: Pairs = {
    10_000: (0.83, 0.47),
    15_000: (1.17, 0.43),
    20_000: (1.52, 0.40),
    30_000: (1.90, 0.58),
    50_000: (1.01, 0.53),
    100_000: (0.95, 0.49),
    150_000: (1.00, 0.64),
    250_000: (1.11, 0.72),
}


def describe_exact_match(experiment: Experiment, probe: str, size: int) -> str:
    """'28.0 % against 32.6 %'; '–' where P1 prints nothing for this size.

    Its numbers of addition are of 0 to 999, and say so beside smaller ones.
    """
    task = experiment.task
    is_addition = task.name == 'addition' and probe == 'test'
    if is_addition:
        pair = ADDITION.get(experiment.model.name)
    else:
        pair = EXACT_MATCH.get((task.name, probe), {}).get(size)
    if pair is None:
        return '–'
    text = f'{pair[0]:.1f} % against {pair[1]:.1f} %'
    if is_addition and task.largest != ADDITION_LARGEST:
        text += f' (of 0 to {ADDITION_LARGEST})'
    return text


def describe_steps(size: int) -> str:
    """'8,300 steps against 4,700'; '–' where P1 prints nothing for this size."""
    if size not in STEPS:
        return '–'
    large, small = STEPS[size]
    return f'{10_000 * large:,.0f} steps against {10_000 * small:,.0f}'
