// What the charts share: scales, a frame with ticks, lines with gaps, a legend with values.

const FRAME = { width: 360, height: 210, left: 40, right: 10, top: 10, bottom: 36 };

const linear = (from, to, low, high) => (v) => low + ((v - from) / (to - from || 1)) * (high - low);

const fixed = (value) => Math.round(value * 10) / 10;

// At most about five round numbers from 0 to `end`.
function ticks(end) {
  const rough = Math.max(end, 1) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((v) => v >= rough);
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, i) => i * step);
}

const label = (x, y, text, anchor, name = '') =>
  s('text', { x: fixed(x), y: fixed(y), 'text-anchor': anchor, class: `tick ${name}` }, text);

const stroke = (from, to, name) => s('line', {
  x1: fixed(from[0]), y1: fixed(from[1]), x2: fixed(to[0]), y2: fixed(to[1]), class: name,
});

const inside = { x0: FRAME.left, x1: FRAME.width - FRAME.right,
  y0: FRAME.height - FRAME.bottom, y1: FRAME.top };

// yTicks: [[value, text]]
function frame(x, xTicks, y, yTicks, xTitle) {
  return [
    yTicks.map(([v]) => stroke([inside.x0, y(v)], [inside.x1, y(v)], 'rule')),
    yTicks.map(([v, text]) => label(inside.x0 - 7, y(v) + 3.5, text, 'end')),
    xTicks.map((v) => stroke([x(v), inside.y0], [x(v), inside.y0 + 4], 'axis-line')),
    xTicks.map((v) => label(x(v), inside.y0 + 16, v.toLocaleString('en'), 'middle')),
    stroke([inside.x0, inside.y0], [inside.x1, inside.y0], 'axis-line'),
    label((inside.x0 + inside.x1) / 2, FRAME.height - 4, xTitle, 'middle', 'title'),
  ].flat();
}

// A missing value is a gap; a single value between two gaps is a dot.
function line(steps, values, x, y, name) {
  const known = (i) => isNumber(values[i]) && isNumber(y(values[i]));
  const at = (i) => `${fixed(x(steps[i]))} ${fixed(y(values[i]))}`;
  let path = '';
  const dots = [];
  steps.forEach((_, i) => {
    if (!known(i)) return;
    path += `${known(i - 1) ? 'L' : 'M'}${at(i)}`;
    if (!known(i - 1) && !known(i + 1)) dots.push(i);
  });
  return [
    s('path', { d: path || 'M0 0', class: `line ${name}` }),
    ...dots.map((i) => s('circle', {
      cx: fixed(x(steps[i])), cy: fixed(y(values[i])), r: 2.5, class: `dot ${name}`,
    })),
  ];
}

const sample = (name) =>
  s('svg', { width: 26, height: 8, class: 'sample-line', 'aria-hidden': 'true' },
    stroke([1, 4], [25, 4], `line ${name}`));

// Lines: [{name, label, values}]. The legend shows the last values, or those at the pointer.
function lineLegend(lines, steps, format) {
  const when = h('li', { class: 'when' });
  const items = lines.map((l) => ({ l, value: h('b', {}) }));
  const show = (i) => {
    when.textContent = i === null ? 'last step' : `step ${steps[i].toLocaleString('en')}`;
    items.forEach(({ l, value }) => {
      value.textContent = format(i === null ? l.values.findLast(isNumber) : l.values[i]);
    });
  };
  show(null);
  const rows = items.map(({ l, value }) => h('li', {}, sample(l.name), l.label, ' ', value));
  return { element: h('ul', { class: 'lines' }, rows, when), show };
}

// Moves a vertical line to the recorded step nearest to the pointer and updates the legend.
function follow(svg, steps, x, show) {
  const rule = s('line', { y1: inside.y1, y2: inside.y0, class: 'cursor', visibility: 'hidden' });
  svg.append(rule);
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * FRAME.width;
    const far = (j) => Math.abs(x(steps[j]) - at);
    const i = steps.reduce((best, _, j) => (far(j) < far(best) ? j : best), 0);
    rule.setAttribute('x1', x(steps[i]));
    rule.setAttribute('x2', x(steps[i]));
    rule.setAttribute('visibility', 'visible');
    show(i);
  });
  svg.addEventListener('pointerleave', () => {
    rule.setAttribute('visibility', 'hidden');
    show(null);
  });
}

function panel(title, unit, ...content) {
  return h('figure', { class: 'panel' },
    h('figcaption', {}, h('strong', {}, title), ' ', h('span', {}, unit)), ...content);
}

function drawing(width, height, text, ...children) {
  const viewBox = `0 0 ${width} ${height}`;
  return s('svg', { viewBox, role: 'img', 'aria-label': text, class: 'chart' }, ...children.flat());
}
