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

export const story = (trace) =>
  el('ol', { class: 'story', role: 'list' }, ...trace.steps.map((one) => step(one, trace.id)));
