import type { Receipt } from '@carillon/domain/receipts';
import type { DeliveryId } from '@carillon/kernel';
import { givenReceipt } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createReceiptStage, projections } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

const STATE = { partition: 0, configNumber: -1, watermark: 0 };
const NOBODY = 'dlv_00000000000000000000000000' as DeliveryId;

/** Puts these on the log, applies them, and projects what was parked. */
async function parked(...receipts: readonly (Receipt | Uint8Array)[]) {
  const { log, codecs, readModels } = topology.ports;
  const values = receipts.map((one) => (one instanceof Uint8Array ? one : codecs.receipt.encode(one)));
  const record = { topic: 'carillon.receipts', partition: 0, key: 'k', headers: {} } as const;
  await log.append(values.map((value) => ({ ...record, value })));
  const stage = createReceiptStage({ ...topology.ports, alert: () => undefined });
  const { outputs } = await stage.handle(await log.read('carillon.receipts', 0, 0, 100), STATE);
  await log.append(outputs);
  const projection = projections(topology.ports).find(({ topic }) => topic === 'carillon.dead-letters')?.stage;
  await projection?.handle(await log.read('carillon.dead-letters', 0, 0, 100), STATE);
  return (await readModels.deadLetters({ ofReceipts: true }, 100)).items;
}

describe('a receipt (a provider’s report) that became a dead letter', () => {
  it('is listed with its contents for the owner of the account that verified it', async () => {
    const [row] = await parked(givenReceipt(NOBODY, 2, { account: 'shop/mail', verdict: 'bounced', code: '5.1.1' }));
    expect(row).toMatchObject({
      workspace: 'shop',
      reason: 'unknown_receipt: this deployment made no attempt with that account and token',
      dismissedAt: null,
      receipt: {
        source: 'twilio',
        account: 'shop/mail',
        verdict: 'bounced',
        code: '5.1.1',
        deliveryId: NOBODY,
        attempt: 2,
      },
    });
  });

  it.each([
    ['an account of the deployment', 'default:sms:main'],
    ['no account, as mail that came back', null],
  ])('is listed for the deployment if it is over %s', async (_, account) => {
    expect(await parked(givenReceipt(NOBODY, 1, { account }))).toMatchObject([{ workspace: null }]);
  });

  it('is listed with the sender’s address if it is a STOP or START', async () => {
    const inbound = { address: '+4915112345678', wish: 'stop' } as const;
    const [row] = await parked({ ...givenReceipt(NOBODY, 1, { account: 'shop/gone' }), attempt: null, inbound });
    expect(row?.receipt).toMatchObject({ wish: 'stop', address: '+4915112345678', deliveryId: null, attempt: null });
  });

  it('is listed without contents if it is unreadable', async () => {
    expect(await parked(new Uint8Array([1, 2]))).toMatchObject([{ workspace: null, receipt: null }]);
  });
});
