// Messages that the sandbox kept, shown as their readers would see them.
import { liveList } from './list.js';
import { api, createView, el, facts, time } from './portal.js';

/** The bodies of a message; a frame for HTML, where no script runs and from which nothing gets out. */
function bodies(message) {
  const text = ['text', 'Text', el('pre', { class: 'body', tabindex: '0' }, message.text || '(no text)')];
  if (message.html === null) return [text];
  const frame = el('iframe', {
    class: 'body',
    // No script, no forms, an origin of its own: what a tenant's template does stays in there.
    sandbox: '',
    referrerpolicy: 'no-referrer',
    src: `/inbox/messages/${encodeURIComponent(message.id)}/html`,
    title: `HTML body of: ${message.subject || '(no subject)'}`,
  });
  return [['html', 'HTML', frame], text];
}

function tabsOf(kinds) {
  const tabs = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Body' });
  const panel = el('div', { class: 'panel', id: 'panel', role: 'tabpanel' });
  function select(index, focus) {
    const [name, , body] = kinds[index];
    for (const [place, tab] of [...tabs.children].entries()) {
      tab.setAttribute('aria-selected', String(place === index));
      tab.tabIndex = place === index ? 0 : -1;
    }
    if (focus) tabs.children[index].focus();
    panel.setAttribute('aria-labelledby', `tab-${name}`);
    panel.replaceChildren(body);
  }
  for (const [index, [name, title]] of kinds.entries()) {
    const attributes = { type: 'button', id: `tab-${name}`, role: 'tab', 'aria-controls': 'panel' };
    tabs.append(el('button', { ...attributes, onclick: () => select(index, false) }, title));
  }
  tabs.addEventListener('keydown', (event) => {
    const now = [...tabs.children].indexOf(document.activeElement);
    const last = kinds.length - 1;
    const to = { ArrowRight: now === last ? 0 : now + 1, ArrowLeft: now === 0 ? last : now - 1, Home: 0, End: last }[
      event.key
    ];
    if (to === undefined) return;
    event.preventDefault();
    select(to, true);
  });
  select(0, false);
  return [tabs, panel];
}

const view = createView({
  load: (id) => api(`/v1/inbox/${encodeURIComponent(id)}`),
  draw: (message) => [
    el('h2', { id: 'title', tabindex: '-1' }, el('bdi', {}, message.subject || '(no subject)')),
    facts([
      ['From', el('bdi', {}, message.from)],
      ['To', el('bdi', {}, message.to)],
      ['Kept', time(message.at)],
      [
        'Why',
        el(
          'a',
          { href: `/deliveries?workspace=${encodeURIComponent(message.workspace)}#${message.delivery_id}` },
          'the story of this delivery',
        ),
      ],
    ]),
    ...tabsOf(bodies(message)),
  ],
});

const list = liveList({
  load: (cursor) => api(`/v1/inbox?limit=50${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`),
  keyOf: (message) => message.id,
  row: (message) => [
    el('span', { class: 'first' }, message.subject || '(no subject)'),
    time(message.at),
    el('span', { class: 'second' }, `${message.to} · ${message.workspace}`),
  ],
  choose: (id) => view.show(id),
  // A kept message never changes.
  also: () => undefined,
});

function open() {
  const id = location.hash.slice(1);
  if (id === '') return;
  list.mark(id);
  void view.show(id);
}
globalThis.addEventListener('hashchange', open);
open();
