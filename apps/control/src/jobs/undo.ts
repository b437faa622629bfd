import { nextItem, type Job } from '@carillon/domain/jobs';
import type { ControlPorts } from '../ports.ts';
import { BATCH_SIZE } from './runner.ts';

/** Returns the items of an ended job that its undo takes back. A runner that died may have done a batch that nobody counted. */
export async function itemsToUndo(job: Job, { jobs }: Pick<ControlPorts, 'jobs'>): Promise<readonly string[]> {
  return (await jobs.items(job.id)).slice(0, nextItem(job) + BATCH_SIZE);
}
