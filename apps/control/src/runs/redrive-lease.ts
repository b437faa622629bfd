import { CarillonError, type Duration } from '@carillon/kernel';
import { pause } from '@carillon/runtime';
import type { ControlPorts } from '../ports.ts';

export type RedriveLeasePorts = Pick<ControlPorts, 'clock' | 'ids' | 'leases'>;

const LEASE: Duration = 60_000;
const POLL: Duration = 50;
const MAX_POLLS = 200;

/** Name of the lease that a redrive holds from its check of sending jobs until its record is on the log. */
export const redriveLease = (workspace: string): string => `redrive ${workspace}`;

/**
 * Does work while no redrive of the workspace is between its check and its append. A sending job takes the lease once when it begins: it was
 * stored before, so a later redrive sees it, and the record of an earlier one is on the log. Rejects with a transient error if others hold
 * the lease too long.
 */
export async function withRedriveLease<Value>(
  workspace: string,
  stop: AbortSignal,
  { clock, ids, leases }: RedriveLeasePorts,
  work: () => Promise<Value>,
): Promise<Value> {
  const [name, holder] = [redriveLease(workspace), ids.random('request')];
  for (let polls = 0; !(await leases.acquire(name, holder, clock.now(), clock.now() + LEASE)); polls += 1) {
    if (stop.aborted || polls === MAX_POLLS) {
      const why = 'another redrive of the workspace has not ended, or its process was killed';
      throw new CarillonError('store_unavailable', `${why}: try again in a minute`);
    }
    await pause(POLL, stop);
  }
  try {
    return await work();
  } finally {
    await leases.release(name, holder);
  }
}
