import type { ControlPorts } from '../ports.ts';

const BATCH_SIZE = 500;

/** Forgets answers whose time is over. */
export async function forgetAnswers({
  keptAnswers,
  clock,
}: Pick<ControlPorts, 'keptAnswers' | 'clock'>): Promise<void> {
  const now = clock.now();
  while ((await keptAnswers.removeEnded(now, BATCH_SIZE)) === BATCH_SIZE);
}
