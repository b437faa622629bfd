import type { MissingVariables } from './queries.ts';
import type { SentAs } from './users.ts';

/** Over what the missing variables were counted, in sentences. */
export function missingWords(
  { events, sending, failed, variables }: Pick<MissingVariables, 'events' | 'sending' | 'failed' | 'variables'>,
  as: SentAs,
): string {
  if (as === 'nothing') return 'No notification sends it on this channel yet.';
  if (events === 0) return 'No event came yet on a stream whose rules send it.';
  const newest = events === 1 ? 'newest event' : `newest ${events.toLocaleString('en')} events`;
  const isDigest = as === 'digest';
  const does = isDigest ? 'go into it' : 'send it';
  if (sending === 0) return `The ${newest} would not ${does}.`;
  if (events === 1) {
    const lacks = variables.length === 0 ? ' with every variable' : '';
    return failed === 0 ? `The newest event would ${does}${lacks}.` : 'No message can be made of the newest event.';
  }
  const sent = `Of the ${newest}, ${sending.toLocaleString('en')} would ${does}`;
  const lack = variables.length === 0 ? '; none of them lacks a variable' : '';
  const bad = failed === 0 ? '' : ` No message can be made of ${failed.toLocaleString('en')}.`;
  return `${sent}${lack}.${bad}`;
}
