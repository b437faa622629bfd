import { api, byId, el, facts, liveList, say, state, time } from './portal.js';

const detail = byId('detail');
const filters = byId('filters');
const workspace = () => encodeURIComponent(byId('workspace').value);

/** One step of a story: when, what, where it stands, why. */
function step(one) {
  const places = [
    one.id,
    one.position,
    one.config_number === null ? null : `configuration ${one.config_number}`,
    one.rule === null ? null : `${one.rule} version ${one.rule_version}`,
  ].filter((place) => place !== null);
  return el(
    'li',
    {},
    el('span', { class: 'what' }, one.step.replace('_', ' ')),
    ' ',
    one.state ? state(one.state.toUpperCase()) : null,
    one.reason ? ` (${one.reason})` : null,
    el('div', {}, one.text),
    el('div', { class: 'sub' }, one.at ? time(one.at) : null, one.at ? '  ' : null, el('span', { class: 'id' }, places.join('  '))),
    one.lines.length > 0 ? el('pre', {}, one.lines.join('\n')) : null,
  );
}

const story = (trace) => el('ol', { class: 'story' }, ...trace.steps.map(step));

async function act(delivery, action, body) {
  try {
    await api(`/v1/workspaces/${workspace()}/deliveries/${delivery.id}/${action}`, { method: 'POST', body: body ?? {} });
    say('');
    await Promise.all([showDelivery(delivery.id), list.refresh()]);
  } catch (error) {
    say(error.message);
  }
}

function actions(delivery) {
  const row = el('div', { class: 'actions' });
  if (['FAILED', 'EXPIRED', 'CANCELLED', 'IN_DOUBT'].includes(delivery.state)) {
    row.append(el('button', { onclick: () => act(delivery, 'resend') }, 'Send again'));
  }
  if (delivery.state === 'WAITING') row.append(el('button', { onclick: () => act(delivery, 'cancel') }, 'Call off'));
  if (delivery.state === 'IN_DOUBT') {
    const reason = el('input', { 'aria-label': 'How you know', placeholder: 'how you know' });
    const dismiss = (as) => act(delivery, 'dismiss', { as, reason: reason.value.trim() || 'not said' });
    row.append(reason);
    row.append(el('button', { onclick: () => dismiss('sent') }, 'It was sent'));
    row.append(el('button', { onclick: () => dismiss('failed') }, 'It was not sent'));
  }
  return row.childElementCount === 0 ? null : row;
}

async function showDelivery(id) {
  const base = `/v1/workspaces/${workspace()}/deliveries/${encodeURIComponent(id)}`;
  const [delivery, trace] = await Promise.all([api(base), api(`${base}/trace`)]);
  detail.replaceChildren(
    el('h1', {}, `${delivery.notification} to ${delivery.to ?? 'nobody'} `, state(delivery.state)),
    facts([
      ['Delivery', el('span', { class: 'id' }, delivery.id)],
      ['Why', `${delivery.reason}${delivery.detail ? `: ${delivery.detail}` : ''}`],
      ['unique_id', el('span', { class: 'id' }, delivery.unique_id)],
      ['Event', el('a', { href: `#${delivery.event_id}`, class: 'id', onclick: () => setTimeout(open) }, delivery.event_id)],
      ['Next', delivery.next_at ? time(delivery.next_at) : null],
      ['Duplicates', delivery.duplicates > 0 ? String(delivery.duplicates) : null],
    ]),
    actions(delivery) ?? '',
    el('h2', {}, 'Story'),
    story(trace),
  );
}

async function showEvent(id) {
  const trace = await api(`/v1/workspaces/${workspace()}/events/${encodeURIComponent(id)}/trace`);
  detail.replaceChildren(el('h1', {}, 'Event ', el('span', { class: 'id' }, id)), el('h2', {}, 'Story'), story(trace));
}

const list = liveList({
  async load(cursor) {
    const query = new URLSearchParams({ limit: '50' });
    const form = new FormData(filters);
    for (const name of ['state', 'to']) if (form.get(name)) query.set(name, form.get(name).trim());
    if (cursor) query.set('cursor', cursor);
    await workspaces;
    return byId('workspace').value === '' ? { items: [], next: null } : api(`/v1/workspaces/${workspace()}/deliveries?${query}`);
  },
  keyOf: (delivery) => delivery.id,
  row: (delivery) => [
    el('span', { class: 'first' }, delivery.to ?? '(no address)'),
    state(delivery.state),
    el('span', { class: 'second' }, `${delivery.rule} · ${delivery.duplicate_of ? `duplicate of ${delivery.duplicate_of}` : delivery.reason}`),
    time(delivery.updated_at),
  ],
  choose: (delivery) => showDelivery(delivery.duplicate_of ?? delivery.id),
});

const workspaces = api('/v1/status').then(
  (status) => byId('workspace').replaceChildren(...status.workspaces.map((name) => el('option', {}, name))),
  (error) => say(error.message),
);
filters.addEventListener('input', () => void list.reset().catch((error) => say(error.message)));
filters.addEventListener('submit', (event) => event.preventDefault());

/** What the address names: a delivery or an event. */
async function open() {
  const id = location.hash.slice(1);
  if (!/^(evt|dlv)_/.test(id)) return;
  await workspaces;
  list.choose(id);
  await (id.startsWith('evt_') ? showEvent(id) : showDelivery(id)).catch((error) => say(error.message));
}
globalThis.addEventListener('trace', () => void open());
globalThis.addEventListener('hashchange', () => void open());
void open();
