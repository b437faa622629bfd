import type { AccountOf } from '@carillon/domain/configuration';
import type { Report } from '@carillon/domain/receipts';
import { ERRORS } from '@carillon/kernel';
import type { ReceiptCallback } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { CODES, createVonageReceiptReader, readVonage } from '../src/index.ts';
import { APPLICATION, MESSAGE, problem, signedByVonage } from './scripted-vonage.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const HOUR = 3_600_000;
const SECRET = 'signature-secret';
const account: AccountOf<'vonage'> = {
  kind: 'vonage',
  application_id: APPLICATION,
  private_key: { secret: 'KEY' },
  signature_secret: { secret: 'SIGNATURE' },
  from: '+4930123456',
};
const STATUS = {
  message_uuid: MESSAGE,
  to: '4915112345678',
  from: '4930123456',
  timestamp: '2026-11-22T11:59:58.000Z',
  status: 'delivered',
  channel: 'sms',
};
const INBOUND = {
  message_uuid: MESSAGE,
  to: '4930123456',
  from: '4915112345678',
  timestamp: '2026-11-22T11:59:58.000Z',
  channel: 'sms',
  message_type: 'text',
  text: 'STOP',
};

const reader = createVonageReceiptReader({ clock: { now: () => NOW } });
const callback = (body: string, authorization?: string, token: string | null = 'tok'): ReceiptCallback => ({
  account: 'shop/texts',
  url: null,
  token,
  headers: { authorization },
  body: Buffer.from(body),
});
const read = async (
  body: string,
  authorization: string | undefined,
  secret: string | null = SECRET,
  sender: Parameters<typeof reader.read>[1] = account,
) => (await reader.read(callback(body, authorization), sender, secret)).kind;

describe('the signature of Vonage', () => {
  const body = JSON.stringify(STATUS);
  const good = signedByVonage(body, SECRET, NOW);

  it('proves a callback with its body', async () => {
    expect(await read(body, good)).toBe('proved');
    expect(await read(body, good.replace('Bearer', 'bearer'))).toBe('proved');
    expect(await read(body, signedByVonage(body, SECRET, NOW, { claims: { application_id: undefined } }))).toBe(
      'proved',
    );
  });

  it.each([
    ['no header', body, undefined],
    ['another scheme', body, good.replace('Bearer', 'Basic')],
    ['a token in two parts', body, good.slice(0, good.lastIndexOf('.'))],
    ['another body', body.replace('delivered', 'rejected'), good],
    ['the body with a blank more', `${body} `, good],
    ['another secret', body, signedByVonage(body, 'other', NOW)],
    ['a day ago', body, signedByVonage(body, SECRET, NOW - 25 * HOUR)],
    ['an hour ahead', body, signedByVonage(body, SECRET, NOW + HOUR)],
    ['no hash of the body', body, signedByVonage(body, SECRET, NOW, { claims: { payload_hash: undefined } })],
    ['no time', body, signedByVonage(body, SECRET, NOW, { claims: { iat: undefined } })],
    ['another application', body, signedByVonage(body, SECRET, NOW, { claims: { application_id: MESSAGE } })],
    ['the algorithm none', body, signedByVonage(body, SECRET, NOW, { algorithm: 'none' })],
  ])('does not verify with %s', async (_, text, authorization) => {
    expect(await read(text, authorization)).toBe('unproved');
  });

  it('does not verify with an empty secret, without a secret, or for an account of another kind', async () => {
    expect(await read(body, signedByVonage(body, '', NOW), '')).toBe('unproved');
    expect(await read(body, good, null)).toBe('unproved');
    expect(await read(body, good, SECRET, { kind: 'sandbox' })).toBe('unproved');
  });
});

const reportOf = (more: object = {}, token: string | null = 'tok'): Report => {
  const reading = readVonage({ body: Buffer.from(JSON.stringify({ ...STATUS, ...more })), token });
  if (reading.kind !== 'proved' || !reading.reports.ok) throw new Error(`no report: ${reading.kind}`);
  return reading.reports.value[0] as Report;
};

describe('a status callback of Vonage', () => {
  it.each([
    ['submitted', 'note'],
    ['delivered', 'delivered'],
    ['read', 'delivered'],
    ['rejected', 'bounced'],
    ['undeliverable', 'bounced'],
    ['a status of tomorrow', 'note'],
    ['constructor', 'note'],
  ])('with the status %s is a %s', (status, verdict) => {
    expect(reportOf({ status })).toMatchObject({ source: 'vonage', verdict, token: 'tok', suppress: null });
  });

  it('has an id per message and status, and the time of Vonage', () => {
    expect(reportOf()).toMatchObject({ eventId: `${MESSAGE}:delivered`, at: Date.UTC(2026, 10, 22, 11, 59, 58) });
    expect(reportOf({ status: 'submitted' }).eventId).toBe(`${MESSAGE}:submitted`);
    expect(reportOf({ timestamp: 'soon' }).at).toBeNull();
  });

  it.each([
    ['1170', 'hard_bounce', false],
    ['1190', 'hard_bounce', false],
    ['1240', 'stop', false],
    ['1050', null, false],
    ['1180', null, false],
    ['1210', null, true],
    ['1070', null, true],
    ['1330', null, false],
    ['9999', null, false],
  ])('rejected with %s suppresses %s and alerts %s', (code, suppress, alert) => {
    for (const error of [problem(code), { title: Number(code), detail: 'why' }]) {
      expect(reportOf({ status: 'rejected', error })).toMatchObject({ verdict: 'bounced', code, suppress, alert });
    }
  });

  it('without a failure suppresses no address, whatever error it has', () => {
    for (const code of CODES.keys()) expect(reportOf({ error: problem(code) }).suppress).toBeNull();
  });

  it('keeps the text of the error in one line', () => {
    const { detail } = reportOf({ status: 'rejected', error: problem('1190', 'gone\nfor ever') });
    expect(detail).toBe('rejected: the number is not active any more: gone for ever');
  });
});

describe('an inbound message of Vonage', () => {
  const wishOf = (more: object) => {
    const reading = readVonage({ body: Buffer.from(JSON.stringify({ ...INBOUND, ...more })), token: null });
    return reading.kind === 'inbound' ? reading.wish : reading.kind;
  };

  it.each([
    ['STOP', 'stop'],
    [' stop. ', 'stop'],
    ['START', 'start'],
  ])('%j means %s', (text, wish) => {
    expect(wishOf({ text })).toEqual({ source: 'vonage', eventId: MESSAGE, address: '+4915112345678', wish });
  });

  it.each([
    ['other words', { text: 'please stop it' }],
    ['HELP, which Vonage answers', { text: 'HELP' }],
    ['no text', { text: undefined }],
    ['a short code', { from: '12345' }],
    ['another channel', { channel: 'whatsapp' }],
  ])('with %s has no effect', (_, more) => {
    expect(wishOf(more)).toBeNull();
  });
});

describe('a hostile callback of Vonage', () => {
  it.each([
    '',
    '{',
    'null',
    '[]',
    '"text"',
    '{}',
    '{"message_uuid":7}',
    '{"status":{"a":1}}',
    '{"message_uuid":["x"]}',
  ])('%s is refused with a code that the gateway knows', (body) => {
    for (const token of [null, 'tok']) {
      const reading = readVonage({ body: Buffer.from(body), token });
      if (reading.kind !== 'proved' || reading.reports.ok) throw new Error('accepted');
      expect(ERRORS[reading.reports.error.code].status).toBeGreaterThanOrEqual(400);
    }
  });

  it('with fields of other types reports no failure that it does not name', () => {
    for (const odd of [7, true, null, [], {}, { suppress: 'stop' }]) {
      expect(reportOf({ error: odd, timestamp: odd, to: odd })).toMatchObject({ verdict: 'delivered', suppress: null });
      expect(reportOf({ status: 'rejected', error: odd })).toMatchObject({ verdict: 'bounced', suppress: null });
    }
  });
});
