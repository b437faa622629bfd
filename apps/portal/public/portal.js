// What the pages share: the API, elements, lists that refresh themselves, and the search for a story.

/** An element with attributes and children. Text is always text: nothing here ever becomes markup. */
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const byId = (id) => document.getElementById(id);

/** Asks the management API. A session that ended leads to the sign-in page. */
export async function api(path, init = {}) {
  const body = init.body === undefined ? {} : { body: JSON.stringify(init.body) };
  const headers = init.body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(path, { method: init.method ?? 'GET', headers, ...body });
  const parsed = await answer.json();
  if (answer.status === 401) location.assign('/welcome');
  if (!answer.ok) throw new Error(parsed.detail ?? `the server answered ${answer.status}`);
  return parsed;
}

export function say(words) {
  byId('notice').textContent = words;
}

const sameDay = (a, b) => a.toDateString() === b.toDateString();
/** The time of today, else the date with it; in full for who points at it. */
export function time(text) {
  const at = new Date(text);
  const clock = at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  const shown = sameDay(at, new Date()) ? clock : `${at.toLocaleDateString()} ${clock}`;
  return el('time', { datetime: text, title: text }, shown);
}

export const state = (name) => el('span', { class: `state ${name}` }, name.replace('_', ' '));

export function facts(pairs) {
  const list = el('dl', { class: 'facts' });
  for (const [term, value] of pairs) {
    if (value === null || value === undefined || value === '') continue;
    list.append(el('dt', {}, term), el('dd', {}, value));
  }
  return list;
}

/** Arrow keys, Home and End move through the rows of a list. */
export function moveByKeys(rows) {
  rows.addEventListener('keydown', (event) => {
    const buttons = [...rows.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement);
    if (at < 0) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined || !buttons[to]) return;
    event.preventDefault();
    buttons[to].focus();
  });
}

/**
 * A list with one chosen row that asks again every two seconds while the page is seen. Rows are drawn anew only when
 * something changed, and keep the focus.
 */
export function liveList({ load, row, choose, keyOf }) {
  const rows = byId('rows');
  let pages = 1;
  let drawn = '';
  let chosen = null;

  async function refresh() {
    const items = [];
    let cursor;
    for (let page = 0; page < pages; page += 1) {
      const read = await load(cursor);
      items.push(...read.items);
      cursor = read.next ?? undefined;
      if (!cursor) break;
    }
    byId('more').hidden = !cursor;
    byId('empty').hidden = items.length > 0;
    const now = JSON.stringify([items, chosen]);
    if (now === drawn) return items;
    drawn = now;
    const focused = document.activeElement?.dataset?.key;
    rows.replaceChildren(
      ...items.map((item) => {
        const key = keyOf(item);
        const button = el('button', { 'data-key': key, 'aria-current': key === chosen ? 'true' : undefined, onclick: () => pick(item) }, ...row(item));
        return el('li', {}, button);
      }),
    );
    if (focused) rows.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    return items;
  }

  async function pick(item) {
    chosen = keyOf(item);
    history.replaceState(null, '', `#${chosen}`);
    await Promise.all([choose(item), refresh()]).catch((error) => say(error.message));
  }

  byId('more').addEventListener('click', () => {
    pages += 1;
    void refresh();
  });
  moveByKeys(rows);
  const round = async () => {
    if (!document.hidden) {
      await refresh().then(
        () => say(''),
        (error) => say(`Cannot read the list: ${error.message}`),
      );
    }
    setTimeout(round, 2000);
  };
  void round();
  return {
    refresh,
    reset() {
      pages = 1;
      chosen = null;
      return refresh();
    },
    choose(key) {
      chosen = key;
    },
  };
}

byId('find')?.addEventListener('submit', (event) => {
  event.preventDefault();
  const id = byId('find-id').value.trim();
  if (!/^(evt|dlv)_[0-9A-Z]{26}$/.test(id)) return say('An id begins with evt_ or dlv_ and has 26 letters and digits after it.');
  say('');
  if (location.pathname === '/inbox') location.assign(`/deliveries#${id}`);
  else {
    location.hash = id;
    globalThis.dispatchEvent(new CustomEvent('trace', { detail: id }));
  }
  return undefined;
});
