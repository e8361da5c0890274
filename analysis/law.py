"""The law: which factors move memorizing to symmetric to inferential.

A designed experiment of many small sweeps (configs/law.py). Its members are collected
into one table; everything else is computed from that table alone.

  python analysis/law.py --runs 'runs/law_*' --out analysis/gallery/law
  python analysis/law.py --members analysis/gallery/law/members.csv
  python analysis/law.py --members analysis/gallery/law/members.csv \\
      --runs runs/law_mine --out analysis/gallery/law    # adds a run to the table
  python analysis/law.py --members analysis/gallery/law/members.csv \\
      --predict seq_len=9,split=code,exception=trained,batch_size=2048,...

  members.csv        every trained member: its factors, its solution, its run
  cells.csv, .md     every cell: what its seeds end at
  verdicts.md        the verdicts on the hypotheses
  effects.csv, .md   why: matched contrasts and fits
  law.png, .pdf      the picture; law.npz has its numbers
"""

import pathlib
from typing import NamedTuple

import pandas as pd

from analysis.designs import (
    cells,
    effect_table,
    effects,
    encoding,
    factors,
    figure,
    hypotheses,
    judgement,
    outcomes,
    prediction,
    regression,
    scoring,
    table,
)
from analysis.designs.collect import collect_runs
from analysis.drawing import style
from analysis.tables.folders import require_folder_for_tables
from analysis.tables.text import format_csv
from anchorjax import cli, files
from anchorjax.errors import UserError

draw = figure.draw
layout = figure.layout


class Result(NamedTuple):
    """Tables; see the modules that make them."""

    members: pd.DataFrame  # table.COLUMNS
    cells: pd.DataFrame  # cells.summarize_cells
    effects: pd.DataFrame  # effect_table.tabulate_contrasts
    scores: pd.DataFrame  # scoring.tabulate_scores; no rows without a fit
    coefficients: pd.DataFrame  # regression.tabulate_coefficients
    verdicts: pd.DataFrame  # a row per hypothesis
    remarks: list[str]  # on the fits


def compute(members: pd.DataFrame) -> Result:
    """Everything that the trained members, as `table.read_csv` returns them, say."""
    scores, coefficients, remarks = [], [], []
    for block in outcomes.list_blocks(members):
        title = outcomes.name_block(block)
        fit = regression.fit_block(members, block)
        if isinstance(fit, str):
            remarks.append(f'{title}: {fit}')
            continue
        scores.append(scoring.tabulate_scores(members, block))
        coefficients.append(regression.tabulate_coefficients(fit))
        if fit.settings < regression.MANY_SETTINGS:
            remarks.append(
                f'{title}: {fit.settings} settings, fewer than '
                f'{regression.MANY_SETTINGS}: the intervals of the fit are too narrow'
            )
        for pair in fit.confounded:
            remarks.append(
                f'{title}: {pair.first} and {pair.second} {pair.why}: the fit cannot '
                'separate them'
            )
    return Result(
        members=members,
        cells=cells.summarize_cells(members),
        effects=effect_table.tabulate_contrasts(members),
        scores=_join(scores),
        coefficients=_join(coefficients),
        verdicts=tabulate_verdicts(members),
        remarks=remarks,
    )


def save(result: Result, folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes every file but members.csv; returns their paths."""
    page = effects.format_effects(
        result.members,
        result.verdicts,
        result.effects,
        result.scores,
        result.coefficients,
        result.remarks,
    )
    texts = {
        'cells.csv': format_csv(result.cells),
        'cells.md': cells.format_cells(result.cells),
        'effects.csv': format_csv(result.effects),
        'effects.md': page,
        'verdicts.md': effects.format_verdicts(result.verdicts),
        'fit.csv': format_csv(result.coefficients),
    }
    paths = []
    for name, text in texts.items():
        files.write_text(folder / name, text)
        paths.append(folder / name)
    picture = figure.arrange_picture(result.members, result.effects)
    return paths + style.write_figure(picture, draw, layout, folder / 'law')


def tabulate_verdicts(members: pd.DataFrame) -> pd.DataFrame:
    """A row per hypothesis: what was measured, its null, the verdict and why."""
    rows = []
    for hypothesis in hypotheses.HYPOTHESES:
        reading = judgement.read_hypothesis(members, hypothesis)
        row = {
            'name': hypothesis.name,
            'hypothesis': hypothesis.text,
            'measured': reading.number,
            'null': reading.null,
            'verdict': reading.verdict.words,
            'note': reading.note,
        }
        rows.append(row)
    return pd.DataFrame(rows)


def _join(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _collect(
    patterns: list[str], base: pathlib.Path | None, folder: pathlib.Path
) -> pathlib.Path:
    """Writes members.csv from `base` and the runs that match; prints what is in it."""
    known = None if base is None else table.read_csv(base)
    collection = collect_runs(patterns)
    members = collection.members
    for note in collection.notes:
        print(note)
    if known is not None:
        members, repeated = table.add_members(known, members)
        print(f'members added to {base}: {len(members) - len(known)}')
        if repeated:
            print(f'{repeated} members of the runs were in {base} and are kept once')
    path = folder / 'members.csv'
    files.write_text(path, format_csv(members))
    print(path)
    return path


def _print_prediction(members: pd.DataFrame, text: str) -> None:
    """The prediction with gamma as it is, and with the std that it gives."""
    point = factors.parse_point(text)
    titles = {
        encoding.GAMMA: 'initialization by gamma',
        encoding.STD: 'initialization by std = width ** -gamma',
    }
    for initialization, title in titles.items():
        predicted = prediction.predict_point(members, point, initialization)
        print(f'{title}:')
        print(prediction.format_prediction(predicted))


def command() -> None:
    parser = cli.Parser(description=__doc__)
    parser.add_argument(
        '--runs', nargs='+', metavar='FOLDER', help='folders of runs, or patterns'
    )
    parser.add_argument(
        '--members',
        type=cli.parse_file,
        metavar='CSV',
        help='what --runs has written; with --runs, they are added to it',
    )
    parser.add_argument(
        '--out', type=cli.parse_folder, help='default with --members: its folder'
    )
    parser.add_argument(
        '--predict',
        metavar='FACTOR=VALUE,...',
        help='print the probabilities of this point; write nothing but members.csv',
    )
    flags = parser.parse_args()
    if not flags.runs and flags.members is None:
        raise UserError('--runs, --members: give one of them, or both')
    if flags.runs and flags.out is None:
        raise UserError('--runs: give --out, too, the folder for the tables')
    if flags.out is not None:
        require_folder_for_tables(flags.out)
    path = flags.members
    if flags.runs:
        path = _collect(flags.runs, flags.members, flags.out)
    members = table.read_csv(path)
    if flags.predict is not None:
        _print_prediction(members, flags.predict)
        return
    for written in save(compute(members), flags.out or path.parent):
        print(written)


if __name__ == '__main__':
    cli.run_command(command)
