"""The command `anchorjax`: command lines of this folder under one name.

  anchorjax train --config configs/phase.py    launch/sweep.py
  anchorjax figure NAME --run RUN              python -m analysis NAME
  anchorjax figure --list
  anchorjax claims PAPER --runs RUN ...        python -m analysis claims
  anchorjax report --run RUN                   launch/report.py
  anchorjax status --run RUN                   launch/status.py
  anchorjax finalize --run RUN                 launch/finalize.py
  anchorjax data SET ...                       launch/data.py
  anchorjax prompts STEP ...                   launch/prompts.py

Every command has --help. Clusters, GPT-2's weights and the table of speed have none:
launch/submit.py, jobset.py, weights.py and bench.py.
"""

import importlib
import sys

from anchorjax import cli
from anchorjax.errors import UserError, nearest

# The module whose `command` runs, and the words that it gets before the user's.
COMMANDS = {
    'train': ('launch.sweep', ()),
    'figure': ('analysis.__main__', ()),
    'claims': ('analysis.__main__', ('claims',)),
    'report': ('launch.report', ()),
    'status': ('launch.status', ()),
    'finalize': ('launch.finalize', ()),
    'data': ('launch.data', ()),
    'prompts': ('launch.prompts', ()),
}


def command() -> None:
    words = sys.argv[1:]
    if not words or words[0] in ('-h', '--help'):
        cli.print_usage(__doc__)
        return
    name, *rest = words
    if name not in COMMANDS:
        raise UserError(f'no command {name!r}, {nearest(name, COMMANDS)}; see --help')
    path, first = COMMANDS[name]
    sys.argv = [f'anchorjax {name}', *first, *rest]
    importlib.import_module(path).command()


def main() -> None:
    cli.run_command(command)


if __name__ == '__main__':
    main()
