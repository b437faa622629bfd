import { cancelled, givenBack, hasEnded, SYSTEM_ACTOR, type Job } from '@carillon/domain';
import { parseJson, type Instant } from '@carillon/kernel';
import type { Statements } from '../statements.ts';

/**
 * Ends the long actions that were under way when the backup was made: how far they came afterwards is not in it, and going on from there
 * could tell people again.
 */
export function endJobs(sql: Statements, now: Instant): void {
  for (const row of sql.all('SELECT document FROM jobs WHERE ended_at IS NULL')) {
    const job = parseJson(String(row['document'])) as unknown as Job;
    const left = { ...givenBack(job, now), cancelledBy: null };
    const ended = cancelled(left, SYSTEM_ACTOR, now);
    if (!ended || !hasEnded(ended)) continue;
    const { state, version, endedAt } = ended;
    const write = 'UPDATE jobs SET state = ?, version = ?, ended_at = ?, document = ? WHERE id = ?';
    sql.run(write, state, version, endedAt, JSON.stringify(ended), job.id);
  }
}
