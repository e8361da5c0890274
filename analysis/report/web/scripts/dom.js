// Elements and numbers. Data enters the page only as textContent and attributes, so that a
// hostile name in a manifest stays text.

const SVG = 'http://www.w3.org/2000/svg';

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const h = (tag, attributes = {}, ...children) =>
  build(document.createElement(tag), attributes, children);

const s = (tag, attributes = {}, ...children) =>
  build(document.createElementNS(SVG, tag), attributes, children);

const $ = (id) => document.getElementById(id);

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

const MISSING = '–';

// 0.98, 0.03: shares in cells and sentences.
const share = (value) => (isNumber(value) ? value.toFixed(2) : MISSING);

// Three digits for anything: 0.00312, 12.4, 1.2e-5.
function number(value) {
  if (!isNumber(value)) return MISSING;
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return value.toLocaleString('en');
  const size = Math.abs(value);
  return size < 1e-3 || size >= 1e6 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

const swatch = (name) => h('span', { class: `swatch ${name}`, 'aria-hidden': 'true' });
