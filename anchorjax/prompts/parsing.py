"""The number that a reply gives, or None: models wrap it in all kinds of text."""

import re

_NUMBER = r'(-?\d{1,9})(?![\d]|[.,]\d)'
# At the very start, perhaps after '=' or in Markdown; '1. First ...' begins a list, and
# '90 - 10' a calculation.
_FIRST = re.compile(rf'[\s=*`$"\'>]*{_NUMBER}(?![.)]\s+\w)(?!\s*[-+*/]\s*\d)')
_CALCULATED = re.compile(rf'[-+*/()\d\s]+=\s*{_NUMBER}\s*\.?\s*')
_NAMED = re.compile(rf'\b(?:answer|value|result)\b[^\d\n-]{{0,40}}{_NUMBER}', re.I)
_BOXED = re.compile(rf'\\boxed\{{\s*{_NUMBER}\s*\}}')
_ANY = re.compile(rf'(?<![\d.,]){_NUMBER}')


def parse_reply(reply: str, asked: tuple[int, int, int]) -> int | None:
    """The whole number that the reply gives as the value of the asked equation.

    It is the first of these that the reply has:
      the number that it begins with, or with which it ends if it is a calculation;
      the number in the last `\\boxed{}`;
      the right side of the last copy of the equation;
      the number after the last 'answer', 'value' or 'result';
      its only number.
    None: it has several numbers and none of these signs, or no number.

    Args:
      asked: first anchor, second anchor, key item.
    """
    text = reply.replace('\N{MINUS SIGN}', '-')
    match = _FIRST.match(text) or _CALCULATED.fullmatch(text)
    if match:
        return int(match[1])
    inner = r',\s*'.join(map(str, asked))
    equation = re.compile(rf'\(\s*{inner}\s*\)[\s*`$]*=[\s*`$]*{_NUMBER}')
    for pattern in (_BOXED, equation, _NAMED):
        found = pattern.findall(text)
        if found:
            return int(found[-1])
    numbers = _ANY.findall(text)
    if len(numbers) == 1:
        return int(numbers[0])
    return None
