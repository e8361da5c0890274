"""Cells of tables as a reader sees them, and a cell that would break its table."""

import math

from analysis.tables.text import format_counts, format_list, format_range, format_table


def test_a_bar_does_not_end_a_cell():
    text = format_table(['a', '|b|'], [['1', 'x | y'], ['', '–']])
    assert text.splitlines() == [
        '| a | \\|b\\| |',
        '|---|---|',
        '| 1 | x \\| y |',
        '|  | – |',
    ]
    assert format_table(('a',), []) == '| a |\n|---|'


def test_a_range_is_of_several_numbers():
    assert format_range(0.72, 0.5, 0.95, 3) == '0.72 (0.50–0.95)'
    assert format_range(0.72, 0.72, 0.72, 1) == '0.72'
    assert format_range(math.nan, math.nan, math.nan, 0) == '–'


def test_a_list_of_nothing_is_a_dash():
    assert format_list([0.0, 0.5, 1.0]) == '0.00, 0.50, 1.00'
    assert format_list([0.25, math.nan]) == '0.25, –'
    assert format_list([math.nan, math.nan]) == '–'


def test_what_does_not_occur_is_not_counted():
    counts = {'composed': 2, 'symmetric': 0, 'other': 1}
    assert format_counts(counts) == 'composed 2, other 1'
    assert format_counts({'symmetric': 0}) == '–'
