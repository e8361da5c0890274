"""The parts of the report that stand still: figures, claims, provenance, as escaped HTML."""

import base64
import html
import json
from collections.abc import Iterator
from typing import Any

VERDICTS = {
    'holds': ('yes', '✓'),
    'does not hold': ('no', '✗'),
    'cannot be tested here': ('open', '○'),
}


def text(value: Any) -> str:
    """Escaped for HTML, in an element or between the quotes of an attribute."""
    return html.escape('' if value is None else str(value))


def figures(given: list[dict[str, Any]]) -> str:
    """Cards of what was drawn; the reason of what was not."""
    there = [_figure(f) for f in given if f['png_base64']]
    missing = [f for f in given if not f['png_base64']]
    parts = [f'<div class="cards">{"".join(there)}</div>'] if there else []
    if missing:
        rows = ''.join(
            f'<dt>{text(f["title"])}</dt><dd>{text(f["missing"] or "not drawn")}</dd>'
            for f in missing
        )
        parts.append(f'<h3>Not drawn</h3><dl class="missing">{rows}</dl>')
    return '\n'.join(parts) or '<p class="note">No figure was drawn.</p>'


def _figure(figure: dict[str, Any]) -> str:
    title, caption = text(figure['title']), text(figure['caption'])
    # Anything but base64 would end the attribute, or be a picture of something else.
    png = base64.b64encode(
        base64.b64decode(figure['png_base64'], validate=True)
    ).decode()
    return (
        f'<figure class="card"><button type="button" class="picture" aria-label="Enlarge: {title}">'
        f'<img loading="lazy" alt="{title}. {caption}" src="data:image/png;base64,{png}"></button>'
        f'<figcaption><strong>{title}</strong> {caption}</figcaption></figure>'
    )


def claims(given: list[dict[str, Any]]) -> str:
    """The papers' sentences beside our numbers; the verdict is a word and a sign."""
    if not given:
        return '<p class="note">No claim was checked.</p>'
    counts = {v: sum(c['verdict'] == v for c in given) for v in VERDICTS}
    tally = ' · '.join(f'{v}: {n}' for v, n in counts.items())
    names = ('Source', 'The paper says', 'Here', 'Verdict', 'Note')
    head = ''.join(f'<th role="columnheader" scope="col">{name}</th>' for name in names)
    # The roles are said aloud because a phone's layout makes blocks of the rows.
    return (
        f'<p class="meta">{tally}</p>'
        f'<table class="claims" role="table"><thead role="rowgroup"><tr role="row">{head}</tr>'
        f'</thead><tbody role="rowgroup">{"".join(map(_claim, given))}</tbody></table>'
    )


def _claim(claim: dict[str, Any]) -> str:
    kind, symbol = VERDICTS.get(claim['verdict'], ('open', '○'))
    verdict = (
        f'<span class="verdict {kind}"><span aria-hidden="true">{symbol}</span> '
        f'{text(claim["verdict"])}</span>'
    )
    cells = {
        'source': text(claim['source']),
        'sentence': text(claim['sentence']),
        'number': text(claim['number']),
        'verdict': verdict,
        'note': text(claim.get('note')),
    }
    row = ''.join(f'<td role="cell" class="{k}">{v}</td>' for k, v in cells.items())
    return f'<tr role="row">{row}</tr>'


def provenance(given: dict[str, Any]) -> str:
    """The command, what is short, and every nested table behind its name."""
    lines = {k: v for k, v in given.items() if not isinstance(v, dict)}
    groups = {k: v for k, v in given.items() if isinstance(v, dict)}
    command = lines.pop('command', None)
    parts = (
        [f'<pre class="scroll" tabindex="0">{text(command)}</pre>'] if command else []
    )
    parts += [_pairs(lines)] if lines else []
    parts += [
        f'<details><summary>{text(_words(name))}</summary>{_pairs(value)}</details>'
        for name, value in groups.items()
    ]
    return '\n'.join(parts)


def _pairs(tree: dict[str, Any]) -> str:
    rows = ''.join(f'<dt>{text(k)}</dt><dd>{text(v)}</dd>' for k, v in _leaves(tree))
    return f'<dl class="pairs">{rows}</dl>'


def _leaves(tree: dict[str, Any], above: str = '') -> Iterator[tuple[str, str]]:
    """(dotted path, value) of every leaf, as on the command line."""
    for name, value in tree.items():
        path = f'{above}{name}'
        if isinstance(value, dict) and value:
            yield from _leaves(value, f'{path}.')
        else:
            yield (
                path,
                value if isinstance(value, str) else json.dumps(value, default=str),
            )


def _words(name: str) -> str:
    return str(name).replace('_', ' ')
