"""README's example of a tracker, run as it stands, with TensorBoard's own writer."""

import json
import re
import struct

import pytest

from tests.support.sweeps import ROOT

BLOCK = re.compile(r'```python\n(writers = .*?)```', re.DOTALL)


def test_a_tracker_gets_a_curve_for_each_network(tmp_path, monkeypatch, two_lanes):
    tensorboardX = pytest.importorskip('tensorboardX')
    metrics = two_lanes.folder.workdir / 'metrics.jsonl'
    lines = []
    for line in metrics.read_text().splitlines():
        lines.append(json.dumps(json.loads(line) | {'depth': 1}))  # no axis of its
    (tmp_path / 'runs/phase').mkdir(parents=True)
    (tmp_path / 'runs/phase/metrics.jsonl').write_text('\n'.join(lines))
    monkeypatch.chdir(tmp_path)
    (code,) = BLOCK.findall((ROOT / 'README.md').read_text())
    names = {'json': json, 'tensorboardX': tensorboardX}
    exec(code, names)
    for writer in names['writers'].values():
        writer.close()
    members = two_lanes.members
    assert len(names['writers']) == len(members)
    for row in members.itertuples():
        (path,) = (tmp_path / f'tracked/1/{row.gamma}/{row.seed}').iterdir()
        point = {'gamma': row.gamma, 'seed': row.seed}
        losses = two_lanes.curves.train_loss.sel(point).squeeze()
        assert read_scalars(path, 'train_loss') == pytest.approx(
            dict(zip(losses.step.values.tolist(), losses.values.tolist(), strict=True))
        )


def read_scalars(path, name: str) -> dict[int, float]:
    """{step: value} of a scalar in an event file (TFRecord framing, by hand)."""
    from tensorboardX.proto.event_pb2 import Event

    data, found = path.read_bytes(), {}
    while data:
        (length,) = struct.unpack('<Q', data[:8])
        event = Event.FromString(data[12 : 12 + length])
        data = data[16 + length :]
        for value in event.summary.value:
            if value.tag == name:
                found[event.step] = value.simple_value
    return found
