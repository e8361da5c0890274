"""Figures and tables of trained sweeps.

python -m analysis --list                             every figure: paper, needs, title
python -m analysis FIGURE --run RUN [flags]           one figure (FIGURE --help)
python -m analysis FIGURE ... --figures FOLDER        a figure of your own, a file there
python -m analysis claims PAPER --runs RUN ... --out FOLDER
                                                      the claims of a paper: p1, p2, ...
python -m analysis claims PAPER --members members.csv --out FOLDER
                                                      the same from a committed table
python -m analysis claims FILE.py --runs RUN ... --out FOLDER
                                                      claims of your own, of any task
python -m analysis pages                              README, RESULTS, gallery: anew
"""

import sys
from functools import partial

from analysis import claim_words, claims, figure, frame, pages, papers
from analysis.pages import gallery
from analysis.tables.folders import require_folder_for_tables
from analysis.tables.text import format_csv
from anchorjax import cli, files
from anchorjax.errors import UserError


def command() -> None:
    words = sys.argv[1:]
    if not words or words[0] in ('-h', '--help'):
        cli.print_usage(__doc__)
    elif words[0] == 'claims':
        run_claims(words[1:])
    elif words[0] == 'pages':
        run_pages(words[1:])
    else:
        run_figure(words)


def run_figure(words: list[str]) -> None:
    """Lists the figures, or draws one; those of --figures come first."""
    parser = cli.Parser(add_help=False)
    parser.add_argument('--figures', type=cli.parse_folder)
    flags, words = parser.parse_known_args(words)
    own = figure.import_figures(flags.figures) if flags.figures else {}
    if not words or words[0] == '--list':
        print(figure.list_figures(own))
    else:
        module = own.get(words[0]) or figure.find_figure(words[0])
        figure.run_figure(module, words[1:])


def run_claims(words: list[str]) -> None:
    """Writes members.csv and verdicts.csv of a paper, and prints what they say."""
    parser = cli.Parser(prog='python -m analysis claims')
    parser.add_argument('paper', metavar='PAPER', help='p1, p2, ..., or your own file')
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument('--runs', nargs='+', metavar='FOLDER')
    source.add_argument('--members', type=cli.parse_file, metavar='CSV')
    parser.add_argument('--out', type=cli.parse_folder, required=True)
    flags = parser.parse_args(words)
    package = papers.import_claims(flags.paper)
    require_folder_for_tables(flags.out)
    if flags.members:
        members = frame.read_csv(flags.members)
    else:
        cli.use_compilation_cache()
        members = frame.collect(frame.open_runs(flags.runs), package.tabulate)
    try:
        table = claims.tabulate(package.CLAIMS, members)
    except KeyError as error:  # a column
        line = f'{flags.paper}: its tabulate makes no column {error.args[0]}'
        if flags.members:
            line = f'{flags.members}: is no table of {flags.paper}: {error.args[0]}'
        raise UserError(line) from None
    paths = [flags.out / 'members.csv', flags.out / 'verdicts.csv']
    for path, rows in zip(paths, (members, table), strict=True):
        files.write_text(path, format_csv(rows))
    # After the files, which are there although `| head` stops reading.
    lines = [*claim_words.list_lines(table), claim_words.count_verdicts(table)]
    named = {name for claim in package.CLAIMS for name in claim.runs}
    for name in sorted(set(members.run) - named):
        lines.append(f'no claim is about a run whose folder is called {name}')
    print(*lines, *paths, sep='\n')


def run_pages(words: list[str]) -> None:
    """Renders the pages of the repository, and prints their paths."""
    text = 'Renders README, RESULTS and the gallery from analysis/pages.'
    parser = cli.Parser(prog='python -m analysis pages', description=text)
    text = 'to draw again from the numbers beside them, before'
    add = partial(parser.add_argument, nargs='+', default=[], metavar='PNG')
    add('--pictures', type=cli.parse_file, help=text)
    for path in parser.parse_args(words).pictures:
        picture = gallery.read_picture(path)
        print(gallery.draw_again(picture, path.parent))
    for path in pages.write_pages():
        print(path)


if __name__ == '__main__':
    cli.run_command(command)
