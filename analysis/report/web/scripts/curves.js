// A member's curves over training: its answers, and its losses on a logarithmic axis.

const LAST = (values) => values.findLast(isNumber) ?? null;
const isEmpty = (lines) => lines.every(({ values }) => LAST(values) === null);

const absent = (title, why) => panel(title, '', h('p', { class: 'note' }, why));

function spoken(lines, format) {
  return lines.map((l) => `${l.label} ${format(LAST(l.values))}`).join(', ');
}

function linesPanel(title, unit, lines, y, yTicks, format) {
  const steps = data.record_steps;
  const end = Math.max(...steps, 1);
  const x = linear(0, end, inside.x0, inside.x1 - 8);
  const text = `${title} over ${end} training steps. Last values: ${spoken(lines, format)}.`;
  const svg = drawing(FRAME.width, FRAME.height, text,
    frame(x, ticks(end), y, yTicks, 'training step'),
    lines.flatMap((l) => line(steps, l.values, x, y, l.name)));
  const legend = lineLegend(lines, steps, format);
  follow(svg, steps, x, legend.show);
  const table = () => toTable([['step', ...lines.map((l) => l.label)],
    ...steps.map((step, i) => [step, ...lines.map((l) => l.values[i] ?? '')])]);
  return panel(title, unit, svg, legend.element, copyButton('Copy numbers', table));
}

function answersPanel(member) {
  const lines = READINGS.filter((r) => !isLoss(r)).map((r) => ({
    name: r.style, label: r.line, values: recorded(member, r),
  }));
  if (isEmpty(lines)) return absent('Answers', 'Nothing was recorded.');
  const y = linear(0, 1, inside.y0, inside.y1);
  const yTicks = [0, 0.25, 0.5, 0.75, 1].map((v) => [v, v.toFixed(2)]);
  return linesPanel('Answers', 'share of answers, 0 to 1', lines, y, yTicks, share);
}

function lossLines(member) {
  return data.losses.flatMap(({ eval_set, label: text, style }) => {
    const losses = member.eval_set_loss ?? [];
    const values = eval_set ? losses[data.eval_sets.indexOf(eval_set)] : member.fit_loss;
    return values ? [{ name: style, label: text, values }] : [];
  });
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const raised = (n) => [...String(Math.abs(n))].map((digit) => SUPERSCRIPTS[digit]).join('');
const power = (n) => `10${n < 0 ? '⁻' : ''}${raised(n)}`;

// Powers of ten; only some of them where there are many.
function decades(values) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const every = Math.ceil((high - low + 1) / 7);
  const all = Array.from({ length: high - low + 1 }, (_, i) => low + i);
  return all.filter((_, i) => i % every === 0);
}

function lossPanel(member) {
  const lines = lossLines(member);
  const positive = lines.flatMap((l) => l.values).filter((v) => isNumber(v) && v > 0);
  if (!positive.length) return absent('Loss', 'Nothing was recorded.');
  const powers = decades(positive);
  const high = Math.max(powers.at(-1), Math.log10(Math.max(...positive)));
  const scale = linear(powers[0], high, inside.y0, inside.y1 + 2);
  const y = (v) => (v > 0 ? scale(Math.log10(v)) : NaN); // a loss of 0 is not on the axis
  return linesPanel('Loss', 'cross-entropy in nats, logarithmic axis', lines, y,
    powers.map((n) => [10 ** n, power(n)]), number);
}
