import type { Job } from '@carillon/domain/jobs';
import type { JobId } from '@carillon/kernel';
import type { ControlPorts } from '../ports.ts';

/** Action of the jobs that send missing messages. */
export const SEND_MISSING = 'send_missing';

/** Jobs read per page of the search for sending jobs. */
const PAGE_SIZE = 100;

/** Returns the jobs of a workspace that have sent or are sending missing messages, newest first. */
export async function sendingJobs(workspace: string, { jobs }: Pick<ControlPorts, 'jobs'>): Promise<readonly Job[]> {
  const found: Job[] = [];
  let cursor: string | undefined;
  do {
    const page = await jobs.list({ workspace, actions: [SEND_MISSING] }, PAGE_SIZE, cursor);
    found.push(...page.items.filter(({ work }) => work['undoes'] === undefined));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return found;
}

/** Returns true if a sending job may have asked a partner. A job of an earlier release does not say whether it has. */
export const mayHaveAsked = ({ work }: Job): boolean => work['questions'] !== '0';

/** Returns the sending jobs of a workspace that may have asked a partner. */
export async function askingJobs(workspace: string, ports: Pick<ControlPorts, 'jobs'>): Promise<readonly JobId[]> {
  return (await sendingJobs(workspace, ports)).filter(mayHaveAsked).map(({ id }) => id);
}
