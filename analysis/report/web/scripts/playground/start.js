// Starts the playground, and draws at most once for every frame of the screen.

const SETTLE = 300; // ms without a change, after which the address and the words follow

const waiting = { sides: new Set(), frame: null, settle: null };

function redraw(sides = play.sides) {
  sides.forEach((side) => waiting.sides.add(side));
  waiting.frame ??= requestAnimationFrame(() => {
    waiting.frame = null;
    waiting.sides.forEach(drawSide);
    waiting.sides.clear();
  });
  clearTimeout(waiting.settle);
  waiting.settle = setTimeout(() => {
    sayAnswers();
    writeAddress();
  }, SETTLE);
}

function showPlayground() {
  drawQuestion();
  play.sides.forEach(drawSide);
}

function startPlayground() {
  if (!networks.length) {
    $('question')?.replaceChildren('No network of this page can be asked.');
    return;
  }
  play.ask = firstQuestion();
  play.sides = firstSides();
  $('ask').append(...questionButtons());
  $('sides').append(...play.sides.map(makeSide));
  showPuzzle();
  const linked = readPlaygroundAddress(addressQuery());
  showPlayground();
  if (linked) $('try').scrollIntoView({ behavior: 'instant' });
  addEventListener('hashchange', () => {
    if (readPlaygroundAddress(addressQuery())) showPlayground();
  });
}
