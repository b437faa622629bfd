// The deliveries of a workspace, and the story of the one that was chosen or traced.
import { liveList } from './list.js';
import { api, byId, createView, el, facts, say, state, time } from './portal.js';
import { cameIn, wentOut } from './contents.js';
import { idLink, people, reasonWords, story } from './story.js';

const filters = byId('filters');
const select = byId('workspace');
/** Of no workspace: of all that whoever reads may see. */
const at = (workspace) => `/v1/workspaces/${encodeURIComponent(workspace || '-')}`;
/** An id needs no workspace. */
const anywhere = at('');

const address = new URLSearchParams(location.search);
for (const name of ['state', 'to']) if (address.get(name)) filters.elements[name].value = address.get(name);

let asked;
/** The names of all workspaces, asked for until there is an answer. */
function workspaces() {
  asked ??= api('/v1/status').then(
    ({ workspaces: names }) => {
      const all = el('option', { value: '' }, 'all');
      select.replaceChildren(...(names.length === 1 ? [] : [all]), ...names.map((name) => el('option', {}, name)));
      if (names.includes(address.get('workspace'))) select.value = address.get('workspace');
      return names;
    },
    (error) => {
      asked = undefined;
      throw error;
    },
  );
  return asked;
}

/** What the filter asks for, in the address too: a page that is loaded again or sent to somebody shows the same. */
function filterQuery() {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(filters)) if (value.trim() !== '') query.set(name, value.trim());
  return query;
}

async function load(id) {
  const key = encodeURIComponent(id);
  if (id.startsWith('evt_')) return { trace: await api(`${anywhere}/events/${key}/trace`) };
  if (id.startsWith('dlv_')) {
    const [delivery, trace] = await Promise.all([
      api(`${anywhere}/deliveries/${key}`),
      api(`${anywhere}/deliveries/${key}/trace`),
    ]);
    return { delivery, trace };
  }
  // A duplicate has no document of its own: its row says who holds the slot, its event says what happened.
  if (!list.find(id)) await list.look();
  const row = list.find(id);
  if (!row) throw new Error('This row is not in the list. Trace the event or the delivery by its id.');
  return { delivery: row, trace: await api(`${anywhere}/events/${encodeURIComponent(row.event_id)}/trace`) };
}

async function act(delivery, action, body) {
  const buttons = byId('detail').querySelectorAll('.actions button');
  for (const button of buttons) button.disabled = true;
  try {
    await api(`${anywhere}/deliveries/${delivery.id}/${action}`, { method: 'POST', body: body ?? {} });
    say('act', '');
    byId('title').focus();
  } catch (error) {
    for (const button of buttons) button.disabled = false;
    say('act', error.message);
  }
  await Promise.all([view.refresh(), list.look()]);
}

function actions(delivery) {
  if (delivery.duplicate_of) return null;
  const row = el('div', { class: 'actions' });
  const button = (id, words, action, body) => {
    const onclick = () => void act(delivery, action, body?.());
    row.append(el('button', { type: 'button', id, onclick }, words));
  };
  if (['FAILED', 'EXPIRED', 'CANCELLED', 'IN_DOUBT'].includes(delivery.state)) button('again', 'Send again', 'resend');
  if (delivery.state === 'WAITING') button('call-off', 'Call off', 'cancel');
  if (delivery.state === 'IN_DOUBT') {
    const how = el('input', { id: 'how', maxlength: '500', autocomplete: 'off', placeholder: 'the provider’s log' });
    row.append(el('label', { for: 'how' }, 'or, as seen in'), how);
    const dismissal = (as) => () => ({ as, reason: how.value.trim() || 'not said' });
    button('was-sent', 'It was sent', 'dismiss', dismissal('sent'));
    button('was-not-sent', 'It was not sent', 'dismiss', dismissal('failed'));
  }
  return row.childElementCount === 0 ? null : row;
}

/** Why it stands where it stands, in a sentence where there is more to say than the state. */
function why({ reason, detail }) {
  const words = reasonWords(reason);
  return words && detail ? `${words}: ${detail}` : words || detail;
}

const DOUBT =
  'Nobody can say whether this reached its reader. Look into the provider’s log first: sending again may tell them twice.';

function drawDelivery({ delivery, trace }) {
  const doubled = delivery.duplicate_of !== null;
  const name = el('bdi', {}, delivery.to ?? 'nobody: no address');
  return [
    el('h2', { id: 'title', tabindex: '-1' }, `${delivery.notification} to `, name, ' ', state(delivery.state)),
    doubled
      ? el(
          'p',
          { class: 'lead' },
          'Not sent, because the same was told already: the delivery named below holds this unique_id.',
        )
      : '',
    delivery.state === 'IN_DOUBT' ? el('p', { class: 'lead' }, DOUBT) : '',
    facts([
      ['Workspace', delivery.workspace],
      ['Why', doubled ? null : why(delivery)],
      [doubled ? 'Told by' : 'Delivery', idLink(delivery.duplicate_of ?? delivery.id, delivery.id)],
      ['Test', delivery.test ? `asked for by ${delivery.test_by}; it counts nowhere` : null],
      ['Event', delivery.event_id === null ? null : idLink(delivery.event_id)],
      [
        'Rule',
        delivery.rule === null
          ? null
          : `${delivery.rule} version ${delivery.rule_version}, configuration ${delivery.config_number}`,
      ],
      ['unique_id', el('bdi', { class: 'id' }, delivery.unique_id)],
      ['Next try', delivery.next_at ? time(delivery.next_at) : null],
      ['Duplicates', delivery.duplicates > 0 ? `${delivery.duplicates}, not sent` : null],
    ]),
    actions(delivery) ?? '',
    el('h3', {}, doubled ? 'Story of the event' : 'Story'),
    story(trace),
    ...opened(delivery, trace, doubled),
  ];
}

/** What the event of a story held, and what went out for its delivery. */
function opened(delivery, trace, doubled) {
  const event = trace.steps.find((one) => one.step === 'event');
  return [event?.id ? cameIn(event.id, event.position) : '', doubled ? '' : wentOut(delivery.id)];
}

/** The delivery of an event that made one. */
function only({ people: named }) {
  const made = (named?.items ?? []).filter((one) => one.delivery !== null);
  return made.length === 1 && named.next === null ? made[0].delivery : null;
}

const drawEvent = ({ trace }) => [
  el('h2', { id: 'title', tabindex: '-1' }, 'Event ', el('span', { class: 'id' }, trace.id)),
  el('h3', {}, 'Story'),
  story(trace),
  ...trace.steps
    .filter((one) => one.step === 'event')
    .slice(0, 1)
    .map((one) => cameIn(trace.id, one.position)),
  only(trace) === null ? '' : wentOut(only(trace)),
  ...people(trace, (query) => api(`${anywhere}/events/${encodeURIComponent(trace.id)}/trace?${query}`)),
];

/** Whether rows of several workspaces may stand together. */
const isWide = () => select.value === '' && select.options.length > 1;

const view = createView({ load, draw: (read) => (read.delivery ? drawDelivery(read) : drawEvent(read)) });

const list = liveList({
  async load(cursor) {
    await workspaces();
    const query = filterQuery();
    query.delete('workspace');
    byId('empty-words').textContent = query.size > 0 ? 'No delivery fits this filter.' : 'No deliveries yet.';
    query.set('limit', '50');
    if (cursor) query.set('cursor', cursor);
    return api(`${at(select.value)}/deliveries?${query}`);
  },
  keyOf: (delivery) => delivery.id,
  row: (delivery) => [
    el('span', { class: 'first' }, delivery.to ?? '(no address)'),
    state(delivery.state),
    el(
      'span',
      { class: 'second' },
      [
        isWide() ? delivery.workspace : null,
        delivery.test ? `test of ${delivery.notification}` : delivery.rule,
        delivery.duplicate_of ? 'duplicate' : reasonWords(delivery.reason),
      ]
        .filter(Boolean)
        .join(' · '),
    ),
    time(delivery.updated_at),
  ],
  choose: (id) => view.show(id),
  also: () => view.refresh(),
});

filters.addEventListener('input', () => {
  history.replaceState(null, '', `?${filterQuery()}${location.hash}`);
  void list.reset();
});
filters.addEventListener('submit', (event) => event.preventDefault());

/** Shows what the address names: a delivery, an event or a row of the list. */
function open() {
  const id = location.hash.slice(1);
  if (!/^[a-z]{3}_[0-9A-Z]+$/.test(id)) return;
  list.mark(id);
  void view.show(id);
}
globalThis.addEventListener('hashchange', open);
open();
