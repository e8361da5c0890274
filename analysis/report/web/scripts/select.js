// The selected member: kept in the address, shown in the diagram and in the member view.

const state = {
  reading: data.first_reading,
  filters: {}, // inner axis -> value; axes without a filter are averaged over
  theme: 'light',
  selected: null,
  at: [0, 0], // the cell with the keyboard focus
  cells: [],
};

const PREVIEW_DELAY = 90; // ms; a pointer that only passes over a cell changes nothing

let timer = null;

// The value of an axis that a text in the address stands for, or undefined.
const valueNamed = (axis, text) => valuesOf(axis).find((value) => String(value) === text);

function memberOfHash() {
  const asked = [...addressQuery()];
  const wanted = asked.filter(([axis]) => Object.hasOwn(data.axes, axis));
  if (!wanted.length) return null; // another link, such as '#claims'
  const fits = (m) => wanted.every(([axis, text]) => m.point[axis] === valueNamed(axis, text));
  return data.members.find(fits) ?? null;
}

function addressOf(member) {
  const axes = varying.length ? varying : data.shown_axes;
  return axes.map((axis) => [axis, String(member.point[axis])]);
}

function writeHash(member) {
  address.member = addressOf(member);
  writeAddress();
}

function placeOf(member) {
  for (const [i, line] of state.cells.entries()) {
    const j = line.findIndex((cell) => cell.members.includes(member));
    if (j >= 0) return [i, j];
  }
  return null;
}

const cellAt = ([i, j]) => state.cells[i][j];

function markSelected() {
  const place = placeOf(state.selected);
  for (const [i, line] of state.cells.entries()) {
    for (const [j, { element }] of line.entries()) {
      const here = place?.[0] === i && place?.[1] === j;
      element.setAttribute('aria-selected', String(here));
      element.tabIndex = state.at[0] === i && state.at[1] === j ? 0 : -1;
    }
  }
}

function showMember(member, previewing) {
  const place = member && placeOf(member);
  const members = place ? cellAt(place).members : [member]; // a filter may hide it
  drawDetail($('detail'), member, members, previewing, select);
}

function select(member, { hash = true } = {}) {
  clearTimeout(timer);
  const pressed = Boolean(document.activeElement?.closest('.choice'));
  state.selected = member;
  state.at = (member && placeOf(member)) ?? state.at;
  markSelected();
  showMember(member, false);
  if (!member) return;
  if (hash) writeHash(member);
  const what = [member.solution, member.status === 'trained' ? null : member.status]
    .filter(Boolean).join(', ');
  $('status').textContent = `Showing ${member.name}: ${what}`;
  // The buttons were redrawn: the focus returns to the one that was pressed.
  if (pressed) $('detail').querySelector('.choice [aria-pressed=true], .choice select')?.focus();
}

function selectCell(cell) {
  const member = nearest(cell.members, state.selected);
  if (member) select(member);
}

function preview(cell) {
  clearTimeout(timer);
  const member = nearest(cell.members, state.selected);
  timer = setTimeout(() => showMember(member, member !== state.selected), PREVIEW_DELAY);
}

function endPreview() {
  clearTimeout(timer);
  if ($('detail').classList.contains('preview')) showMember(state.selected, false);
}

function focusCell(place) {
  state.at = place;
  markSelected();
  cellAt(place).element.focus();
}

function onKey(event, place) {
  const next = moved(event.key, place, state.cells);
  if (next) focusCell(next);
  else if (event.key === 'Enter' || event.key === ' ') selectCell(cellAt(place));
  else if (event.key === 'Escape') endPreview();
  else return;
  event.preventDefault();
}

function listen(cell, place) {
  const { element } = cell;
  element.addEventListener('click', () => { state.at = place; selectCell(cell); });
  element.addEventListener('keydown', (event) => onKey(event, place));
  element.addEventListener('focus', () => {
    if (element.matches(':focus-visible')) preview(cell); // by keyboard only: a click selects the cell anyway
  });
  element.addEventListener('pointerenter', (event) => {
    if (event.pointerType === 'mouse') preview(cell);
  });
}
