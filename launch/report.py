"""Draws every figure a run supports and writes one self-contained report.html.

python launch/report.py --run runs/phase
"""

import pathlib
import sys

from analysis.report import claims, collect, figures, page
from anchorjax import cli
from anchorjax.storage import atomic
from anchorjax.storage.reader import open_run


def command() -> None:
    parser = cli.Parser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--run', required=True, type=pathlib.Path, help='folder of the sweep'
    )
    parser.add_argument(
        '--out', type=pathlib.Path, help='default: report.html in that folder'
    )
    flags = parser.parse_args()
    cli.use_compilation_cache()
    tell = lambda line: print(f'  {line}', file=sys.stderr)
    run = open_run(flags.run)
    chosen = collect.chosen(run)
    payload = collect.collect(run, tell)
    drawn = figures.draw_all(run, chosen, flags.run / 'figures', tell)
    payload |= {'figures': figures.payload(drawn), 'claims': claims.table(drawn)}
    out = flags.out or flags.run / 'report.html'
    atomic.write_text(out, page.render(payload))
    atomic.write_text(out.with_name('claims.md'), claims.markdown(payload['claims']))
    print(out)


if __name__ == '__main__':
    cli.run_command(command)
