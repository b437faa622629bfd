import type { Report } from '@carillon/domain/receipts';
import type { CarillonError, Result } from '@carillon/kernel';
import type { ReceiptCallback } from '@carillon/ports';
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isFromTwilio, readTwilioInbound, readTwilioStatus, TWILIO_CALLBACK_CODES } from '../src/index.ts';

type Shown = Pick<ReceiptCallback, 'url' | 'headers' | 'body'>;
const callback = (body: string, headers: Shown['headers'], url: string): Shown => ({
  url,
  headers,
  body: Buffer.from(body),
});
function valueOf<T>(read: Result<T, CarillonError>): T {
  if (!read.ok) throw read.error;
  return read.value;
}
const classified = ({ verdict, suppress, alert }: Report) => ({ verdict, suppress, alert });
const said = (verdict: Report['verdict'], suppress: Report['suppress'] = null, alert = false) => ({
  verdict,
  suppress,
  alert,
});

describe('Twilio’s signature', () => {
  // The example of https://www.twilio.com/docs/usage/security, which Twilio's own libraries test against.
  const url = 'https://mycompany.com/myapp.php?foo=1&bar=2';
  const form = 'CallSid=CA1234567890ABCDE&Caller=%2B14158675310&Digits=1234&From=%2B14158675310&To=%2B18005551212';
  const token = '12345';
  const signature = 'GvWf1cFY/Q7PnoempGyD5oXAezc=';

  it('of Twilio’s own example is valid', () => {
    expect(isFromTwilio(callback(form, { 'x-twilio-signature': signature }, url), token)).toBe(true);
  });

  it('is invalid if our address is unknown, or the auth token is empty', () => {
    const shown = { ...callback(form, { 'x-twilio-signature': signature }, url), url: null };
    expect(isFromTwilio(shown, token)).toBe(false);
    const empty = createHmac('sha1', '').update(url, 'utf8').digest('base64');
    expect(isFromTwilio(callback('', { 'x-twilio-signature': empty }, url), '')).toBe(false);
  });

  it('does not depend on the order of fields', () => {
    const turned = form.split('&').toReversed().join('&');
    expect(isFromTwilio(callback(turned, { 'x-twilio-signature': signature }, url), token)).toBe(true);
  });

  it.each([
    ['another token', form, signature, url, '12346'],
    ['another value', form.replace('1234&', '1235&'), signature, url, token],
    ['one more field', `${form}&Extra=1`, signature, url, token],
    ['another address', form, signature, url.replace('https', 'http'), token],
    ['no signature', form, undefined, url, token],
    ['an empty one', form, '', url, token],
  ])('is invalid with %s', (_, body, shown, address, key) => {
    expect(isFromTwilio(callback(body, { 'x-twilio-signature': shown }, address), key)).toBe(false);
  });
});

describe('a status of Twilio', () => {
  const form = (fields: Record<string, string>) => Buffer.from(new URLSearchParams(fields).toString());
  const status = (MessageStatus: string, ErrorCode = '') =>
    valueOf(readTwilioStatus(form({ MessageSid: 'SM1', MessageStatus, ErrorCode }), 'tok'));

  it.each([
    ['queued', said('note')],
    ['sent', said('note')],
    ['delivered', said('delivered')],
    ['read', said('delivered')],
    ['a word that Twilio invents tomorrow', said('note')],
    ['constructor', said('note')],
  ])('%s is judged', (word, expected) => {
    expect(classified(status(word))).toEqual(expected);
  });

  it.each([
    ['30005', said('bounced', 'hard_bounce')],
    ['30006', said('bounced', 'hard_bounce')],
    ['21610', said('bounced', 'stop')],
    ['30001', said('bounced')],
    ['30003', said('bounced')],
    ['30007', said('bounced', null, true)],
    ['30008', said('bounced')],
    ['99999', said('bounced')],
  ])('undelivered with %s gets the outcome of its row in provider-outcomes.md', (code, expected) => {
    expect(classified(status('undelivered', code))).toEqual(expected);
    expect(classified(status('failed', code))).toEqual(expected);
    expect(status('undelivered', code).code).toBe(code);
  });

  it('without a failure suppresses no address, whatever error code it has', () => {
    for (const code of TWILIO_CALLBACK_CODES.keys()) expect(status('sent', code).suppress).toBeNull();
  });

  it('has the same id if it is repeated, and another id for another status', () => {
    expect(status('sent').eventId).toBe(status('sent').eventId);
    expect(status('sent').eventId).not.toBe(status('delivered').eventId);
  });

  it('without a message is refused', () => {
    expect(readTwilioStatus(form({ MessageStatus: 'sent' }), null)).toMatchObject({ ok: false });
    expect(readTwilioStatus(Buffer.from('{"json":1}'), null)).toMatchObject({ ok: false });
  });

  it.each([
    ['STOP', 'stop'],
    [' stop. ', 'stop'],
    ['Unsubscribe', 'stop'],
    ['OPTOUT', 'stop'],
    ['START', 'start'],
    ['unstop', 'start'],
    ['please stop it', null],
    ['HELP', null],
    ['', null],
  ])('the text %j of a person means %j', (Body, wish) => {
    const inbound = valueOf(readTwilioInbound(form({ MessageSid: 'SM2', From: '+4915', To: '+4930', Body })));
    expect(inbound.wish).toBe(wish);
  });

  it('Twilio’s own classification of a reply takes precedence over ours', () => {
    const read = (OptOutType: string, Body: string) =>
      valueOf(readTwilioInbound(form({ MessageSid: 'SM2', From: '+4915', To: '+4930', Body, OptOutType }))).wish;
    expect(read('STOP', 'arrêt')).toBe('stop');
    expect(read('START', 'STOP')).toBe('start');
    expect(read('HELP', 'STOP')).toBeNull();
  });
});
