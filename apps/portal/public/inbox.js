import { api, byId, el, facts, liveList, time } from './portal.js';

const detail = byId('detail');

function show(message) {
  const html = message.html === null ? null : el('iframe', {
    class: 'body',
    id: 'panel',
    role: 'tabpanel',
    'aria-labelledby': 'tab-html',
    // No script, no forms, an origin of its own: what a tenant's template does stays in there.
    sandbox: '',
    src: `/inbox/messages/${message.id}/html`,
    title: `Message body: ${message.subject}`,
  });
  const text = el('pre', { class: 'body', id: 'panel', role: 'tabpanel', 'aria-labelledby': 'tab-text', tabindex: '0' }, message.text);
  const tabs = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Body' });
  const kinds = html ? [['html', 'HTML', html], ['text', 'Text', text]] : [['text', 'Text', text]];

  function select(kind, focus) {
    const [, , body] = kinds.find(([name]) => name === kind);
    for (const tab of tabs.children) {
      const on = tab.id === `tab-${kind}`;
      tab.setAttribute('aria-selected', String(on));
      tab.tabIndex = on ? 0 : -1;
      if (on && focus) tab.focus();
    }
    detail.querySelector('#panel')?.remove();
    detail.append(body);
  }
  for (const [kind, title] of kinds) {
    tabs.append(el('button', { id: `tab-${kind}`, role: 'tab', 'aria-controls': 'panel', onclick: () => select(kind, false) }, title));
  }
  tabs.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    const now = kinds.findIndex(([kind]) => tabs.querySelector('[aria-selected="true"]').id === `tab-${kind}`);
    select(kinds[(now + 1) % kinds.length][0], true);
  });
  detail.replaceChildren(
    el('h1', {}, message.subject || '(no subject)'),
    facts([
      ['From', message.from],
      ['To', message.to],
      ['Kept', time(message.at)],
      ['Delivery', el('a', { href: `/deliveries#${message.delivery_id}`, class: 'id' }, message.delivery_id)],
    ]),
    tabs,
  );
  select(kinds[0][0], false);
}

const list = liveList({
  load: (cursor) => api(`/v1/inbox?limit=50${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`),
  keyOf: (message) => message.id,
  row: (message) => [
    el('span', { class: 'first' }, message.subject || '(no subject)'),
    time(message.at),
    el('span', { class: 'second' }, `${message.to} · ${message.workspace}`),
  ],
  choose: async (message) => show(message),
});

const wanted = location.hash.slice(1);
if (wanted) {
  list.choose(wanted);
  void api(`/v1/inbox/${encodeURIComponent(wanted)}`).then(show, () => undefined);
}
