import type { Duration } from '@carillon/kernel';
import type { ReadinessCheck } from '@carillon/runtime';
import { createCatchUp, READ_BEFORE_SENDING, type CatchUpPorts } from '@carillon/stages';
import type { DeliveryPorts } from './ports.ts';

/** Interval of the check whether sending may begin. */
export const LOOK_AGAIN: Duration = 100;
/** Interval of the check once nothing was read for a while. */
const LOOK_SELDOM: Duration = 1_000;
const QUIET_AFTER: Duration = 10_000;
/** Time without a read record after which a person has to look. */
const STANDS_AFTER: Duration = 60_000;
const IDLE: Duration = 3_600_000;

export type StartGate = {
  readonly hasBegun: () => boolean;
  readonly check: () => ReadinessCheck;
  /** Looks once, and answers how long to wait before the next look. Rejects where log or store cannot be asked. */
  readonly look: () => Promise<Duration>;
};

/**
 * Holds back sending after the start of a delivery role until it has read all consents, suppressions and reports up to
 * then. A record that keeps failing holds back everything. This is reported after a minute, and the role is not ready
 * from then on, so that an upgrade stops before it replaces the processes that send.
 */
export async function createStartGate({
  clock,
  watch,
  ...ports
}: CatchUpPorts & {
  readonly clock: DeliveryPorts['clock'];
  readonly watch: Pick<DeliveryPorts['watch'], 'trouble'>;
}): Promise<StartGate> {
  const said = await createCatchUp('delivery', READ_BEFORE_SENDING, ports);
  let unread = await said.behind();
  let movedAt = clock.now();
  let isTold = false;
  const quietFor = (): Duration => (unread === 0 ? 0 : clock.now() - movedAt);
  const stands = (): boolean => quietFor() >= STANDS_AFTER;

  return {
    hasBegun: () => unread === 0,
    check: () => ({ name: 'sending', ok: unread === 0, detail: detail(), decides: stands() }),
    async look() {
      if (unread === 0) return IDLE;
      const left = await said.behind();
      if (left < unread) {
        movedAt = clock.now();
        isTold = false;
      }
      unread = left;
      if (unread === 0) return IDLE;
      if (stands() && !isTold) {
        isTold = true;
        watch.trouble('begin to send', new Error(`nothing is sent: ${detail()}`));
      }
      return quietFor() >= QUIET_AFTER ? LOOK_SELDOM : LOOK_AGAIN;
    },
  };

  function detail(): string {
    if (unread === 0) return 'has begun';
    if (stands()) {
      const since = `for ${Math.floor(quietFor() / 1000)} s no record was read`;
      return `${unread} records of ${said.places().join(', ')} must be read first, and ${since}: see the log for the reason`;
    }
    return `begins when ${unread} records of ${READ_BEFORE_SENDING.join(' and ')} are read: the store may not know them`;
  }
}
