"""Stands in for launch/sweep.py where a real sweep would only cost time.

Counts steps of a tenth of a second on disk; stops and continues as a sweep does.
--mode: `refuse` (exit code 2) or `crash` (SIGKILL).
"""

import argparse
import os
import pathlib
import signal
import sys
import time
from types import FrameType

parser = argparse.ArgumentParser()
parser.add_argument('--workdir', type=pathlib.Path)
parser.add_argument('--steps', type=int, default=2)
parser.add_argument('--mode', default='')
flags = parser.parse_args()
signals: list[int] = []


def note_signal(number: int, frame: FrameType | None) -> None:
    signals.append(number)


for number in (signal.SIGTERM, signal.SIGUSR2):
    signal.signal(number, note_signal)

with open(flags.workdir / 'starts', 'a') as file:
    file.write('x')
if flags.mode == 'refuse':
    sys.exit(2)
if flags.mode == 'crash':
    os.kill(os.getpid(), signal.SIGKILL)

state = flags.workdir / 'state'
step = 0
if state.exists():
    step = int(state.read_text())
print(f'step {step}, started by {os.getppid()}', flush=True)
while step < flags.steps:
    time.sleep(0.1)
    step += 1
    if signals:  # after a step, as a sweep does
        break
state.write_text(str(step))
if step < flags.steps:
    sys.exit(75)
