"""The command `anchorjax`: every command line of this repository under one name.

  anchorjax train --config configs/phase.py     trains a sweep, draws two figures
  anchorjax report --run RUN                    writes its page: every figure, one file
  anchorjax figure NAME --run RUN               draws one figure
  anchorjax figure --list                       names all figures
  anchorjax claims PAPER --runs RUN ...         judges the claims of p1, p2, ...
  anchorjax pages                               writes README, RESULTS, the gallery anew
  anchorjax status --run RUN                    says what every shard is doing
  anchorjax finalize --run RUN                  writes tables and figures of shards
  anchorjax submit --shards=N -- WORDS          trains a sweep on Slurm
  anchorjax jobset --name=NAME ... -- WORDS     prints a JobSet for TPUs on GKE
  anchorjax data SET ...                        prepares a corpus
  anchorjax weights show|export ...             reads and writes GPT-2's weights
  anchorjax prompts STEP ...                    asks a language model the same task
  anchorjax bench                               measures speed

WORDS are those of `train`. COMMAND --help says more. The same commands are files of
launch/, as python launch/sweep.py, or python -m analysis. launch/minimal.py, the whole
idea in one file, is to be read, and runs by itself.
"""

import importlib
import sys

from anchorjax import cli
from anchorjax.errors import UserError, nearest

# The module whose `command` runs, and the words that it gets before the user's.
COMMANDS = {
    'train': ('launch.sweep', ()),
    'report': ('launch.report', ()),
    'figure': ('analysis.__main__', ()),
    'claims': ('analysis.__main__', ('claims',)),
    'pages': ('analysis.__main__', ('pages',)),
    'status': ('launch.status', ()),
    'finalize': ('launch.finalize', ()),
    'submit': ('launch.submit', ()),
    'jobset': ('launch.jobset', ()),
    'data': ('launch.data', ()),
    'weights': ('launch.weights', ()),
    'prompts': ('launch.prompts', ()),
    'bench': ('launch.bench', ()),
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
