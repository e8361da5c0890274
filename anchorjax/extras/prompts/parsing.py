"""The number that a reply gives, or None: models wrap it in all kinds of text."""

import re

_WHOLE = r'(-?\d{1,9})(?![\d]|[.,]\d)'
_OPERATOR = r'[-+*/\N{EN DASH}\N{MULTIPLICATION SIGN}]'
# What an operator follows is part of a calculation, or of a range.
_NUMBER = rf'{_WHOLE}(?!\s*{_OPERATOR}\s*[\d(])'
_CALCULATION = rf'(?:{_OPERATOR}|[()\d\s])+=[\s*`$]*'  # with its '='
# At the very start, perhaps after '=' or in Markdown; '1. First ...' begins a list.
_FIRST = re.compile(rf'[\s=*`$"\'>]*{_NUMBER}(?![.)]\s+\w)')
_CALCULATED = re.compile(rf'{_CALCULATION}{_NUMBER}[\s*`$]*\.?\s*')
# A number of another equation, 'the value of (3, 4, 50)', has commas after it.
_NAMED = re.compile(
    rf'\b(?:answer|value|result)\b[^\d\n-]{{0,40}}{_NUMBER}(?!\s*,\s*-?\d)', re.I
)
_BOXED = re.compile(rf'\\boxed\{{\s*{_NUMBER}\s*\}}')
_ANY = re.compile(rf'(?<![\d.,]){_WHOLE}')


def parse_reply(reply: str, asked: tuple[int, int, int]) -> int | None:
    """The whole number that the reply gives as the value of the asked equation.

    It is the first of these that the reply has:
      the number that it begins with, or with which it ends if it is a calculation;
      the number in the last `\\boxed{}`;
      the right side of the last copy of the equation, perhaps after a calculation;
      the number after the last 'answer', 'value' or 'result';
      its only number, not counting what was asked.
    None: it has several numbers and none of these signs, or no number.

    Args:
      asked: first anchor, second anchor, key item.
    """
    text = reply.replace('\N{MINUS SIGN}', '-')
    match = _FIRST.match(text) or _CALCULATED.fullmatch(text)
    if match:
        return int(match[1])
    left_side = r'\(\s*' + r',\s*'.join(map(str, asked)) + r'\s*\)'
    equation = re.compile(rf'{left_side}[\s*`$]*=[\s*`$]*(?:{_CALCULATION})?{_NUMBER}')
    for pattern in (_BOXED, equation):
        found = pattern.findall(text)
        if found:
            return int(found[-1])
    rest = re.sub(left_side, '', text)
    named = _NAMED.findall(rest)
    if named:
        return int(named[-1])
    numbers = _ANY.findall(rest)
    if len(numbers) == 1:
        return int(numbers[0])
    return None
