// Answers to the unseen pair by the position of the key: two bars for each position.

const BARS = ['composed', 'symmetric'];

function positionBars(scores, x, y, width) {
  return BARS.flatMap((mapping, b) => data.positions.map((position, i) => {
    const value = scores[mapping]?.[i];
    if (!isNumber(value)) return null;
    const left = x(i) + (b - 1) * width;
    const text = `key at position ${position}: ${mapping} ${share(value)}`;
    return s('rect', {
      x: fixed(left), y: fixed(y(value)), width: fixed(width * 0.9),
      height: fixed(Math.max(1, y(0) - y(value))), class: `column ${mapping}`,
    }, s('title', {}, text));
  }).filter(Boolean));
}

const positionWords = (scores) => data.positions.map((position, i) =>
  `${position}: ${BARS.map((m) => `${m} ${share(scores[m]?.[i])}`).join(', ')}`).join('; ');

// With the key at the last position the sequence ends in the second anchor, not in noise.
function positionPanel(member) {
  const title = 'Answers by position of the key';
  const scores = member.by_position;
  const values = BARS.flatMap((mapping) => scores?.[mapping] ?? []);
  if (!values.some(isNumber)) return absent(title, 'Not recorded for this member.');
  const band = (inside.x1 - inside.x0) / data.positions.length;
  const x = (i) => inside.x0 + band * (i + 0.5);
  const y = linear(0, 1, inside.y0, inside.y1);
  const yTicks = [0, 0.25, 0.5, 0.75, 1].map((v) => [v, v.toFixed(2)]);
  const svg = drawing(FRAME.width, FRAME.height,
    `Agreement on the unseen pair by the position of the key. ${positionWords(scores)}.`,
    frame(x, [], y, yTicks, 'position of the key, from 0'),
    data.positions.map((position, i) => label(x(i), inside.y0 + 16, String(position), 'middle')),
    positionBars(scores, x, y, Math.min(28, band * 0.4)));
  const legend = BARS.map((mapping) => h('li', {}, swatch(mapping), mapping));
  const table = () => toTable([['position', ...BARS], ...data.positions.map((position, i) =>
    [position, ...BARS.map((mapping) => scores[mapping]?.[i] ?? '')])]);
  return panel(title, 'share of answers to the unseen pair', svg,
    h('ul', { class: 'lines' }, legend), copyButton('Copy numbers', table));
}
