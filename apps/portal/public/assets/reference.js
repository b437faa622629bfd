/** Search in the list of operations of the API reference. Without this script the field is hidden and the list is whole. */
const field = document.querySelector('#search');
const status = document.querySelector('#search-status');
const groups = [...document.querySelectorAll('[data-group]')];

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const group of groups) {
    let inGroup = 0;
    for (const row of group.querySelectorAll('li')) {
      const text = `${group.dataset.group} ${row.textContent}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) inGroup += 1;
    }
    group.hidden = inGroup === 0;
    found += inGroup;
  }
  status.textContent = words.length === 0 ? '' : found === 1 ? '1 operation' : `${found} operations`;
}

if (field && status) {
  field.closest('form').hidden = false;
  field.addEventListener('input', search);
  field.closest('form').addEventListener('submit', (event) => event.preventDefault());
  // A browser keeps the text of a field over a reload.
  search();
}
