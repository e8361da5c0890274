// The payload, and functions to query it: the scores of a member, the members of a cell.

const data = JSON.parse($('data').textContent);

// The words of axes and of their values: 'γ', 'γ 0.2 (0.14 at width 400)', '0.14 at width 400'.
const axisName = (axis) => data.axes[axis].name;
const placeOn = (axis, value) => data.axes[axis].labels.indexOf(value);
const valueName = (axis, value) => data.axes[axis].values[placeOn(axis, value)];
const valueNote = (axis, value) => data.axes[axis].notes[placeOn(axis, value)];

const GENERAL = 0.9; // below this held-out share a cell is hatched, as in the paper

// What is recorded about every network: { name, label, line, says, style, source, eval_set,
// mapping }. A reading is a share, but for losses.
const READINGS = data.readings;

const HELDOUT = READINGS.find(({ style }) => style === 'heldout');

const reading = (name) => READINGS.find((r) => r.name === name);
const isLoss = ({ source }) => source === 'eval_set_loss';
const shownAs = (which, value) => (isLoss(which) ? number(value) : share(value));

// Its values along the recorded steps.
function recorded(member, which) {
  const ofEvalSet = member[which.source]?.[data.eval_sets.indexOf(which.eval_set)];
  if (isLoss(which)) return ofEvalSet ?? [];
  return ofEvalSet?.[data.mappings.indexOf(which.mapping)] ?? [];
}

const isUnconverged = (m) => String(m.status).startsWith('not converged');
const isTrained = (m) => m.status === 'trained' || isUnconverged(m);

// The last recorded value. The score of a member before it diverged is not its result.
function final(member, which) {
  if (!which || String(member.status).startsWith('diverged')) return null;
  return recorded(member, which).findLast(isNumber) ?? null;
}

// The value that has the full colour.
function topOf(which) {
  if (!isLoss(which)) return 1;
  return Math.max(...data.members.map((m) => final(m, which)).filter(isNumber), 1e-9);
}

const valuesOf = (axis) => (axis ? data.axes[axis].labels : [null]);
const varying = Object.keys(data.axes).filter((axis) => data.axes[axis].labels.length > 1);
const inner = varying.filter((axis) => axis !== data.row_axis && axis !== data.column_axis);

// Each value of these has a panel of its own: no cell is a mean over settings that differ in
// more than their seed, while there is room.
const MOST_PANELS = 8;
const panelAxes = [];
for (const axis of inner.filter((name) => name !== 'seed')) {
  const panels = [...panelAxes, axis].reduce((count, name) => count * data.axes[name].labels.length, 1);
  if (panels <= MOST_PANELS) panelAxes.push(axis);
}
const filterAxes = inner.filter((axis) => !panelAxes.includes(axis));

// [{exception: 'trained'}, ...]; one panel without values if there are no such axes.
const panels = panelAxes.reduce((made, axis) => made.flatMap((panel) =>
  data.axes[axis].labels.map((value) => ({ ...panel, [axis]: value }))), [{}]);

const keyOf = (row, column) => JSON.stringify([row ?? null, column ?? null]);

const byCell = new Map();
for (const member of data.members) {
  const key = keyOf(member.point[data.row_axis], member.point[data.column_axis]);
  byCell.set(key, [...(byCell.get(key) ?? []), member]);
}

// fixed: {exception: 'trained', seed: 0}; all other axes are averaged over.
function cellMembers(row, column, fixed) {
  const chosen = Object.entries(fixed);
  return (byCell.get(keyOf(row, column)) ?? []).filter((m) =>
    chosen.every(([axis, value]) => m.point[axis] === value));
}

const expectedMembers = (filters) =>
  filterAxes.reduce((count, axis) => count * (axis in filters ? 1 : valuesOf(axis).length), 1);

const mean = (values) => (values.length ? values.reduce((a, b) => a + b) / values.length : null);

// As in the claims: the networks of a seed are no independent draws, so their mean counts once.
function meanOf(members, which) {
  const seeds = [...new Set(members.map((m) => m.point.seed))];
  const ofSeeds = seeds.map((seed) => mean(
    members.filter((m) => m.point.seed === seed).map((m) => final(m, which)).filter(isNumber)));
  return mean(ofSeeds.filter(isNumber));
}

function summary(members, which, expected) {
  const values = members.map((m) => final(m, which)).filter(isNumber);
  const general = meanOf(members, HELDOUT);
  return {
    mean: meanOf(members, which),
    values: values.length,
    low: values.length ? Math.min(...values) : null,
    high: values.length ? Math.max(...values) : null,
    trained: members.filter(isTrained).length,
    unconverged: members.filter(isUnconverged).length,
    expected,
    hatched: isNumber(general) && general < GENERAL,
  };
}

// The member of a cell that shares most axis values with the one shown.
function nearest(members, other) {
  const alike = (m) => varying.filter((axis) => m.point[axis] === other?.point[axis]).length;
  return members.reduce((best, m) => (!best || alike(m) > alike(best) ? m : best), null);
}

const named = (point, axes) => axes.map((axis) => valueName(axis, point[axis])).join(', ');
