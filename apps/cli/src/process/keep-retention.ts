import { namedRetention } from '@carillon/domain/configuration';
import { startLoop } from '@carillon/runtime';
import type { Closing, Foundation } from './foundation.ts';

type RetentionFoundation = Pick<Foundation, 'clock'> & {
  readonly backend: Pick<Foundation['backend'], 'applyRetention'> & {
    readonly leases: Pick<Foundation['backend']['leases'], 'acquire'>;
  };
  readonly ids: Pick<Foundation['ids'], 'random'>;
  readonly configuration: Pick<Foundation['configuration'], 'current'>;
  readonly watches: Pick<Foundation['watches'], 'trouble'>;
};

const CHECK_INTERVAL_MS = 60_000;
const APPLY_INTERVAL_MS = 3_600_000;

/**
 * Applies retention once an hour, and within a minute of a change of `retention` or of a failed pass. The holder of the lease does it
 * for all control processes. Two processes that do it at once do no harm.
 */
export function keepRetention(
  { backend, clock, ids, configuration, watches }: RetentionFoundation,
  closing: Pick<Closing, 'add'>,
): void {
  const holder = ids.random('request');
  let applied = { at: Number.NEGATIVE_INFINITY, named: '' };
  const loop = startLoop(
    CHECK_INTERVAL_MS,
    async () => {
      const now = clock.now();
      const retention = namedRetention(configuration.current());
      const named = JSON.stringify(retention);
      if (now - applied.at < APPLY_INTERVAL_MS && named === applied.named) return;
      if (!(await backend.leases.acquire('retention', holder, now, now + APPLY_INTERVAL_MS / 2))) return;
      await backend.applyRetention(now, retention);
      applied = { at: now, named };
    },
    (error) => watches.trouble('apply retention', error),
  );
  closing.add(() => loop.stop());
}
