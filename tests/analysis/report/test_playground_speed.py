"""How many frames a second the page draws while the slider is dragged.

pytest -m slow -n0 tests/analysis/report/test_playground_speed.py
"""

import dataclasses
import json
import math
import time

import numpy as np
import pytest

from analysis.members.member import Member
from analysis.report.playground import describe
from anchorjax import config
from tests.support import cases
from tests.support.pages import network_page, report_sample
from tests.support.pages.browser import Page

SECONDS = 3.0  # of dragging
# Of the page's thread for each network that is drawn. What else runs on the machine
# changes the frames a second, but hardly this.
MOST_CPU_MS = 40
# Counts the frames of the screen, and the redraws of the side on the left.
COUNT = """(() => {
  window.counted = { frames: 0, redraws: 0, times: [], before: performance.now() };
  const title = document.querySelector('#sides h3');
  new MutationObserver(() => { counted.redraws += 1; })
    .observe(title, { childList: true, characterData: true, subtree: true });
  const tick = (now) => {
    counted.frames += 1;
    counted.times.push(now - counted.before);
    counted.before = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
})()"""


def make_network(seq_len: int) -> Member:
    """A network of the sizes of configs/phase.py, with random weights."""
    preset = 'configs/phase.py' + (':laptop' if seq_len == 9 else '')
    experiment = config.resolve(config.load(preset))
    assert experiment.task.seq_len == seq_len
    experiment = dataclasses.replace(experiment, loop=())
    params = cases.random_params(experiment, scale=0.1)
    return Member(experiment, params, {}, step=0)


def write_networks(seq_len: int) -> dict:
    """The sample's payload with a network for each of its 20 members."""
    payload = report_sample.make_payload()
    member = make_network(seq_len)
    networks = []
    for number in range(len(payload['members'])):
        shifted = {'W_U': np.roll(member.params['W_U'], number, axis=1)}
        changed = member._replace(params=member.params | shifted)
        network = network_page.describe_network(changed, 'float16')
        networks.append({**network, 'member': number, 'task': 0})
    tasks = [describe.describe_task(member.experiment.task)]
    payload['playground'] = {'missing': None, 'networks': networks, 'tasks': tasks}
    return payload


def drag(tab: Page, selector: str, seconds: float) -> None:
    """Moves the thumb of a slider from end to end, with the button down."""
    box = f'document.querySelector({json.dumps(selector)})'
    tab.value(f'{box}.scrollIntoView({{block: "start", behavior: "instant"}})')
    left, top, width, height = tab.value(
        f'(({{x, y, width, height}}) => [x, y, width, height])'
        f'({box}.getBoundingClientRect())'
    )
    event = {'y': top + height / 2, 'button': 'left', 'buttons': 1, 'clickCount': 1}
    tab.send('Input.dispatchMouseEvent', type='mousePressed', x=left + 8, **event)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        phase = math.sin(2 * math.pi * (end - time.monotonic()) / 1.5)
        x = left + width * (0.5 + 0.48 * phase)
        tab.send('Input.dispatchMouseEvent', type='mouseMoved', x=x, **event)
        time.sleep(0.004)
    tab.send('Input.dispatchMouseEvent', type='mouseReleased', x=x, **event)


def read_cpu_seconds(tab: Page) -> float:
    """CPU time of the page's thread since it was opened."""
    metrics = tab.send('Performance.getMetrics')['metrics']
    values = {metric['name']: metric['value'] for metric in metrics}
    return values['TaskDuration']


@pytest.mark.slow
@pytest.mark.parametrize('seq_len', [4, 9])
def test_frames_a_second_while_the_slider_is_dragged(
    seq_len, open_payload, record_property
):
    tab = open_payload(write_networks(seq_len))
    tab.send('Performance.enable', timeDomain='threadTicks')
    drag(tab, '#a-slider', 0.5)  # every network is decoded once
    tab.value(COUNT)
    before = read_cpu_seconds(tab)
    drag(tab, '#a-slider', SECONDS)
    cpu_seconds = read_cpu_seconds(tab) - before
    counted = tab.value('counted')
    assert tab.problems == []
    cpu_ms = 1000 * cpu_seconds / counted['redraws']
    record_property(
        f'dragging the slider, {seq_len} tokens',
        f'{counted["frames"] / SECONDS:.0f} frames a second, '
        f'longest {max(counted["times"]):.0f} ms; '
        f'{counted["redraws"] / SECONDS:.0f} networks a second, '
        f'{cpu_ms:.0f} ms of CPU for each',
    )
    assert counted['redraws'] > SECONDS
    assert cpu_ms < MOST_CPU_MS
