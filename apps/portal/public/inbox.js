// Messages that the sandbox kept, shown as their readers would see them.
import { liveList } from './list.js';
import { api, createView, el, facts, time } from './portal.js';

const CHANNELS = { email: 'Email', sms: 'SMS', push: 'Push' };

/** What its reader sees of a message first, in one line. */
function titleOf({ subject, text, push }) {
  const words = push ? (push.title ?? push.body) : (subject ?? text);
  return words?.split('\n')[0] || '(no subject)';
}

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

/** The bubble that a phone shows, and what it costs. */
function bubble({ text, sms }) {
  const unit = sms.encoding === 'UCS-2' ? 'of 70 characters alone, 67 each' : 'of 160 characters alone, 153 each';
  const dearer = sms.first_outside_gsm === null ? '' : `, because of “${sms.first_outside_gsm}”`;
  const cost = `${sms.segments} ${sms.segments === 1 ? 'segment' : 'segments'} ${unit} (${sms.encoding}${dearer})`;
  return [
    el(
      'div',
      { class: 'phone', role: 'group', 'aria-label': 'As a phone shows it' },
      el('p', { class: 'bubble' }, text),
    ),
    el('p', { class: 'cost' }, cost),
  ];
}

/** The card that a locked phone shows, and what only the app reads. */
function card({ push }) {
  const { title, body, image, link, data } = push;
  const shown = [
    title === null ? null : el('strong', {}, el('bdi', {}, title)),
    body === null ? null : el('p', {}, body),
    // Named and never loaded: whoever looks at a kept message tells nobody that he does.
    image === null ? null : el('p', { class: 'picture' }, `picture: ${image}`),
  ];
  const rest = {
    'A tap opens': link && el('a', { href: link, target: '_blank', rel: 'noopener noreferrer' }, link),
    Priority: push.priority,
    'Takes the place of': push.collapse,
    'Android channel': push.android_channel,
    'Sound on Apple devices': push.apns_sound,
  };
  const fields = Object.entries(data).map(([name, value]) => [el('code', {}, name), el('bdi', {}, value)]);
  const head = el('p', { class: 'app' }, 'Your app', el('span', {}, 'now'));
  const nodes = shown.filter((node) => node !== null);
  return [
    el(
      'div',
      { class: 'phone', role: 'group', 'aria-label': 'As a locked phone shows it' },
      el('div', { class: 'card' }, head, ...nodes),
    ),
    facts(Object.entries(rest).filter(([, value]) => value !== null)),
    ...(fields.length === 0 ? [] : [el('h3', {}, 'Fields for the app'), facts(fields)]),
  ];
}

function content(message) {
  if (message.push) return card(message);
  return message.sms ? bubble(message) : tabsOf(bodies(message));
}

const view = createView({
  load: (id) => api(`/v1/inbox/${encodeURIComponent(id)}`),
  draw: (message) => [
    el('h2', { id: 'title', tabindex: '-1' }, el('bdi', {}, titleOf(message))),
    facts([
      ['Channel', CHANNELS[message.channel]],
      ...(message.from === null ? [] : [['From', el('bdi', {}, message.from)]]),
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
    ...content(message),
  ],
});

const list = liveList({
  load: (cursor) => api(`/v1/inbox?limit=50${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`),
  keyOf: (message) => message.id,
  row: (message) => [
    el('span', { class: 'first' }, titleOf(message)),
    time(message.at),
    el('span', { class: 'second' }, `${CHANNELS[message.channel]} · ${message.to} · ${message.workspace}`),
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
