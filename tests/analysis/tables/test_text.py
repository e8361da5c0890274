"""Cells of tables as a reader sees them, and a cell that would break its table."""

from analysis.tables.text import format_table


def test_a_bar_does_not_end_a_cell():
    text = format_table(['a', '|b|'], [['1', 'x | y'], ['', '–']])
    assert text.splitlines() == [
        '| a | \\|b\\| |',
        '|---|---|',
        '| 1 | x \\| y |',
        '|  | – |',
    ]
    assert format_table(('a',), []) == '| a |\n|---|'
