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
  if (sending === 0) return `The ${newest} would not ${isDigest ? 'go into it' : 'send it'}.`;
  const sent = `Of the ${newest}, ${sending.toLocaleString('en')} would ${isDigest ? 'be items of it' : 'send it'}`;
  const lack = variables.length === 0 ? `; none of ${isDigest ? 'them' : 'their messages'} lacks a variable` : '';
  const bad = failed === 0 ? '' : ` No message can be made of ${failed.toLocaleString('en')}.`;
  return `${sent}${lack}.${bad}`;
}
