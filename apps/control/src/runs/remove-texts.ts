import { hasEnded } from '@carillon/domain/jobs';
import type { RunId } from '@carillon/kernel';
import type { ControlPorts } from '../ports.ts';
import { isStarting } from './show-run.ts';

/** Texts that are read at once. There is one for each search that has not ended. */
const PAGE_SIZE = 100;

type TextPorts = Pick<ControlPorts, 'clock' | 'jobs' | 'runs'>;

/** Removes the encrypted texts of ended runs. Their keyed hash stays in the run. */
export async function removeTexts(ports: TextPorts): Promise<void> {
  let cursor: string | undefined;
  do {
    const { items, next } = await ports.runs.texts(PAGE_SIZE, cursor);
    for (const id of items) if (await isOver(id, ports)) await ports.runs.removeText(id);
    cursor = next ?? undefined;
  } while (cursor !== undefined);
}

async function isOver(id: RunId, { clock, jobs, runs }: TextPorts): Promise<boolean> {
  const run = await runs.get(id);
  const job = run && (await jobs.get(run.job));
  if (!run) return true;
  return job ? hasEnded(job) : !isStarting(run, clock.now());
}
