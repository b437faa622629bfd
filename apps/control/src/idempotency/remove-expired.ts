import type { ControlPorts } from '../ports.ts';

const BATCH_SIZE = 500;

/** Forgets answers whose time is over. */
export async function forgetAnswers({
  idempotency,
  clock,
}: Pick<ControlPorts, 'idempotency' | 'clock'>): Promise<void> {
  const now = clock.now();
  while ((await idempotency.removeEnded(now, BATCH_SIZE)) === BATCH_SIZE);
}
