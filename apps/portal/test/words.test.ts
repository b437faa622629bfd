import { describe, expect, it } from 'vitest';
import { joinNewest, type Page } from '../src/api/pages.ts';
import { findId, isLikeId } from '../src/frame/find-id.ts';
import { readDeliverySearch } from '../src/screens/deliveries/delivery-search.ts';
import { segmentWords, titleOf } from '../src/screens/inbox/message-words.ts';
import { curlWords } from '../src/ui/curl-words.ts';
import { isTyped } from '../src/ui/is-typed.ts';
import { stateWords, toneOf } from '../src/ui/state-words.ts';
import { agoWords, momentWords, spanWords } from '../src/ui/time-words.ts';

describe('words that a question asks for', () => {
  it.each([
    ['Ada  Lovelace', 'Ada Lovelace', true],
    ['Ada Lovelace', ' Ada  Lovelace ', true],
    ['Ada\u00a0Lovelace', 'Ada Lovelace', true],
    ['Ada Lovelace', 'ada lovelace', false],
    ['Ada Lovelace', 'AdaLovelace', false],
  ])('for %j, %j is enough: %j', (wanted, said, enough) => {
    expect(isTyped(said, wanted)).toBe(enough);
  });
});

describe('words of the portal', () => {
  const now = new Date('2026-11-23T10:00:00.000Z');
  it.each([
    ['2026-11-23T09:59:59.500Z', 'now'],
    ['2026-11-23T09:59:18.000Z', '42 s ago'],
    ['2026-11-23T09:59:00.000Z', '09:59:00'],
    ['2026-11-22T23:59:00.000Z', '2026-11-22 23:59:00'],
    ['2026-11-23T10:00:05.000Z', '10:00:05'],
  ])('says %s as %s', (at, words) => {
    expect(agoWords(new Date(at), now, 'UTC')).toBe(words);
  });
  it('tells seconds in no story', () => {
    expect(momentWords(new Date('2026-11-23T09:59:59.500Z'), now, 'UTC')).toBe('09:59:59');
  });

  it.each([
    [5, '5 ms'],
    [1_800, '1.8 s'],
    [60_000, '1 min'],
    [8_040_000, '2 h 14 min'],
    [86_400_000, '1 d'],
  ])('says %i milliseconds as %s', (span, words) => {
    expect(spanWords(span)).toBe(words);
  });

  it('gives IN_DOUBT a colour that no other state has', () => {
    expect(stateWords('IN_DOUBT')).toBe('In doubt');
    const states = ['WAITING', 'SENDING', 'SENT', 'FAILED', 'SUPPRESSED', 'EXPIRED', 'DIGESTED', 'NEW_ONE'];
    expect(states.map(toneOf)).not.toContain('doubt');
    expect(toneOf('in_doubt')).toBe('doubt');
  });

  it('recognizes an id, and text meant as an id', () => {
    const id = 'evt_0123456789ABCDEFGHJKMNPQRS';
    expect(findId(` ${id} `)).toEqual({ kind: 'event', id });
    expect(findId('evt_1')).toBeNull();
    expect([isLikeId('evt_1'), isLikeId('inbox')]).toEqual([true, false]);
  });

  it('keeps known search parameters as text, and drops the others', () => {
    expect(readDeliverySearch({ state: 'SENT', to: '', open: 'dlv_1', page: '3', event: 5 })).toEqual({
      state: 'SENT',
      open: 'dlv_1',
    });
  });

  it('quotes the curl command for the shell, and contains no token', () => {
    expect(curlWords({ method: 'POST', path: '/v1/x', body: { name: "it's" } }, 'https://c.example')).toBe(
      `curl -X POST 'https://c.example/v1/x' \\\n  -H "Authorization: Bearer $CARILLON_TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"it'\\''s"}'`,
    );
  });

  it('includes preconditions in the curl command, so that the server accepts it', () => {
    const call = { method: 'PUT', path: '/v1/x', headers: { 'if-none-match': '*' }, body: {} } as const;
    expect(curlWords(call, 'https://c.example').split(' \\\n')).toContain("  -H 'if-none-match: *'");
  });

  it('names a message by what its reader sees first', () => {
    const sms = { channel: 'sms', subject: null, push: null };
    expect(titleOf({ ...sms, text: 'One\nTwo' })).toBe('One');
    expect(titleOf({ channel: 'email', subject: '', text: 'x', push: null })).toBe('(no subject)');
    // Lists have no bodies.
    expect(titleOf({ ...sms, text: null })).toBe('Text message');
    expect(segmentWords({ encoding: 'UCS-2', segments: 1, units: 7, first_outside_gsm: '☃' })).toBe(
      '1 segment of at most 70 characters, or 67 each in several (UCS-2, because of “☃”)',
    );
  });
});

describe('a list that keeps itself up to date', () => {
  type Row = { readonly id: string; readonly words: string };
  const row = (id: string, words = ''): Row => ({ id, words });
  const keyOf = ({ id }: Row): string => id;
  const page = (next: string | null, ...items: Row[]): Page<Row> => ({ items, next });
  const ids = ({ items }: Page<Row>): string => items.map(keyOf).join('');

  it('inserts new rows at the top, removes missing rows, and keeps later rows', () => {
    const shown = page('after-f', ...['b', 'c', 'd', 'e', 'f'].map((id) => row(id)));
    const { page: joined, waiting } = joinNewest(shown, page('after-d', row('a'), row('b'), row('d')), keyOf, true);
    expect([ids(joined), joined.next, waiting]).toEqual(['abdef', 'after-f', 0]);
  });
  it('updates rows in place while it is scrolled, and counts new rows', () => {
    const shown = page('after-d', row('b'), row('c'), row('d'));
    const { page: joined, waiting } = joinNewest(shown, page('x', row('z'), row('a'), row('b', 'new')), keyOf, false);
    expect([ids(joined), joined.items[0]?.words, waiting]).toEqual(['bcd', 'new', 2]);
  });
  it('starts over if rows may be missing in between, or if everything fits on one page', () => {
    const shown = page('after-d', row('c'), row('d'));
    expect(ids(joinNewest(shown, page('after-b', row('a'), row('b')), keyOf, true).page)).toBe('ab');
    expect(ids(joinNewest(shown, page(null, row('d')), keyOf, true).page)).toBe('d');
    expect(ids(joinNewest(shown, page(null), keyOf, true).page)).toBe('');
  });
});
