// What the pages share: the API, elements, words to the operator, and the search for a story.

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

/** What the server said no to; status 0: it did not answer at all. */
class Refusal extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** A call that hangs must not stop the list from asking again. */
const PATIENCE = 20_000;

/**
 * Asks the management API. A session that ended leads to the sign-in page, which stands at this very address, so that
 * whoever signs in again finds what was chosen.
 */
export async function api(path, init = {}) {
  const body = init.body === undefined ? {} : { body: JSON.stringify(init.body) };
  const headers = { 'x-carillon': '1', ...(init.body !== undefined && { 'content-type': 'application/json' }) };
  const signal = AbortSignal.timeout(PATIENCE);
  let answer;
  let parsed;
  try {
    answer = await fetch(path, { method: init.method ?? 'GET', headers, signal, ...body });
    parsed = await answer.json();
  } catch {
    if (!answer || answer.ok) throw new Refusal('Carillon does not answer. Is it running?', 0);
  }
  if (answer.status === 401) {
    location.reload();
    return new Promise(() => undefined);
  }
  if (!answer.ok) throw new Refusal(parsed?.detail ?? `The server answered ${answer.status}.`, answer.status);
  return parsed;
}

const notices = new Map();
/** Tells the operator something about a topic, or nothing any more. What one topic says, another does not wipe away. */
export function say(topic, words) {
  if (words === '') notices.delete(topic);
  else notices.set(topic, words);
  const all = [...notices.values()].join(' ');
  const notice = byId('notice');
  // The same words again would be read out again.
  if (notice.textContent !== all) notice.textContent = all;
}

/** Tells who cannot see it that something else is shown now. */
export function announce(words) {
  byId('said').textContent = words;
}

export const clock = (at) => at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
/** The time of today, else the date with it, as people here write it; in full for who points at it. */
export function time(text) {
  const at = new Date(text);
  const today = at.toDateString() === new Date().toDateString();
  return el('time', { datetime: text, title: text }, today ? clock(at) : `${at.toLocaleDateString()} ${clock(at)}`);
}

export const humane = (word) => word.replaceAll('_', ' ');
export const state = (name) => el('span', { class: `state ${name}` }, humane(name));

export function facts(pairs) {
  const list = el('dl', { class: 'facts' });
  for (const [term, value] of pairs) {
    if (value === null || value === undefined || value === '') continue;
    list.append(el('dt', {}, term), el('dd', {}, value));
  }
  return list;
}

/**
 * The thing that is shown beside the list. Only the newest wish is drawn, however late the answer to an older one comes;
 * and it is drawn anew only when it changed, with the focus and what was typed kept.
 */
export function createView({ load, draw }) {
  const detail = byId('detail');
  let wish = null;
  let drawn = '';

  function redraw(content) {
    const { activeElement } = document;
    const focused = detail.contains(activeElement) && activeElement !== detail ? activeElement.id || 'title' : null;
    const typed = [...detail.querySelectorAll('input')].map(({ id, value }) => [id, value]);
    detail.replaceChildren(...content);
    for (const [id, value] of typed) if (byId(id)) byId(id).value = value;
    if (focused !== null) (byId(focused) ?? byId('title'))?.focus();
  }

  async function refresh() {
    const mine = wish;
    if (mine === null) return;
    let content;
    let now;
    try {
      const read = await load(mine);
      now = JSON.stringify(read);
      content = () => draw(read);
    } catch (error) {
      // A server that is away for a moment does not take the story away.
      if (error.status === 0 && drawn !== '') return;
      now = error.message;
      content = () => [el('h2', { id: 'title', tabindex: '-1' }, mine), el('p', { class: 'empty' }, error.message)];
    }
    if (mine !== wish || now === drawn) return;
    const first = drawn === '';
    drawn = now;
    redraw(content());
    if (first) announce(byId('title')?.textContent ?? '');
  }

  return {
    refresh,
    shows: () => wish,
    show(key) {
      if (wish !== key) {
        wish = key;
        drawn = '';
        say('act', '');
      }
      return refresh();
    },
  };
}

byId('find').addEventListener('submit', (event) => {
  event.preventDefault();
  const id = byId('find-id').value.trim();
  if (!/^(evt|dlv)_[0-9A-Z]{26}$/.test(id)) {
    return say('find', 'An id begins with evt_ or dlv_ and has 26 letters and digits after it.');
  }
  say('find', '');
  if (location.pathname === '/inbox') location.assign(`/deliveries#${id}`);
  else location.hash = id;
  return undefined;
});

async function signOut() {
  try {
    await api('/v1/session', { method: 'DELETE' });
    location.assign('/welcome');
  } catch (error) {
    say('sign-out', error.message);
  }
}
byId('sign-out').addEventListener('click', () => void signOut());
