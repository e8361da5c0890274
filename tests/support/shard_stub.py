"""Stands in for launch/sweep.py where a real sweep adds nothing but seconds.

Counts steps of a tenth of a second on disk; stops and continues as a sweep does. --mode=I=MODE
makes shard I `refuse` (exit code 2), `crash` (SIGKILL), or `yield` (exit code 75, three times).
"""

import argparse
import os
import pathlib
import signal
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument('--shard')
parser.add_argument('--workdir', type=pathlib.Path)
parser.add_argument('--steps', type=int, default=2)
parser.add_argument('--mode', action='append', default=[])
flags = parser.parse_args()
asked = []
for number in (signal.SIGTERM, signal.SIGUSR2):
    signal.signal(number, lambda n, _: asked.append(n))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])

index = flags.shard.split('/')[0]
mode = dict(word.split('=') for word in flags.mode).get(index)
starts, state = flags.workdir / f'starts_{index}', flags.workdir / f'state_{index}'
started = len(starts.read_text()) if starts.exists() else 0
starts.write_text('x' * (started + 1))
if mode == 'refuse':
    sys.exit(2)
if mode == 'crash':
    os.kill(os.getpid(), signal.SIGKILL)
if mode == 'yield' and started < 3:
    sys.exit(75)
step = int(state.read_text()) if state.exists() else 0
print(f'step {step}', flush=True)
while step < flags.steps and not asked:
    time.sleep(0.1)
    step += 1
state.write_text(str(step))
sys.exit(0 if step == flags.steps else 75)
