"""Renders a report's payload as one HTML file: no network, readable offline.

Figures, claims and provenance are Jinja2 templates, so that they need no script. The
diagram and the members, which react to the reader, are drawn by the page's own script
from JSON. The names in a manifest are not trusted: Jinja2 escapes all text here, and
the script only sets it as textContent.
"""

import base64
import hashlib
from typing import Any

import jinja2
from markupsafe import Markup

from analysis import papers
from analysis.claims import FAILS, HOLDS, OPPOSITE, UNDECIDED
from analysis.report.numbers import shorten
from analysis.report.words import WEB

SCRIPTS = ('dom', 'data', 'address', 'copy', 'grid', 'chart', 'curves', 'positions')
SCRIPTS += ('groups', 'attention', 'embedding', 'detail', 'select', 'controls')
SCRIPTS += ('playground/weights', 'playground/maths', 'playground/forward')
SCRIPTS += ('playground/rules', 'playground/state', 'playground/sequence')
SCRIPTS += ('playground/answer', 'playground/edges', 'playground/sides')
SCRIPTS += ('playground/puzzle', 'playground/start', 'page')
# The last may overrule.
STYLES = ('page', 'diagram', 'member', 'playground', 'sections', 'small')
# Of the verdicts that a test gave.
VERDICT_STYLES = {HOLDS: 'yes', FAILS: 'no', OPPOSITE: 'no', UNDECIDED: 'open'}


def render(payload: dict[str, Any]) -> str:
    """The whole page; `payload` is what analysis/report/write.py builds."""
    style = join_files('styles', STYLES, 'css')
    code = join_files('scripts', SCRIPTS, 'js')
    script = f"(() => {{\n'use strict';\n{code}\n}})();"
    content = payload | {
        'verdict_styles': VERDICT_STYLES,
        'papers': list(papers.list_papers().values()),
        'policy': _write_policy(style, script),
        'style': Markup(style),  # our own files, not the payload
        'script': Markup(script),
        'data': shorten(payload['data']),  # JSON has no NaN: a missing number is null
    }
    return _make_templates().get_template('page.html').render(content)


def join_files(folder: str, names: tuple[str, ...], suffix: str) -> str:
    """The text of some files in a folder of web/, one after the other."""
    texts = []
    for name in names:
        path = WEB / folder / f'{name}.{suffix}'
        texts.append(path.read_text(encoding='utf-8'))
    return '\n'.join(texts)


def _make_templates() -> jinja2.Environment:
    """Templates that escape every value and refuse names that are not given."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(WEB),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # `tojson` also escapes what could end the script element.
    templates.policies['json.dumps_kwargs'] = {
        'allow_nan': False,
        'separators': (',', ':'),
        'ensure_ascii': False,
    }
    return templates


def _write_policy(style: str, script: str) -> str:
    """Only the two inlined texts may run; nothing may be loaded from anywhere."""
    return (
        "default-src 'none'; "
        f"style-src 'sha256-{_hash_text(style)}'; "
        f"script-src 'sha256-{_hash_text(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash_text(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
