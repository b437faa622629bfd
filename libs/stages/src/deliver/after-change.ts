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

export type AfterChangePorts = SweepPorts & {
  readonly checkpoints: CheckpointStore;
  /** Ends when the process is to stop: what was not looked through by then is looked through after the next start. */
  readonly stopping: AbortSignal;
};

/** Under this name the number of the configuration stands by which what waits was last looked through. */
const GROUP = 'waiting';
const TOPIC = 'carillon.config';
const PAGE = 200;
const CONCURRENCY = 16;

/**
 * Looks through what waits, once for each new configuration and only where that concerns it: what nothing sends any more ends,
 * and what is held by quiet hours or limits that changed is looked at again. Without this each would stand until its next
 * attempt is due. The stores remember the number, so that a start looks through what changed since and nothing else; where
 * they know none (the first start of this version, a move to a cluster), all that waits is looked through. Any number of
 * processes may do it at once. Answers how many messages it moved.
 */
export function createAfterChange(ports: AfterChangePorts): () => Promise<number> {
  const { checkpoints, log, configuration } = ports;
  /** Undefined: not asked for yet; -1: nobody knows. */
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

async function rememberedNumber({ checkpoints, log }: AfterChangePorts): Promise<number> {
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

const pagesOf = (concern: WaitingConcern, { ledger }: AfterChangePorts): Pages => {
  const { workspace, notificationId } = concern;
  const of = { workspace, ...(notificationId !== null && { notificationId }) };
  return paged((cursor) => ledger.waiting(of, PAGE, cursor), concern);
};

const pagesOfAll = ({ ledger }: AfterChangePorts): Pages =>
  paged((cursor) => ledger.list({ states: ['WAITING'] }, PAGE, cursor), CONCERNS_ALL);

async function movePage(page: readonly Delivery[], concern: ChangedFor, ports: AfterChangePorts): Promise<number> {
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
