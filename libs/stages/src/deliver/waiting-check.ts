import {
  afterChange,
  CONCERNS_ALL,
  waitingConcernedBy,
  type ChangedFor,
  type Delivery,
  type WaitingConcern,
} from '@carillon/domain/deliveries';
import type { CheckpointStore, DeliveryPage } from '@carillon/ports';
import { forEachConcurrently } from '../for-each-concurrently.ts';
import type { SweepPorts } from './sweep.ts';
import { publishTogether, transitionAndPublish } from './transition.ts';

export type WaitingCheckPorts = SweepPorts & {
  readonly checkpoints: CheckpointStore;
  /** Aborts when the process stops. The next start continues with the messages that were not checked. */
  readonly stopping: AbortSignal;
};

/** Consumer group under which the number of the last checked configuration is stored. */
const GROUP = 'waiting';
const TOPIC = 'carillon.config';
const PAGE = 200;
const CONCURRENCY = 16;

/**
 * Checks waiting messages once per new configuration, but only those the change concerns. A message that nothing sends
 * any more ends; a message held by changed quiet hours or limits is checked again. Without this, it would stay until
 * its next attempt is due. The stores keep the number of the last checked configuration, so a start checks only later
 * changes. Without a stored number, after an upgrade or a move to a cluster, it checks all waiting messages. Several
 * processes may run this concurrently. Returns the number of moved messages.
 */
export function createWaitingCheck(ports: WaitingCheckPorts): () => Promise<number> {
  const { checkpoints, log, configuration } = ports;
  /** Number of the last checked configuration. Undefined until it is read; -1 if none is stored. */
  let lookedBy: number | undefined;

  return async () => {
    lookedBy ??= await rememberedNumber(ports);
    const newest = configuration.current();
    if (newest.number <= lookedBy) return 0;
    const concerns = lookedBy < 0 ? null : waitingConcernedBy(await configuration.at(lookedBy), newest);
    let moved = 0;
    for (const pages of concerns === null ? [pagesOfAll(ports)] : concerns.map((one) => pagesOf(one, ports))) {
      for await (const [page, concern] of pages) {
        if (ports.stopping.aborted) return moved;
        moved += await movePage(page, concern, ports);
      }
    }
    lookedBy = newest.number;
    await checkpoints.save({
      group: GROUP,
      topic: TOPIC,
      partition: 0,
      logId: log.logId,
      next: newest.number + 1,
      watermark: 0,
      configNumber: newest.number,
    });
    return moved;
  };
}

async function rememberedNumber({ checkpoints, log }: WaitingCheckPorts): Promise<number> {
  const stored = await checkpoints.load(GROUP, TOPIC, 0);
  return stored?.logId === log.logId ? stored.configNumber : -1;
}

type Pages = AsyncGenerator<readonly [page: readonly Delivery[], concern: ChangedFor]>;

async function* paged(read: (cursor?: string) => Promise<DeliveryPage>, concern: ChangedFor): Pages {
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    yield [page.items, concern];
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}

const pagesOf = (concern: WaitingConcern, { ledger }: WaitingCheckPorts): Pages => {
  const { workspace, notificationId } = concern;
  const of = { workspace, ...(notificationId !== null && { notificationId }) };
  return paged((cursor) => ledger.waiting(of, PAGE, cursor), concern);
};

const pagesOfAll = ({ ledger }: WaitingCheckPorts): Pages =>
  paged((cursor) => ledger.list({ states: ['WAITING'] }, PAGE, cursor), CONCERNS_ALL);

async function movePage(page: readonly Delivery[], concern: ChangedFor, ports: WaitingCheckPorts): Promise<number> {
  const { clock, ids } = ports;
  const newest = ports.configuration.current();
  let moved = 0;
  await publishTogether(ports, (batch) =>
    forEachConcurrently(page, CONCURRENCY, async (delivery) => {
      const next = afterChange(delivery, newest, concern, { now: clock.now(), derive: ids.derive });
      if (next && (await transitionAndPublish(next, ports, { batch }))) moved += 1;
    }),
  );
  return moved;
}
