import { readFileSync } from 'node:fs';
import type { Delivery, Outcome } from '@carillon/domain/deliveries';
import { deliveryOf, outcomeOf } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbedded, type Embedded } from '../src/index.ts';
import { temporaryFolder, wallClock } from './open-embedded.ts';

let folder = temporaryFolder();
let embedded: Embedded;
beforeEach(async () => {
  folder = temporaryFolder();
  embedded = await openEmbedded({ dataDir: folder.path, clock: wallClock });
});
afterEach(async () => {
  await embedded.close();
  folder.remove();
});

/** As a bench has them: an event of some 700 bytes is what its template may name. */
const variables = { text: 'x'.repeat(700) };
const BATCH_SIZE = 10;
const MESSAGES = 2000;

const recordOf = (outcome: Outcome, at: number) => ({
  topic: 'carillon.outcomes' as const,
  partition: at % 8,
  key: 'k',
  value: new TextEncoder().encode(JSON.stringify(outcome)),
  headers: {},
});

/** A message from custody to the end that its sender writes down, as the delivery stage goes about it. */
async function send(at: number): Promise<void> {
  const first = deliveryOf({
    intent: { variables, to: `p${at * 7919}@example.com`, person: `p${at * 7919}@example.com` },
  });
  await embedded.ledger.insert([first]);
  const sending: Delivery = { ...first, version: 2, state: 'SENDING', token: 't', nextAt: null, leaseUntil: 130 };
  await embedded.ledger.replace(sending);
  const sent: Delivery = { ...sending, version: 3, state: 'SENT', leaseUntil: null, unpublished: [outcomeOf(first)] };
  const answer = await embedded.ledger.replace(sent, {
    telling: () => sent.unpublished.map((one) => recordOf(one, at)),
  });
  expect(answer).toBe('told');
}

/** Bytes that this process has handed to the system to write; null where that is not told. */
function bytesWritten(): number | null {
  try {
    return Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'latin1'))?.[1]);
  } catch {
    return null;
  }
}

describe('sending a message from a data folder', () => {
  it('takes three writes to the ledger, and less than 64 KB on disk', async ({ skip }) => {
    const before = { requests: embedded.stats().requests, bytes: bytesWritten() };
    for (let at = 0; at < MESSAGES; at += BATCH_SIZE)
      await Promise.all(Array.from({ length: BATCH_SIZE }, (_, n) => send(at + n)));
    expect(embedded.stats().requests - before.requests).toBe(3 * MESSAGES);
    const bytes = bytesWritten();
    if (bytes === null || before.bytes === null) skip('the system does not tell what this process writes');
    else expect((bytes - before.bytes) / 1024 / MESSAGES).toBeLessThan(64);
  });
});
