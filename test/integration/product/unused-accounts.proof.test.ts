import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openShop, shopFiles } from './shop.ts';

/*
 * The libraries of vendors are loaded when something first goes over an account of theirs. Until then such accounts cost next
 * to nothing: twilio and google-auth-library alone would be some 50 MB.
 */

const ROUNDS = 3;
const LOOKS = 20;
const EVERY = 250;
const MOST = 1.05;

const WITH_ALL = `backend: embedded
accounts:
  sms:
    - { name: main, kind: twilio, account_sid: AC${'0'.repeat(32)}, auth_token: { secret: TWILIO_TOKEN }, from: "+4915100000000" }
    - { name: spare, kind: twilio, account_sid: AC${'1'.repeat(32)}, auth_token: { secret: TWILIO_TOKEN }, from: "+4915100000000" }
  push: { kind: fcm, credentials: { secret: FCM_KEY_FILE } }
`;

const memoryOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** The least that a product holds which has these accounts and nothing to do, MiB. */
async function idle(deployment: string): Promise<number> {
  const shop = await openShop({ files: shopFiles({ deployment }), env: { TWILIO_TOKEN: 'token', FCM_KEY_FILE: '{}' } });
  try {
    const seen: number[] = [];
    for (let at = 0; at < LOOKS; at += 1) {
      await sleep(EVERY);
      seen.push(memoryOf(shop.product.pid));
    }
    return Math.min(...seen);
  } finally {
    await shop.close();
  }
}

it('Unused accounts of two vendors add less than a twentieth to the memory of the product', async () => {
  const withAll: number[] = [];
  const without: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    withAll.push(await idle(WITH_ALL));
    without.push(await idle('backend: embedded\n'));
  }
  console.log('MiB with accounts of Twilio and Firebase, and without:', withAll, without);
  expect(Math.min(...withAll) / Math.min(...without)).toBeLessThan(MOST);
}, 600_000);
