// The member view: its solution, its numbers and its charts.

const solutionClass = (name) => // 'not-converged': a class has no spaces
  (Object.hasOwn(data.meanings, name) ? name.replaceAll(' ', '-') : 'neither');

// Nothing of a network that has not converged: its status says so.
const solutionWords = ({ solution }) => (solution ? [swatch(solutionClass(solution)),
  h('strong', {}, solution), h('span', {}, data.meanings[solution] ?? '')] : []);

function solutionLine(member) {
  const bad = member.status !== 'trained';
  const { answer } = member;
  return h('p', { class: 'verdict-line' }, solutionWords(member),
    bad ? h('strong', { class: 'warning' }, `⚠ ${member.status}`) : null,
    answer ? h('span', { class: 'answer' }, `most frequent answer to ${data.unseen.pair}: ${answer}`) : null);
}

const heading = (member) =>
  h('h3', { id: 'member-title' }, member.name);

const CHOICES = 8; // more members than this are shown as a list

function choice(member, members, choose) {
  if (members.length < 2) return null;
  const text = (m) => named(m.point, filterAxes);
  if (members.length > CHOICES) {
    const onchange = () => choose(members[list.value]);
    const list = h('select', { 'aria-label': 'Network', onchange },
      members.map((m, i) => h('option', { value: i, selected: m === member }, text(m))));
    return h('div', { class: 'choice' }, list);
  }
  return h('div', { class: 'choice', role: 'group', 'aria-label': 'Networks of this cell' },
    members.map((m) => h('button', {
      type: 'button', 'aria-pressed': String(m === member), onclick: () => choose(m),
    }, text(m))));
}

function numbersTable(member) {
  const rows = Object.entries(member.numbers ?? {});
  if (!rows.length) return null;
  return h('table', { class: 'numbers' },
    h('caption', { class: 'hidden' }, 'Numbers of this member'),
    h('tbody', {}, rows.map(([name, value]) => h('tr', {}, h('th', { scope: 'row' }, name),
      h('td', {}, number(value))))));
}

// A row for every member of the sweep: its point, what became of it, its numbers.
function membersTable() {
  const axes = Object.keys(data.axes);
  const names = Object.keys(data.members[0]?.numbers ?? {});
  const rows = data.members.map((m) => [...axes.map((axis) => m.point[axis]), m.status,
    m.solution ?? '', ...names.map((name) => m.numbers?.[name] ?? '')]);
  return toTable([[...axes, 'status', 'solution', ...names], ...rows]);
}

function fixedPoint(member) {
  const axes = Object.keys(data.axes).filter((axis) => !data.shown_axes.includes(axis));
  return axes.length ? h('p', { class: 'meta' }, `The same for all networks: ${named(member.point, axes)}.`) : null;
}

// The parts of the member view by name; the task decides which of them there are.
const PANELS = {
  answers: answersPanel,
  positions: positionPanel,
  losses: lossPanel,
  groups: groupsPanel,
  attention: attentionPanel,
  embedding: embeddingPanel,
};

function drawDetail(element, member, members, previewing, choose) {
  element.classList.toggle('preview', previewing);
  if (!member) {
    element.replaceChildren(h('p', { class: 'note', id: 'member-title' }, 'There is no member to show.'));
    return;
  }
  element.replaceChildren(
    h('div', { class: 'who' }, heading(member), solutionLine(member), choice(member, members, choose)),
    numbersTable(member) ?? '',
    h('div', { class: 'panels' }, data.panels.map((name) => PANELS[name](member))),
    fixedPoint(member) ?? '');
}
