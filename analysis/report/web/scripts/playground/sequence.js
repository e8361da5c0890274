// The controls of the question: a box for every token, buttons for the paper's cases.

// What is asked cannot be: nothing is answered until it can.
function askError(text) {
  $('try-error').textContent = text;
  $('sides').style.visibility = text ? 'hidden' : '';
}

function change(asked) {
  askError('');
  play.ask = { ...play.ask, ...asked };
  play.changed = true;
  drawQuestion();
  redraw();
}

// A number box that only takes key items; what does not fit is said and changes nothing.
function tokenBox(value, name, apply) {
  const [low, high] = sharedRules().keys;
  const box = h('input', {
    type: 'number', min: low, max: high - 1, step: 1, value, 'aria-label': name,
    inputmode: 'numeric', oninput: () => {
      const typed = Number(box.value);
      const fits = box.value !== '' && Number.isInteger(typed) && typed >= low && typed < high;
      box.setAttribute('aria-invalid', String(!fits));
      if (!fits) askError(`${name}: give a whole number from ${low} to ${high - 1}.`);
      else apply(typed);
    },
  });
  return box;
}

function anchorBox(which) {
  const list = h('select', { 'aria-label': which ? 'second anchor' : 'first anchor',
    onchange: () => {
      const pair = [...play.ask.pair];
      pair[which] = Number(list.value);
      change({ pair });
    } },
  knownAnchors().map((anchor) => h('option', {
    value: anchor, selected: anchor === play.ask.pair[which],
  }, String(anchor))));
  return list;
}

function boxOf(role, t) {
  if (role === 'key') return tokenBox(play.ask.key, 'key', (key) => change({ key }));
  if (role === 'anchor_1') return anchorBox(0);
  if (role === 'anchor_2') return anchorBox(1);
  return tokenBox(play.ask.noise[t], `noise at position ${t + 1}`, (token) =>
    change({ noise: play.ask.noise.with(t, token) }));
}

const ROLE_LABELS = { key: 'key x', anchor_1: 'anchor', anchor_2: 'anchor', last: 'last' };

// The boxes are drawn again only where the roles have moved: typing keeps its focus.
function drawQuestion() {
  const { tokens, roles } = sequenceOf(sharedRules(), play.ask);
  const row = $('tokens');
  if (row.dataset.roles !== roles.join()) {
    row.dataset.roles = roles.join();
    row.replaceChildren(...roles.map((role, t) => h('li', { class: roleClass(role) },
      boxOf(role, t), h('span', { 'aria-hidden': 'true' }, ROLE_LABELS[role] ?? 'noise'))));
  }
  [...row.children].forEach((item, t) => {
    const box = item.firstChild;
    if (document.activeElement !== box) box.value = tokens[t];
    if (Number(box.value) === tokens[t]) box.removeAttribute('aria-invalid');
  });
  const position = $('ask-position');
  if (position) position.value = play.ask.position;
}

function positionControl() {
  const { positions } = sharedRules();
  if (positions.length < 2) return null;
  const list = h('select', { id: 'ask-position',
    onchange: () => change({ position: Number(list.value) }) },
  positions.map((position) => h('option', { value: position }, String(position + 1))));
  return h('label', { class: 'filter' }, 'position ', list);
}

function randomNoise() {
  const [low, high] = sharedRules().keys;
  const draw = () => low + Math.floor(Math.random() * (high - low));
  change({ noise: play.ask.noise.map(draw) });
}

// The first pair of this kind that some network knows, on the left if both do.
function pairOfKind(kind) {
  const tasks = [...play.sides.map((side) => rulesOf(networkAt(side))), ...data.playground.tasks];
  return tasks.flatMap((rules) => rules[kind])[0];
}

function questionButtons() {
  const button = (text, onclick) =>
    h('button', { type: 'button', class: 'quiet', onclick }, text);
  const pairButton = (text, kind) =>
    (pairOfKind(kind) ? button(text, () => change({ pair: pairOfKind(kind) })) : null);
  return [
    pairButton('the unseen pair', 'unseen'), pairButton('the exception', 'exceptions'),
    button('other noise', randomNoise), positionControl(),
    copyButton('Copy link', () => { writeAddress(); return location.href; }),
  ].filter(Boolean);
}

// What the paper asks, in numbers: the pair, and the answer of every mapping.
function questionWords(rules, ask) {
  const row = pairRow(rules, ask.pair);
  const name = pairName(ask.pair);
  if (!row) return `This network was trained without one of the anchors of ${name}.`;
  const steps = ask.pair.map((anchor) => signed(rules.shift_of[anchor])).join(' ');
  const composed = `composing gives ${ask.key} ${steps} = ${ask.key + row.composed}`;
  const symmetric = `the answer of the reversed pair is ${ask.key + row.symmetric}`;
  if (row.is_unseen) return `It never saw the pair ${name}: ${composed}, ${symmetric}.`;
  if (row.assigned === row.composed) return `It was trained on the pair ${name}: ${composed}.`;
  return `It was trained on the exception ${name} = x ${signed(row.assigned)}, `
    + `which is ${ask.key + row.assigned}; ${composed}.`;
}
