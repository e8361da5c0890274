"""Replies by hand: what number they give, and which are not guessed at."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorjax.extras.prompts import parse_reply

ASKED = (4, 3, 90)


@pytest.mark.parametrize(
    ('reply', 'number'),
    [
        ('-4', -4),
        ('\N{MINUS SIGN}4', -4),
        ('**80**', 80),
        ('80\n(1, 2, 30) = 36\n', 80),
        ('(4, 3, 90) = 80', 80),
        ('Since (3, 4, 90) = 84 is known, (4,3,90) = **84**', 84),
        ('First x - 2, then x - 8. The answer is 80.', 80),
        ('Answer: 84\nNo wait. Answer: 80', 80),
        (r'So 90 - 10 gives \boxed{80}', 80),
        ('It should be 80, I think.', 80),
        ('1. The shift of 4 is -8.\n2. The shift of 3 is -2.\nThe value is 80.', 80),
        ('I cannot tell.', None),
        ('80.5', None),
        ('8,000', None),
        ('either 80 or 84', None),
        ('90 - 10 = 80', 80),
        ('(90 - 2) - 8 = 80.', 80),
        ('90 * 2 or so: somewhere from 70 to 90', None),
        ('90 \N{EN DASH} 8 \N{EN DASH} 2 = 80', 80),
        ('f(4, 3, 90) = 90 \N{EN DASH} 8 \N{EN DASH} 2 = **80**', 80),
        ('f(4, 3, 90) = 90 - 8 - 2', None),
        ('The result of 90 \N{EN DASH} 8 \N{EN DASH} 2 is 80', None),
        ('The value of (3, 4, 90) is 84, so 80', None),
        ('somewhere from 70\N{EN DASH}90', None),
        ('between 70 - 90', None),
        ('4, 3, 90 = 80', 80),
        ('(4, 3, 90) \N{RIGHTWARDS ARROW} 80', 80),
    ],
)
def test_by_hand(reply, number):
    assert parse_reply(reply, ASKED) == number


@given(st.integers(-(10**9) + 1, 10**9 - 1), st.sampled_from(['', '\n', '.', ' ok']))
def test_any_number_survives(number, end):
    assert parse_reply(f'{number}{end}', ASKED) == number
    assert parse_reply(f'So (4, 3, 90) = {number}{end}', ASKED) == number


@settings(max_examples=40)
@given(st.text(max_size=200))
def test_no_text_breaks_it(text):
    number = parse_reply(text, ASKED)
    assert number is None or isinstance(number, int)
