/** Theme, search and old links of the documentation. Without this script the pages are whole, and the search field is hidden. */
import MiniSearch from 'minisearch';

const MAX_RESULTS = 20;
const EXCERPT_CHARACTERS = 160;

/** Shows the theme that this browser chose in the portal (src/ui/settings.ts). */
function showTheme() {
  try {
    const { theme } = JSON.parse(localStorage.getItem('carillon-look') ?? '{}');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // The browser keeps nothing: the theme of the system counts.
  }
}

/** The API reference was at /docs. Links to its operations still lead there. */
function followOldLink() {
  const anchor = location.hash.slice(1);
  const isIndex = location.pathname.replace(/\/$/, '') === '/docs';
  if (isIndex && anchor !== '' && !document.getElementById(anchor)) location.replace(`/docs/api${location.hash}`);
}

/** Address of the search index. */
const { index: INDEX } = document.currentScript.dataset;
let loading = null;

async function loadIndex() {
  const answer = await fetch(INDEX);
  if (!answer.ok) throw new Error(`${INDEX}: ${answer.status}`);
  const index = new MiniSearch({
    idField: 'address',
    fields: ['title', 'heading', 'text'],
    storeFields: ['title', 'heading', 'text'],
    searchOptions: { boost: { title: 4, heading: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  });
  index.addAll(await answer.json());
  return index;
}

/** Returns the text around the first of the words. */
function excerptOf(text, words) {
  const lower = text.toLowerCase();
  const [first = 0] = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const start = Math.max(0, first - EXCERPT_CHARACTERS / 4);
  const part = text.slice(start, start + EXCERPT_CHARACTERS);
  return `${start > 0 ? '…' : ''}${part}${start + EXCERPT_CHARACTERS < text.length ? '…' : ''}`;
}

function resultItem({ id, title, heading, text, terms }) {
  const link = document.createElement('a');
  link.href = id;
  link.textContent = heading === '' ? title : `${title}: ${heading}`;
  const excerpt = document.createElement('p');
  excerpt.textContent = excerptOf(text, terms);
  const item = document.createElement('li');
  item.append(link, excerpt);
  return item;
}

const messageOf = (count) =>
  count === 0 ? 'No results. Try fewer or shorter words.' : count === 1 ? '1 result' : `${count} results`;

async function showResults(field, found) {
  const text = field.value.trim();
  if (text === '') {
    found.hidden = true;
    return;
  }
  const status = found.querySelector('[role=status]');
  try {
    loading ??= loadIndex();
    const results = (await loading).search(text).slice(0, MAX_RESULTS);
    // The reader has typed on meanwhile.
    if (field.value.trim() !== text) return;
    found.querySelector('ol').replaceChildren(...results.map(resultItem));
    status.textContent = messageOf(results.length);
  } catch {
    loading = null;
    status.textContent = 'The search could not be loaded. Type again to retry.';
  }
  found.hidden = false;
}

function startSearch() {
  const field = document.querySelector('#search');
  const found = document.querySelector('#found');
  field.form.hidden = false;
  field.addEventListener('input', () => void showResults(field, found));
  field.form.addEventListener('submit', (event) => {
    event.preventDefault();
    found.querySelector('a')?.click();
  });
  const close = () => {
    field.value = '';
    found.hidden = true;
  };
  found.addEventListener('click', ({ target }) => target.closest('a') && close());
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !found.hidden) {
      close();
      field.focus();
    }
  });
  // A browser keeps the text of a field over a reload.
  void showResults(field, found);
}

showTheme();
document.addEventListener('DOMContentLoaded', () => {
  followOldLink();
  startSearch();
});
