import { describe, expect, it } from 'vitest';
import { stopWordOf } from '../../src/consent/index.ts';

const said = (body: string, optOutType: string | null = null) => stopWordOf({ body, optOutType });

describe('the request in an SMS reply such as STOP', () => {
  it.each([
    ...[
      'STOP',
      'stop',
      ' Stop. ',
      '"Stop"',
      'STOPALL',
      'stop  all',
      'Unsubscribe',
      'END',
      'quit',
      'Cancel',
      'REVOKE',
    ].map((body) => [body, 'stop'] as const),
    ...['optout', 'opt-out', 'ＳＴＯＰ'].map((body) => [body, 'stop'] as const),
    ...['START', 'unstop', 'Yes', 'start!'].map((body) => [body, 'start'] as const),
    ...['HELP', 'info'].map((body) => [body, 'help'] as const),
    ...['', ' ', 'please do not stop', 'stopp', 'thank you', 'the end', 'STOP'.repeat(400)].map(
      (body) => [body, null] as const,
    ),
  ])('of the text %j is %s', (body, word) => {
    expect(said(body)).toBe(word);
  });

  it('is the one that Twilio reports, if Twilio reports one', () => {
    expect(said('Arrêt', 'STOP')).toBe('stop');
    expect(said('STOP', 'START')).toBe('start');
    expect(said('whatever', 'help')).toBe('help');
    expect(said('STOP', 'SOMETHING')).toBe('stop');
  });
});
