// The embedding of the key items, projected; each point is labelled and coloured by its value.

const PLANE = { width: 360, height: 276, edge: 16, bottom: 18, stops: 6 };

const valueStop = (i, count) => `value-${Math.floor((i / count) * PLANE.stops)}`;

// One scale for both axes, so that distances can be compared.
function fitted(xy) {
  const along = [0, 1].map((d) => xy.map((point) => point[d]));
  const ends = along.map((values) => [Math.min(...values), Math.max(...values)]);
  const size = [PLANE.width - 2 * PLANE.edge, PLANE.height - PLANE.bottom - 2 * PLANE.edge];
  const scale = Math.min(...ends.map(([low, high], d) => size[d] / (high - low || 1)));
  const middle = ends.map(([low, high]) => (low + high) / 2);
  return ([x, y]) => [
    PLANE.width / 2 + (x - middle[0]) * scale,
    (PLANE.height - PLANE.bottom) / 2 - (y - middle[1]) * scale,
  ];
}

const percent = (value) => (isNumber(value) ? ` (${Math.round(100 * value)} %)` : '');

function embeddingPoints(points, count, place) {
  // Every tenth value is drawn last, so that its label stays readable.
  const round = (point) => point.value % 10 === 0;
  return [...points].sort((a, b) => round(a) - round(b)).map(({ value, at, i }) => {
    const [x, y] = place(at).map(fixed);
    return s('g', {}, s('title', {}, String(value)),
      s('circle', { cx: x, cy: y, r: 2.6, class: `point ${valueStop(i, count)}` }),
      label(x + 3.6, y + 2.6, String(value), 'start', round({ value }) ? 'value strong' : 'value'));
  });
}

function embeddingPanel(member) {
  const { values = [], xy = [], explained = [] } = member.embedding ?? {};
  const points = values.map((value, i) => ({ value, at: xy[i], i }))
    .filter(({ at }) => at?.every(isNumber));
  if (!points.length) return absent('Embedding', 'Not recorded for this member.');
  const both = percent(explained[0] + explained[1]);
  const ends = `${values[0]} to ${values.at(-1)}`;
  const svg = drawing(PLANE.width, PLANE.height,
    `Embedding of the values ${ends}, projected onto two principal components${both}.`,
    embeddingPoints(points, values.length, fitted(points.map((p) => p.at))),
    label(PLANE.width, PLANE.height - 4, `component 1${percent(explained[0])} →`, 'end', 'title'),
    label(0, PLANE.height - 4, `↑ component 2${percent(explained[1])}`, 'start', 'title'));
  const stops = Array.from({ length: PLANE.stops }, (_, i) => swatch(`value-${i}`));
  return panel('Embedding', 'principal components', svg,
    h('ul', { class: 'lines' },
      h('li', { class: 'stops' }, String(values[0]), ' ', stops, ' ', String(values.at(-1)))),
    copyButton('Copy numbers', () =>
      toTable([['value', 'component 1', 'component 2'], ...values.map((v, i) => [v, ...xy[i]])])));
}
