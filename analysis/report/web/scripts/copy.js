// Buttons that copy numbers as a table of tabs and lines, for a spreadsheet or a program.

const toTable = (rows) => rows.map((row) => row.join('\t')).join('\n');

// The texts of a row of a table; a cell over several columns leaves the others blank.
function rowCells(row) {
  return [...row.cells].flatMap((cell) => {
    const text = cell.textContent.replace(/\s+/g, ' ').trim();
    return [text, ...Array(cell.colSpan - 1).fill('')];
  });
}

function copyButton(text, content) {
  const button = h('button', { type: 'button', class: 'quiet copy', onclick: async () => {
    button.textContent = await copyText(content()) ? 'Copied' : text;
    setTimeout(() => { button.textContent = text; }, 1500);
  } }, text);
  return button;
}

// The cells of a figure's numbers, without the blanks that align them.
const cellsOf = (text) => text.replace(/ *\t */g, '\t');

// Where the browser does not let a page copy, the text is shown selected.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = $('copied').querySelector('textarea');
    box.value = text;
    $('copied').showModal();
    box.select();
    return false;
  }
}
