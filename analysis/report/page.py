"""Renders a report's payload as one HTML file: no network, no framework, readable offline.

What stands still (figures, claims, provenance) is HTML written here, so that it needs no script;
what answers to the reader (diagram, member) is drawn by the page's own script from JSON. Names in
a manifest are somebody else's: all text is escaped here, and set as textContent there.
"""

import base64
import hashlib
import json
import math
import pathlib
import re
from typing import Any

from analysis.report import sections

HERE = pathlib.Path(__file__).parent / 'web'
SCRIPTS = ('dom', 'data', 'grid', 'chart', 'curves', 'attention', 'embedding', 'detail')
SCRIPTS += ('select', 'controls', 'page')
STYLES = ('page', 'diagram', 'member', 'sections', 'small')  # the last may overrule
_DRAWN = (
    'unseen',
    'axes',
    'row_axis',
    'column_axis',
    'probes',
    'mappings',
    'record_steps',
    'members',
)
_SERIES = ('agreement', 'probe_loss', 'train_loss', 'attention', 'embedding')
_DIGITS = 3  # of a series: more cannot be seen, and thousands of curves add up


def render(payload: dict[str, Any]) -> str:
    """The whole page; `payload` is what analysis/report/collect.py builds."""
    style = _joined(STYLES, 'css')
    script = f"(() => {{\n'use strict';\n{_joined(SCRIPTS, 'js')}\n}})();"
    return _fill(
        _asset('page.html'),
        policy=_policy(style, script),
        style=style,
        script=script,
        title=sections.text(payload['title']),
        **{name: sections.text(value) for name, value in payload['unseen'].items()},
        summary=sections.text(payload['summary']),
        created=sections.text(payload['created']),
        figures=sections.figures(payload['figures']),
        claims=sections.claims(payload['claims']),
        provenance=sections.provenance(payload['provenance']),
        data=_json(payload),
    )


def _asset(name: str) -> str:
    return (HERE / name).read_text(encoding='utf-8')


def _joined(names: tuple[str, ...], end: str) -> str:
    return '\n'.join(_asset(f'{name}.{end}') for name in names)


def _fill(template: str, **values: str) -> str:
    """In one pass: a value that looks like a placeholder stays what it is."""
    return re.sub(r'\{\{(\w+)\}\}', lambda found: values[found[1]], template)


def _policy(style: str, script: str) -> str:
    """Only the two inlined texts may run; nothing may be loaded from anywhere."""

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    return (
        f"default-src 'none'; style-src 'sha256-{digest(style)}'; "
        f"script-src 'sha256-{digest(script)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _json(payload: dict[str, Any]) -> str:
    """What the script draws, as JSON that can neither end its element nor hold a NaN."""
    drawn = {name: payload[name] for name in _DRAWN}
    drawn['members'] = [
        {k: _rounded(v) if k in _SERIES else v for k, v in m.items()}
        for m in payload['members']
    ]
    text = json.dumps(
        _finite(drawn), allow_nan=False, separators=(',', ':'), ensure_ascii=False
    )
    for character in '<>&\u2028\u2029':
        text = text.replace(character, f'\\u{ord(character):04x}')
    return text


def _rounded(value: Any) -> Any:
    if isinstance(value, float) and math.isfinite(value):
        return float(f'{value:.{_DIGITS}g}')
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, list | tuple) else value


def _finite(value: Any) -> Any:
    """NaN and infinity as null, at any depth: JSON has no word for them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list | tuple) else value
