import type { JobWork } from '@carillon/domain/jobs';
import { z } from 'zod';
import { carryOut } from '../../erasures/carry-out.ts';
import { failureOf, isTransient, jobKind } from '../kind.ts';

const ACTION = 'erase_person';

/** Returns the work of the job that carries out an erasure. */
export const workOfErasure = (erasure: string): JobWork => ({ action: ACTION, erasure });

/**
 * Erases a person. Its one item is the erasure. It shares the lane of runs, so that no child process reads the log or has a scratch file
 * meanwhile.
 */
export const erasePerson = jobKind({
  action: ACTION,
  permission: 'people',
  audit: 'erasure.end',
  parameters: z.object({ erasure: z.string().describe('The erasure (`era_…`)') }),
  lane: 'child',
  do: (_job, ports) => async (items, stop) => {
    const results = [];
    for (const item of items) {
      try {
        await carryOut(item, ports, stop);
        results.push(null);
      } catch (error) {
        if (stop.aborted || isTransient(error)) throw error;
        results.push(failureOf(item, error, ports.watch));
      }
    }
    return results;
  },
});
