// The page as a whole: theme, enlarged figures, the member shown first.

const dark = matchMedia('(prefers-color-scheme: dark)');

function applyTheme() {
  const chosen = document.documentElement.dataset.theme;
  state.theme = chosen ?? (dark.matches ? 'dark' : 'light');
  const other = state.theme === 'dark' ? 'Light' : 'Dark';
  $('theme').textContent = other;
  $('theme').setAttribute('aria-label', `Switch to the ${other.toLowerCase()} theme`);
  document.querySelectorAll('.picture img').forEach(inkPicture);
  drawMap();
}

const SVG_FILE = 'data:image/svg+xml;base64,';
const INK = '#e9e7e1', PAPER = '#1c1f23';

// A figure is drawn in black on white. What has another colour keeps it on the dark page, as
// captions name it; numbers in the cells of a map are of colours that only look black or white.
function inkPicture(image) {
  image.light ??= image.src;
  const svg = () => atob(image.light.slice(SVG_FILE.length)).replaceAll('#000000', INK)
    .replaceAll('#ffffff', PAPER).replace('<svg ', `<svg fill="${INK}" `);
  image.src = state.theme === 'dark' ? SVG_FILE + btoa(svg()) : image.light;
}

function startTheme() {
  $('theme').hidden = false;
  $('theme').addEventListener('click', () => {
    document.documentElement.dataset.theme = state.theme === 'dark' ? 'light' : 'dark';
    applyTheme();
  });
  dark.addEventListener('change', applyTheme);
  applyTheme();
}

// Paper is white, and has no button to open what is folded.
function startPrinting() {
  let before = null;
  addEventListener('beforeprint', () => {
    before = document.documentElement.dataset.theme ?? null;
    document.documentElement.dataset.theme = 'light';
    applyTheme();
    for (const folded of document.querySelectorAll('main section > details')) folded.open = true;
  });
  addEventListener('afterprint', () => {
    if (before === null) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = before;
    applyTheme();
  });
}

function startPictures() {
  const large = $('large');
  for (const button of document.querySelectorAll('.picture')) {
    button.addEventListener('click', () => {
      const [to, from] = [large.querySelector('img'), button.querySelector('img')];
      to.src = from.src;
      to.alt = from.alt;
      large.showModal();
    });
  }
  large.addEventListener('click', (event) => { if (event.target === large) large.close(); });
}

// The numbers of the sweep, to paste somewhere else.
function startCopying() {
  $('map').append(copyButton('Copy the numbers of all networks', membersTable));
  for (const table of document.querySelectorAll('table.counts, table.settings')) {
    table.after(copyButton('Copy the table', () => toTable([...table.rows].map(rowCells))));
  }
  for (const numbers of document.querySelectorAll('.figure-numbers pre')) {
    numbers.before(copyButton('Copy numbers', () => cellsOf(numbers.textContent)));
  }
}

// The member shown first: the one that scores highest on what the task is about.
function notable() {
  const score = (m) => final(m, reading(data.first_reading)) ?? -1;
  return data.members.reduce((best, m) => (!best || score(m) > score(best) ? m : best), null);
}

function start() {
  $('controls').append(readingControl(), ...filterAxes.map(filterControl));
  $('split').classList.toggle('wide', valuesOf(data.column_axis).length > 8);
  startTheme();
  startPictures();
  startPrinting();
  startCopying();
  const linked = memberOfHash();
  if (linked) address.member = addressOf(linked);
  select(linked ?? notable(), { hash: false });
  startPlayground();
  addEventListener('hashchange', () => {
    const member = memberOfHash();
    if (member) select(member, { hash: false });
  });
}

start();
