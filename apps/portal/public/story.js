// The story of an event or a delivery, step by step.
import { el, humane, state, time } from './portal.js';

const NAMES = {
  event: 'Event',
  evaluation: 'Evaluation',
  rule: 'Rule',
  trigger: 'Trigger',
  intent: 'Intent',
  delivery: 'Delivery',
  attempt: 'Attempt',
  duplicate: 'Duplicate',
  dead_letter: 'Dead letter',
};

/** Reasons that only repeat what state and text say already. */
const PLAIN = new Set(['new', 'accepted', 'duplicate', 'disabled', 'when_false', 'rule_error']);
/** A reason as people say it; null where it says nothing. */
export const reasonWords = (reason) => (reason && !PLAIN.has(reason) ? humane(reason) : null);

/** An id; what has a story of its own is a link to it, but for the story that is shown. */
export function idLink(id, shown) {
  return /^(evt|dlv)_/.test(id) && id !== shown
    ? el('a', { href: `#${id}`, class: 'id' }, id)
    : el('span', { class: 'id' }, id);
}

function step(one, shown) {
  const reason = one.step === 'attempt' ? null : reasonWords(one.reason);
  const named = one.step === 'rule' || one.step === 'trigger';
  const places = [
    one.rule === null ? null : named ? `version ${one.rule_version}` : `${one.rule} version ${one.rule_version}`,
    one.config_number === null ? null : `configuration ${one.config_number}`,
    one.position,
  ].filter((place) => place !== null);
  const marks = [one.at ? time(one.at) : null, one.id ? idLink(one.id, shown) : null];
  if (places.length > 0) marks.push(el('span', { class: 'id' }, places.join(' · ')));
  return el(
    'li',
    { class: one.step === 'rule' || one.step === 'duplicate' ? 'ended' : undefined },
    el('span', { class: 'what' }, NAMES[one.step] ?? humane(one.step), named && one.rule ? ` ${one.rule}` : null),
    one.state ? ' ' : null,
    one.state ? state(one.state.toUpperCase()) : null,
    reason ? ` (${reason})` : null,
    el('div', {}, one.text),
    one.lines.length > 0 ? el('pre', {}, one.lines.join('\n')) : null,
    el('div', { class: 'sub' }, ...marks.filter((mark) => mark !== null)),
  );
}

const OUTCOMES = { told: 'told', waiting: 'waiting', in_doubt: 'in doubt', not_told: 'not told' };

function person(one) {
  const place = one.count === 1 ? one.place : `${one.place} to ${one.place + one.count - 1}`;
  const who = one.to ?? (one.delivery === null ? 'dropped' : 'no address');
  const facts = [
    el('span', { class: 'id' }, `${one.rule} ${place}`),
    one.unique_id === null ? null : el('bdi', { class: 'id' }, one.unique_id),
    one.delivery === null ? null : idLink(one.delivery),
  ];
  return el(
    'li',
    { class: one.outcome === 'not_told' ? 'ended' : undefined },
    el('bdi', { class: 'what' }, who),
    ' ',
    one.state ? state(one.state) : OUTCOMES[one.outcome],
    ` (${humane(one.reason)})`,
    el('div', {}, one.text),
    one.item === null ? null : el('pre', {}, one.item),
    el('div', { class: 'sub' }, ...facts.filter((fact) => fact !== null)),
  );
}

/** Whom an event names, and what came of each; `load` asks for a page of them by `to` and `cursor`. */
export function people(trace, load) {
  // The steps of an event that made one message tell of that one themselves.
  const isTold = trace.steps.some(({ step: name }) => name === 'intent');
  if (!trace.people || trace.people.items.length === 0 || isTold) return [];
  const headline = el('p', { class: 'lead', id: 'people-headline', role: 'status' });
  const rows = el('ol', { class: 'story', role: 'list', id: 'people' });
  const more = el('button', { class: 'more', type: 'button' }, 'Show more people');
  const only = el('input', { id: 'people-to', name: 'to', autocomplete: 'off', spellcheck: 'false' });
  let next = null;
  const draw = (page, keep) => {
    if (page.headline !== null) headline.textContent = page.headline;
    if (!keep) rows.replaceChildren();
    rows.append(...page.items.map(person));
    next = page.next;
    more.hidden = next === null;
  };
  const ask = async (cursor) => {
    const query = new URLSearchParams();
    if (only.value.trim() !== '') query.set('to', only.value.trim());
    if (cursor !== null) query.set('cursor', cursor);
    try {
      draw((await load(query)).people, cursor !== null);
    } catch (error) {
      headline.textContent = error.message;
    }
  };
  more.addEventListener('click', () => void ask(next));
  const find = el('form', { class: 'actions' });
  find.append(el('label', { for: 'people-to' }, 'Only'), only, el('button', {}, 'Find'));
  find.addEventListener('submit', (event) => {
    event.preventDefault();
    void ask(null);
  });
  draw(trace.people, false);
  return [el('h3', {}, 'People'), headline, find, rows, more];
}

export const story = (trace) =>
  el('ol', { class: 'story', role: 'list' }, ...trace.steps.map((one) => step(one, trace.id)));
