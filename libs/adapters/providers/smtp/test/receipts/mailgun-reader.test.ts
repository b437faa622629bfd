import type { AccountOf } from '@carillon/domain/configuration';
import { createDirectWire, createMemoryLeases } from '@carillon/testing/memory';
import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { createMailReceiptReader } from '../../src/receipts/index.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const DAY = 86_400_000;
const http = { request: () => Promise.reject(new Error('nothing is fetched')) };

let now = NOW;
let leases = createMemoryLeases().connect(createDirectWire());
beforeEach(() => {
  now = NOW;
  leases = createMemoryLeases().connect(createDirectWire());
});

const account = (receipts: NonNullable<AccountOf<'smtp'>['receipts']>): AccountOf<'smtp'> => ({
  kind: 'smtp',
  host: 'mx.example.com',
  port: 587,
  from: 'shop@example.com',
  receipts,
});
/** As one gateway process reads it, over the store that all of them share. */
const gateway = () => {
  const readers = createMailReceiptReader({ http, clock: { now: () => now }, leases });
  return async (body: Uint8Array, key = 'shop/mail') => {
    const callback = { account: key, url: null, token: null, headers: {}, body };
    const sender = account({ kind: 'mailgun', signing_key: { secret: 'KEY' } });
    return (await readers.read(callback, sender, 'signing')).kind;
  };
};
function report(id: string, token = 'once'): Uint8Array {
  const timestamp = String(NOW / 1000);
  const signature = createHmac('sha256', 'signing')
    .update(timestamp + token)
    .digest('hex');
  const event = { id, event: 'delivered' };
  return Buffer.from(JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': event }));
}

describe('A proof of Mailgun', () => {
  it('is valid for its own body in every process, also if Mailgun repeats it', async () => {
    const [one, another] = [gateway(), gateway()];
    expect(await one(report('e1'))).toBe('proved');
    expect(await another(report('e1'))).toBe('proved');
    expect(await one(report('e2', 'other'))).toBe('proved');
  });

  it('is valid for no other body in any process, through its maximum age', async () => {
    const [one, another] = [gateway(), gateway()];
    await one(report('e1'));
    expect(await another(report('e2'))).toBe('unproved');
    expect(await one(report('e2'))).toBe('unproved');
    now = NOW + DAY - 1000;
    expect(await another(report('e2'))).toBe('unproved');
    now = NOW + DAY + 1000;
    expect(await another(report('e2'))).toBe('unproved');
  });

  it('sent with two bodies at once is valid for one of them', async () => {
    const read = await Promise.all(['e1', 'e2', 'e3'].map((id) => gateway()(report(id))));
    expect(read.toSorted()).toEqual(['proved', 'unproved', 'unproved']);
  });

  it('is valid once for each account, because accounts may share a key', async () => {
    const read = gateway();
    await read(report('e1'));
    expect(await read(report('e2'), 'acme/mail')).toBe('proved');
    expect(await read(report('e3'), 'acme/mail')).toBe('unproved');
  });
});
