"""Stands in for launch/sweep.py where a real sweep would only cost time.

Counts steps of a tenth of a second on disk; stops and continues as a sweep does.
--mode=I=MODE makes shard I `refuse` (exit code 2), `crash` (SIGKILL), `yield` (three
times exit code 75) or `hang` (its first start runs until it is killed).
"""

import argparse
import os
import pathlib
import signal
import sys
import time
from types import FrameType

parser = argparse.ArgumentParser()
parser.add_argument('--shard')
parser.add_argument('--workdir', type=pathlib.Path)
parser.add_argument('--steps', type=int, default=2)
parser.add_argument('--mode', action='append', default=[])
flags = parser.parse_args()
index = flags.shard.split('/')[0]
modes = dict(word.split('=') for word in flags.mode)
mode = modes.get(index)
signals: list[int] = []


def note_signal(number: int, frame: FrameType | None) -> None:
    signals.append(number)


for number in (signal.SIGTERM, signal.SIGUSR2):
    signal.signal(number, note_signal)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])

starts_file = flags.workdir / f'starts_{index}'
with open(starts_file, 'a') as file:
    starts = file.tell()
    file.write('x')
if mode == 'refuse':
    sys.exit(2)
if mode == 'crash':
    os.kill(os.getpid(), signal.SIGKILL)
if mode == 'yield' and starts < 3:
    sys.exit(75)

state = flags.workdir / f'state_{index}'
step = 0
if state.exists():
    step = int(state.read_text())
print(f'step {step} in process {os.getpid()}', flush=True)
must_hang = mode == 'hang' and starts == 0
while must_hang or step < flags.steps:
    time.sleep(0.1)
    step += 1
    if (
        signals and not must_hang
    ):  # after the step, as a sweep does: a start never idles
        break
state.write_text(str(step))
if step < flags.steps:
    sys.exit(75)
