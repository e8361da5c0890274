// The right answers of a member by group of questions: a row for each group.

function groupsPanel(member) {
  if (!data.groups.length) return '';
  const title = 'Right answers by group';
  const scores = member.by_group;
  if (!scores?.flat().some(isNumber)) return absent(title, 'Not recorded for this member.');
  const asked = data.eval_sets.map((eval_set, p) => ({ eval_set, values: scores[p] }))
    .filter(({ values }) => values.some(isNumber));
  const names = asked.map(({ eval_set }) => data.losses.find((one) => one.eval_set === eval_set).label);
  const rows = data.groups.map((group, g) => [group, asked.map(({ values }) => values[g])])
    .filter(([, values]) => values.some(isNumber));
  const table = h('table', { class: 'groups' },
    h('caption', { class: 'hidden' }, title),
    h('thead', {}, h('tr', {}, h('td', {}), names.map((name) => header(name, null, 'col')))),
    h('tbody', {}, rows.map(([group, values]) => h('tr', {},
      h('th', { scope: 'row' }, String(group).replaceAll('_', ' ')),
      values.map((value) => h('td', {}, share(value)))))));
  return panel(title, 'share, at the last step', h('div', { class: 'scroll' }, table),
    copyButton('Copy numbers', () => toTable([['group', ...names],
      ...rows.map(([group, values]) => [group, ...values.map((value) => value ?? '')])])));
}
