import { openEmbedded } from '@carillon/adapter-embedded';
import { openMongo } from '@carillon/adapter-mongodb';
import { createIds, systemClock } from '@carillon/adapter-system';
import { createRecordCodecs } from '@carillon/contracts';
import { beginAttempt, providerResult, settleAttempt, type Delivery } from '@carillon/domain/deliveries';
import { applyReceipt, attemptTag, type Receipt } from '@carillon/domain/receipts';
import type { AttemptId, DeliveryId } from '@carillon/kernel';
import type { BackendStores, LogRecord } from '@carillon/ports';
import { createReceiptStage } from '@carillon/stages';
import { deliveryOf } from '@carillon/testing';
import { PLAIN_SETTINGS } from '@carillon/testing/given';
import { createDirectWire, createMemoryLog } from '@carillon/testing/memory';
import { startMongoDb } from '@carillon/testing/services';
import { canStart } from '@carillon/testing/services/needs';
import type { LogId } from '@carillon/kernel';
import { CannotRun, type Bench, type BenchCase, type OpenSide, type Side } from '../harness/bench.ts';
import { callbackCase } from '../http/callbacks.ts';
import { shared } from '../started-once.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** What the delivery role is handed at once of a partition. */
const BATCH = 500;
const ids = createIds(new Uint8Array(32));
const LOG_ID = 'log_0000000000000000000000000A' as LogId;

type Fixture = Pick<BackendStores, 'ledger' | 'suppressions'>;
type Applied = (receipts: readonly Receipt[]) => Promise<void>;

/** A delivery that a provider has taken; what became of it nobody has said yet. */
function sent(number: number): Delivery {
  const now = Date.now();
  const moment = { now, derive: ids.derive };
  const waiting = deliveryOf({
    id: ids.derive('delivery', String(number), String(now)) as DeliveryId,
    slot: { uniqueId: `order-${number}` },
    notAfter: now + 86_400_000,
    createdAt: now,
    updatedAt: now,
    nextAt: now,
  });
  const attemptId = ids.random('attempt') as AttemptId;
  const begun = beginAttempt(waiting, { attemptId, token: 't', account: 'main', leaseUntil: now + 30_000 }, moment);
  if (!begun) throw new Error('the delivery cannot be sent');
  const result = providerResult('accepted', '250', 'ok');
  const settling = { token: 't', result, settings: PLAIN_SETTINGS, chance: 0, anotherAccount: false };
  return { ...settleAttempt(begun, settling, moment), version: 1, unpublished: [] };
}

function delivered({ id, attempts: [attempt] }: Delivery): Receipt {
  if (!attempt) throw new Error('nothing was sent');
  return {
    id: ids.derive('receipt', id),
    source: 'twilio',
    account: attempt.account,
    attempt: { deliveryId: id, attempt: 1, tag: attemptTag(attempt.id) },
    verdict: 'delivered',
    suppress: null,
    alert: false,
    code: '',
    detail: 'delivered',
    at: null,
    receivedAt: Date.now(),
    inbound: null,
  };
}

/** Only applying counts: the deliveries of each batch are there before. */
function applying({ ledger }: Fixture, apply: Applied): Pick<OpenSide, 'round' | 'verify'> {
  let made = 0;
  return {
    async round({ seconds }) {
      let took = 0;
      let done = 0;
      while (took < seconds) {
        const deliveries = Array.from({ length: BATCH }, () => sent((made += 1)));
        await ledger.insert(deliveries);
        const receipts = deliveries.map(delivered);
        const begun = performance.now();
        await apply(receipts);
        took += (performance.now() - begun) / 1000;
        done += BATCH;
      }
      return { done, seconds: took };
    },
    async verify() {
      const { DELIVERED = 0 } = await ledger.countByState();
      return DELIVERED === made ? [] : [`${made} deliveries were reported, ${DELIVERED} have moved`];
    },
  };
}

/** As the delivery role does, outcomes on a log in memory included. */
async function asTheRole(fixture: Fixture): Promise<Applied> {
  let schemas = 0;
  const registry = { register: async () => (schemas += 1), schema: async () => null };
  const codecs = await createRecordCodecs(registry, systemClock.now);
  const log = createMemoryLog({ logId: LOG_ID, partitions: 1, now: systemClock.now }).connect(createDirectWire());
  const configuration = {
    current: (): never => {
      throw new Error('nobody wrote to a number');
    },
  };
  const stage = createReceiptStage({
    ...fixture,
    log,
    codecs,
    configuration,
    claims: { get: async () => null, claim: async () => [] },
    ids,
    clock: systemClock,
    alert: () => undefined,
  });
  let offset = 0;
  const recordOf = (receipt: Receipt): LogRecord => ({
    topic: 'carillon.receipts',
    partition: 0,
    key: receipt.id,
    value: codecs.receipt.encode(receipt),
    headers: {},
    offset: (offset += 1),
    time: receipt.receivedAt,
  });
  return async (receipts) => {
    await stage.handle(receipts.map(recordOf), { partition: 0, configNumber: -1, watermark: 0 });
  };
}

/** What somebody would write first: read, decide, compare-and-set, then the next. It tells nobody of what moved. */
const sequentially =
  ({ ledger }: Fixture): Applied =>
  async (receipts) => {
    for (const receipt of receipts) {
      const seen = receipt.attempt && (await ledger.get(receipt.attempt.deliveryId));
      const judged = seen && applyReceipt(seen, receipt, { now: Date.now(), derive: ids.derive });
      if (judged?.kind === 'applied') await ledger.replace(judged.next);
    }
  };

const OURS = 'carillon';
const THEIRS = 'sequential compare-and-sets';

const embedded = (name: string, applied: (fixture: Fixture) => Applied | Promise<Applied>): Side => ({
  name,
  syncs: 'each commit of the writer, which takes all that waits (WAL, synchronous = FULL)',
  async open() {
    const folder = await temporaryFolder();
    const data = await openEmbedded({ dataDir: folder.path, clock: systemClock });
    return {
      ...applying(data, await applied(data)),
      async close() {
        await data.close();
        await folder.remove();
      },
    };
  },
});

/** One server for all sides of the case. */
const server = shared(
  async () => {
    if (!canStart('mongodb')) throw new CannotRun('FerretDB is not fetched: npm run services -- fetch');
    return startMongoDb();
  },
  (started) => started.stop(),
);

const mongo = (name: string, applied: (fixture: Fixture) => Applied | Promise<Applied>): Side => ({
  name,
  syncs: "asks for majority and journal with each write; FerretDB's PostgreSQL runs with fsync off",
  async open() {
    const { url } = await server.take();
    const database = `bench-receipts-${name === OURS ? 'ours' : 'sequential'}`;
    const stores = await openMongo({ url, database, clock: systemClock });
    return {
      ...applying(stores, await applied(stores)),
      async close() {
        await stores.close();
        await server.release();
      },
    };
  },
});

const backend = (title: string, side: typeof embedded): BenchCase => ({
  title,
  counted: 'receipts',
  sides: [side(OURS, asTheRole), side(THEIRS, sequentially)],
  comparisons: [{ side: OURS, to: THEIRS, measure: 'rate', wanted: 'at least', floor: 5, goal: 10 }],
});

export const receipts: Bench = {
  name: 'receipts',
  title: 'Receipts of providers',
  what: `Batches of ${BATCH} receipts, each of another delivery that was sent, which it moves to DELIVERED: by the stage of the delivery role, which decodes them,
tells what moved on a log in memory and takes that out of the delivery again, and by a program that reads and replaces one delivery after the other and
tells nobody. Making the deliveries is not counted. At the end each of them has moved.

Callbacks over HTTP: signed statuses of Twilio are posted to a gateway on one broker of Kafka. In turns with them the same gateway takes events of 732 bytes. Afterwards
each acknowledged report and event must be on the log exactly once.`,
  cases: [backend('embedded', embedded), backend('the protocol of MongoDB', mongo), callbackCase],
};
