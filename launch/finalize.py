"""Writes the tables and the figures: python launch/finalize.py --run runs/phase

They show what is trained so far. Every shard writes them when it ends; this command is
for a sweep that is still running, or was stopped.
"""

import functools

from analysis.first_look import show_results
from anchorjax import cli
from anchorjax.storage.sweep_folder import read_folder
from anchorjax.sweeps.publish import publish


def command() -> None:
    parser = cli.Parser(description=__doc__)
    parser.add_argument(
        '--run', type=cli.parse_folder, required=True, help='folder of the sweep'
    )
    folder = read_folder(parser.parse_args().run)
    # What the command line of the sweep set is not known here.
    publish(folder, functools.partial(show_results, overrides={}))


if __name__ == '__main__':
    cli.run_command(command)
