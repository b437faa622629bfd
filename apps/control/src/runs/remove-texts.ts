import { hasEnded } from '@carillon/domain/jobs';
import type { ControlPorts } from '../ports.ts';
import { isStarting } from './show-run.ts';

/** Texts that are looked at in a round. There is one for each search that has not ended. */
const BATCH_SIZE = 100;

/** Removes the sealed texts of runs that have ended, whatever ended them. Their keyed hash stays in the run. */
export async function removeTexts({ clock, jobs, runs }: Pick<ControlPorts, 'clock' | 'jobs' | 'runs'>): Promise<void> {
  for (const id of await runs.texts(BATCH_SIZE)) {
    const run = await runs.get(id);
    const job = run && (await jobs.get(run.job));
    if (run && (job ? !hasEnded(job) : isStarting(run, clock.now()))) continue;
    await runs.removeText(id);
  }
}
