// The phase diagram: a table with one cell per (row, column), usable with the arrow keys.

// Colours of 0 and 1 by theme. The hues are those of analysis/drawing/style.py; the dark theme
// has a lighter blue.
const RAMPS = {
  light: { zero: '#f4f3ef', composed: '#0072b2', symmetric: '#e69f00', heldout: '#565b63',
    'eval_set-0': '#565b63', 'eval_set-1': '#0072b2', 'eval_set-2': '#00805e', 'eval_set-3': '#a8480a',
    'eval_set-4': '#9c4c7c', 'eval_set-5': '#6a5acd' },
  dark: { zero: '#212429', composed: '#2b93d4', symmetric: '#e69f00', heldout: '#b4b8bf',
    'eval_set-0': '#b4b8bf', 'eval_set-1': '#3a9fde', 'eval_set-2': '#33b38c', 'eval_set-3': '#e88f4f',
    'eval_set-4': '#d993ba', 'eval_set-5': '#a69af0' },
};

const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

function shade(name, value, theme) {
  const from = channels(RAMPS[theme].zero), to = channels(RAMPS[theme][name]);
  return from.map((c, i) => Math.round(c + (to[i] - c) * Math.min(1, Math.max(0, value))));
}

// Black or white, whichever has more contrast: at least 4.58 to 1 on any colour.
function inkOn(rgb) {
  const [r, g, b] = rgb.map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return light > 0.179 ? '#000' : '#fff';
}

function paint(element, which, value, theme) {
  const rgb = shade(which.style, value / topOf(which), theme);
  element.style.setProperty('--fill', `rgb(${rgb.join(' ')})`);
  element.style.setProperty('--on', inkOn(rgb));
}

const short = (which, value) => shownAs(which, value).replace(/^0\./, '.'); // .58, so that five columns fit on a phone

function cellText(which, cell, dense) {
  const part = cell.trained < cell.expected;
  const several = cell.values > 1 && !dense;
  return [
    h('span', { class: 'mean' }, shownAs(which, cell.mean)),
    several ? h('span', { class: 'range' }, `${short(which, cell.low)}–${short(which, cell.high)}`) : null,
    part ? h('span', { class: 'part' }, `${cell.trained} of ${cell.expected}`) : null,
    cell.unconverged ? h('span', { class: 'part' }, `${cell.unconverged} unconv.`) : null,
  ];
}

function cellLabel(panel, row, column, which, cell) {
  const where = [[data.row_axis, row], [data.column_axis, column]].filter(([axis]) => axis);
  return [
    [...where, ...Object.entries(panel)].map(([axis, value]) => valueName(axis, value)).join(', '),
    isNumber(cell.mean) ? `${which.label} ${shownAs(which, cell.mean)}` : 'no value',
    cell.trained < cell.expected ? `${cell.trained} of ${cell.expected} members trained` : null,
    cell.unconverged ? `${cell.unconverged} of ${cell.trained} not converged` : null,
    cell.hatched ? `held-out share below ${GENERAL}` : null,
  ].filter(Boolean).join('; ');
}

function drawCell(panel, row, column, state, { expected, dense }) {
  const which = reading(state.reading);
  const members = cellMembers(row, column, { ...panel, ...state.filters });
  const cell = summary(members, which, expected);
  const text = cellLabel(panel, row, column, which, cell);
  const element = h('td', {
    role: 'gridcell', tabindex: '-1', class: 'cell', title: text, 'aria-label': text,
  }, h('div', {}, cellText(which, cell, dense)));
  element.classList.toggle('hatched', cell.hatched);
  element.classList.toggle('unconverged', cell.unconverged > 0);
  element.classList.toggle('partly', cell.trained < cell.expected);
  element.classList.toggle('empty', !isNumber(cell.mean));
  if (isNumber(cell.mean)) paint(element, which, cell.mean, state.theme);
  return { element, members, row, column };
}

const isDense = () => valuesOf(data.column_axis).length > 12; // too narrow for the lowest and highest value

// A value of an axis, and below it what is noted about it.
function axisHeader(axis, value, role, scope) {
  const cell = header(value, role, scope);
  const note = value === null ? '' : valueNote(axis, value);
  if (note) cell.append(' ', h('span', { class: 'interval' }, note));
  return cell;
}

const header = (value, role, scope) =>
  h('th', { scope, role }, value === null ? '' : String(value));

// A panel: its table, and [row][column] of {element, members}; the last value of the row axis
// is on top, as in the paper.
function drawPanel(panel, state) {
  const rows = [...valuesOf(data.row_axis)].reverse(), columns = valuesOf(data.column_axis);
  const expected = expectedMembers(state.filters), dense = isDense();
  const cells = rows.map((row) => columns.map((c) =>
    drawCell(panel, row, c, state, { expected, dense })));
  const title = named(panel, panelAxes);
  const by = [data.row_axis, data.column_axis].filter(Boolean).map(axisName).join(' and ');
  const table = h('table', {
    role: 'grid', class: dense ? 'phase dense' : 'phase',
    'aria-label': [title, `${reading(state.reading).says}, by ${by}. Arrow keys move, Enter selects.`]
      .filter(Boolean).join(': '),
  },
  title ? h('caption', {}, title) : null,
  h('thead', {}, h('tr', {},
    h('th', { class: 'corner' }, data.row_axis ? `↑ ${axisName(data.row_axis)}` : ''),
    columns.map((c) => axisHeader(data.column_axis, c, 'columnheader', 'col')))),
  h('tbody', {}, cells.map((line, i) =>
    h('tr', {}, axisHeader(data.row_axis, rows[i], 'rowheader', 'row'),
      line.map((cell) => cell.element)))));
  return { table, cells };
}

// All panels; the arrow keys lead from the last row of one to the first row of the next.
function drawGrid(state) {
  const drawn = panels.map((panel) => drawPanel(panel, state));
  return { tables: drawn.map(({ table }) => table), cells: drawn.flatMap(({ cells }) => cells) };
}

function columnTitle() {
  if (!data.column_axis) return null;
  if (data.column_axis !== 'gamma') return h('p', { class: 'axis' }, axisName(data.column_axis));
  const [kind, size] = data.is_rate ? ['rate', 'smaller'] : ['factor', 'larger'];
  return h('p', { class: 'axis' }, `initialization ${kind} γ `, h('span', {}, `${size} initial weights →`));
}

function drawLegend(state) {
  const which = reading(state.reading);
  const steps = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const value = part * topOf(which);
    const box = h('span', { class: 'step' }, isLoss(which) ? number(value) : String(value));
    paint(box, which, value, state.theme);
    return box;
  });
  const explained = [`${which.says}.`];
  if (expectedMembers(state.filters) > 1) {
    const over = filterAxes.filter((axis) => !(axis in state.filters)).map(axisName);
    const verb = over.length === 1 ? 'varies' : 'vary';
    explained.push(`A cell shows the mean over its networks: ${over.join(' and ')} ${verb}.`);
    if (!isDense()) explained.push('Below it are the lowest and the highest value.');
  }
  return [
    h('p', {}, explained.join(' ')),
    h('div', { class: 'ramp', 'aria-hidden': 'true' }, steps),
    h('ul', { class: 'keys' },
      HELDOUT ? h('li', {}, h('span', { class: 'sample hatched', 'aria-hidden': 'true' }),
        `lines: fewer than ${GENERAL} right about held-out numbers`) : null,
      h('li', {}, h('span', { class: 'sample unconverged', 'aria-hidden': 'true' }),
        'dots: some networks have not learned their training data (not converged)'),
      h('li', {}, h('span', { class: 'sample partly', 'aria-hidden': 'true' }),
        'dashed: some networks are not trained, or diverged')),
  ];
}

const MOVES = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
  Home: [0, -Infinity], End: [0, Infinity], PageUp: [-Infinity, 0], PageDown: [Infinity, 0],
};

// The cell that a key leads to, or null if the key does not move.
function moved(key, [i, j], cells) {
  if (!(key in MOVES)) return null;
  const within = (value, size) => Math.min(size - 1, Math.max(0, value));
  return [within(i + MOVES[key][0], cells.length), within(j + MOVES[key][1], cells[0].length)];
}
