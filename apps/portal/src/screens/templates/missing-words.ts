import type { MissingVariables } from './queries.ts';
import type { SentAs } from './users.ts';

/** Over what the missing variables were counted, in sentences. */
export function missingWords(
  { events, sending, failed, variables }: Pick<MissingVariables, 'events' | 'sending' | 'failed' | 'variables'>,
  as: SentAs,
): string {
  if (as === 'nothing') return 'No notification uses this template on this channel yet.';
  if (events === 0) return 'No events yet on the streams of its rules.';
  const newest = events === 1 ? 'newest event' : `newest ${events.toLocaleString('en')} events`;
  const isDigest = as === 'digest';
  const does = isDigest ? 'go into it' : 'send it';
  if (sending === 0) return `None of the ${newest} would ${does}.`;
  if (events === 1) {
    const lacks = variables.length === 0 ? ' with every variable' : '';
    return failed === 0
      ? `The newest event would ${does}${lacks}.`
      : 'The newest event gives an error instead of a message.';
  }
  const sent = `Of the ${newest}, ${sending.toLocaleString('en')} would ${does}`;
  const lack = variables.length === 0 ? ', each with every variable' : '';
  const bad =
    failed === 0
      ? ''
      : ` ${failed.toLocaleString('en')} ${failed === 1 ? 'gives' : 'give'} an error instead of a message.`;
  return `${sent}${lack}.${bad}`;
}
