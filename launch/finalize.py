"""Writes the tables and the figures: python launch/finalize.py --run runs/phase

They show what is trained so far. Every shard writes them when it ends; this command is
for a sweep that is still running, or was stopped.
"""

from analysis.first_look import describe_claims, save_figures
from anchorjax import cli
from anchorjax.storage.sweep_folder import read_folder
from anchorjax.sweeps.publish import publish


def command() -> None:
    parser = cli.Parser(description=__doc__)
    parser.add_argument(
        '--run', type=cli.parse_folder, required=True, help='folder of the sweep'
    )
    run, paths = publish(read_folder(parser.parse_args().run), save_figures)
    cli.print_results(run, paths)
    for line in describe_claims(run, {}):  # what was set then is not known here
        print(line)


if __name__ == '__main__':
    cli.run_command(command)
