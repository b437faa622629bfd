// A list that refreshes itself, and that the keyboard moves through.
import { byId, clock, el, say } from './portal.js';

const EVERY = 2000;

/** Arrow keys, Home and End move through the rows; Tab leaves them, so that the way to the story is one key. */
function moveByKeys(rows) {
  const stopAt = (button) => {
    for (const one of rows.querySelectorAll('[tabindex="0"]')) one.tabIndex = -1;
    button.tabIndex = 0;
  };
  rows.addEventListener('keydown', (event) => {
    const buttons = [...rows.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement);
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    buttons[to]?.focus();
  });
  rows.addEventListener('focusin', (event) => stopAt(event.target.closest('button')));
}

/**
 * A list with one chosen row that asks again every two seconds while the page is seen. Only what changed is drawn anew, so that
 * rows keep the focus, and a click on one is not lost while others come. `also` runs with every round.
 */
export function liveList({ load, row, choose, keyOf, also }) {
  const rows = byId('rows');
  let pages = 1;
  let items = [];
  let drawn = '';
  let chosen = null;
  let turn = 0;
  let seen = null;
  /** What stands in the list, by key. */
  const lines = new Map();

  /** The line of a row as it is now. It stays the same element: a click that has begun on it is not lost. */
  function lineOf(key, item) {
    let known = lines.get(key);
    if (!known) {
      const button = el('button', { type: 'button', 'data-key': key, onclick: () => pick(key) });
      known = { line: el('li', {}, button), button, drawn: '' };
      lines.set(key, known);
    }
    const now = JSON.stringify(item);
    if (known.drawn !== now) known.button.replaceChildren(...row(item));
    known.drawn = now;
    return known;
  }

  function draw() {
    const now = JSON.stringify([items, chosen]);
    if (now === drawn) return;
    drawn = now;
    const focused = rows.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const keys = items.map(keyOf);
    const stop = [focused, chosen, keys[0]].find((key) => keys.includes(key));
    for (const [key, { line }] of lines) {
      if (keys.includes(key)) continue;
      line.remove();
      lines.delete(key);
    }
    let place = rows.firstElementChild;
    for (const [index, item] of items.entries()) {
      const key = keys[index];
      const { line, button } = lineOf(key, item);
      button.tabIndex = key === stop ? 0 : -1;
      if (key === chosen) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
      if (line === place) place = place.nextElementSibling;
      else rows.insertBefore(line, place);
    }
    if (focused !== null && !rows.contains(document.activeElement)) rows.querySelector('[tabindex="0"]')?.focus();
  }

  /** Reads what is shown; an answer that a later question has overtaken is not drawn. */
  async function refresh() {
    turn += 1;
    const mine = turn;
    const read = [];
    let cursor;
    for (let page = 0; page < pages; page += 1) {
      const one = await load(cursor);
      read.push(...one.items);
      cursor = one.next ?? undefined;
      if (!cursor) break;
    }
    if (mine !== turn) return;
    items = read;
    seen = new Date();
    byId('more').hidden = !cursor;
    byId('empty').hidden = items.length > 0;
    draw();
  }

  /** Refreshes, and says where that cannot be done. */
  const look = () =>
    refresh().then(
      () => say('list', ''),
      (error) => say('list', `${error.message}${seen ? ` What you see is of ${clock(seen)}.` : ''}`),
    );

  function pick(key) {
    mark(key);
    history.replaceState(null, '', `#${key}`);
    void choose(key);
    // Where the story stands below the list, it would be out of sight.
    if (matchMedia('(max-width: 52rem)').matches) byId('detail').scrollIntoView();
  }
  function mark(key) {
    chosen = key;
    draw();
  }

  byId('more').addEventListener('click', () => {
    pages += 1;
    void look();
  });
  moveByKeys(rows);
  // A jump to the list by its address would overwrite what is chosen there.
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    (rows.querySelector('[tabindex="0"]') ?? rows).focus();
  });

  let timer;
  async function round() {
    clearTimeout(timer);
    if (!document.hidden) await Promise.all([look(), also()]);
    clearTimeout(timer);
    timer = setTimeout(() => void round(), EVERY);
  }
  document.addEventListener('visibilitychange', () => void round());
  void round();
  return {
    look,
    mark,
    find: (key) => items.find((item) => keyOf(item) === key),
    /** From the first page again, because something else is asked for: the same row may look different then. */
    reset() {
      pages = 1;
      drawn = '';
      for (const line of lines.values()) line.drawn = '';
      return look();
    },
  };
}
