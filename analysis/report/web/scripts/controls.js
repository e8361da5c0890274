// The controls of the diagram, which is redrawn for every reading and filter.

function drawMap() {
  if (!state.reading) {
    $('grid').replaceChildren(h('p', { class: 'note' }, 'No agreement was recorded.'));
    return;
  }
  const { tables, cells } = drawGrid(state);
  state.cells = cells;
  cells.forEach((line, i) => line.forEach((cell, j) => listen(cell, [i, j])));
  for (const table of tables) {
    table.addEventListener('pointerleave', endPreview);
    table.addEventListener('focusout', (event) => {
      if (!table.contains(event.relatedTarget)) endPreview();
    });
  }
  $('grid').replaceChildren(...tables.map((table) => h('div', { class: 'scroll' }, table)));
  $('legend').replaceChildren(...[columnTitle(), ...drawLegend(state)].filter(Boolean));
  markSelected();
}

const SEGMENTS = 3; // more readings than this are a list

function readingControl() {
  if (READINGS.length > SEGMENTS) return readingList();
  const choices = READINGS.map((r) => h('label', {},
    h('input', { type: 'radio', name: 'reading', value: r.name, checked: r.name === state.reading,
      onchange: () => { state.reading = r.name; drawMap(); } }),
    h('span', {}, swatch(r.style), r.label)));
  return h('fieldset', { class: 'segments' },
    h('legend', { class: 'hidden' }, 'Colour shows'), choices);
}

function readingList() {
  const list = h('select', { onchange: () => { state.reading = list.value; drawMap(); } },
    READINGS.map((r) => h('option', { value: r.name, selected: r.name === state.reading }, r.label)));
  return h('label', { class: 'filter' }, 'colour shows ', list);
}

function filterControl(axis) {
  const list = h('select', { onchange: () => {
    delete state.filters[axis];
    if (list.value !== '') state.filters[axis] = valuesOf(axis)[Number(list.value)];
    drawMap();
    showMember(state.selected, false);
  } }, h('option', { value: '' }, 'all'),
  valuesOf(axis).map((value, i) => h('option', { value: i }, String(value))));
  return h('label', { class: 'filter' }, axisName(axis), ' ', list);
}
