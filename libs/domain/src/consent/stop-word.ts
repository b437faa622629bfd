/** Request in an SMS reply. */
export type StopWord = 'stop' | 'start' | 'help';

/** Words that Twilio handles by itself for long codes, and those of the rules of carriers. */
const WORDS: ReadonlyMap<string, StopWord> = new Map([
  ...[
    'STOP',
    'STOPALL',
    'STOP ALL',
    'UNSUBSCRIBE',
    'END',
    'QUIT',
    'CANCEL',
    'REVOKE',
    'OPTOUT',
    'OPT OUT',
    'OPT-OUT',
  ].map((word) => [word, 'stop'] as const),
  ...['START', 'UNSTOP', 'YES', 'OPTIN', 'OPT IN', 'OPT-IN'].map((word) => [word, 'start'] as const),
  ...['HELP', 'INFO'].map((word) => [word, 'help'] as const),
]);

const TYPES: ReadonlyMap<string, StopWord> = new Map([
  ['STOP', 'stop'],
  ['START', 'start'],
  ['HELP', 'help'],
]);

/**
 * Returns the request in an inbound SMS. Twilio's classification (`OptOutType` with Advanced Opt-Out) decides.
 * Otherwise the whole body must be one of the keywords, ignoring case, blanks, quotes and final punctuation. A sentence
 * that contains a keyword does not count: "please do not stop" is no STOP. Null if there is no request.
 */
export function stopWordOf(inbound: { readonly optOutType: string | null; readonly body: string }): StopWord | null {
  const judged = TYPES.get(inbound.optOutType?.trim().toUpperCase() ?? '');
  if (judged) return judged;
  if (inbound.body.length > 100) return null;
  const said = inbound.body
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/["'“”‘’«»]/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim()
    .replace(/[.!]+$/u, '')
    .trim();
  return WORDS.get(said) ?? null;
}
