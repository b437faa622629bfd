import type { MissingVariables } from './queries.ts';

/** Over what the missing variables were counted, in sentences. */
export function missingWords({
  events,
  sending,
  failed,
  variables,
}: Pick<MissingVariables, 'events' | 'sending' | 'failed' | 'variables'>): string {
  if (events === 0) return 'No event came yet on a stream whose rules send it.';
  const newest = events === 1 ? 'newest event' : `newest ${events.toLocaleString('en')} events`;
  if (sending === 0) return `The ${newest} would not send it.`;
  const sent = `Of the ${newest}, ${sending.toLocaleString('en')} would send it`;
  const lack = variables.length === 0 ? '; none of their messages lacks a variable' : '';
  const bad = failed === 0 ? '' : ` No message can be made of ${failed.toLocaleString('en')}.`;
  return `${sent}${lack}.${bad}`;
}
