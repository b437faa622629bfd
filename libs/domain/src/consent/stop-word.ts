/** What somebody answered to an SMS. */
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
 * What an inbound SMS asks for. Twilio's own judgement (`OptOutType`, where Advanced Opt-Out is on) decides; else the whole
 * body is one of the words, whatever its case, blanks, quotes and last mark. A sentence that only holds such a word asks for
 * nothing: "please do not stop" is no STOP. Null: it asks for none of these.
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
