import { MAX_COHORT_PAGES, type CohortRef } from '@carillon/domain/cohorts';
import type { PolledIntegration } from '@carillon/domain/configuration';
import type { Duration, EventId } from '@carillon/kernel';
import type { CohortPageAnswer, CohortPages, EventLog, Ids, RecordCodecs } from '@carillon/ports';
import { cohortMessages, cohortRecord } from '@carillon/stages';

export type PollPorts = {
  readonly cohortPages: CohortPages;
  readonly log: Pick<EventLog, 'append' | 'partitions'>;
  readonly codecs: Pick<RecordCodecs, 'cohort'>;
  readonly ids: Ids;
  /** Persons came without a usable user id. */
  readonly skipped: (ref: CohortRef, count: number) => void;
};

export type Poll = {
  readonly ref: CohortRef;
  readonly integration: PolledIntegration;
  /** The key to try first, then the other one where there are two. */
  readonly keys: readonly string[];
  readonly signal: AbortSignal;
  /** Asked before each page; false: another process does it now. */
  readonly mayGoOn: () => Promise<boolean>;
};

/** `given_up`: the poll ended without result or error. The next process to poll starts from the beginning. */
export type Polled =
  | { readonly kind: 'done' }
  | { readonly kind: 'given_up' }
  | { readonly kind: 'refused'; readonly detail: string }
  | { readonly kind: 'unavailable'; readonly detail: string; readonly retryAfter: Duration | null };

/**
 * Reads a cohort page by page and appends it to the log as one replacement, which its last page completes. Only one
 * page is in memory. A poll that ends early leaves an incomplete session, which removes no member.
 */
export async function pollCohort({ ref, integration, keys, signal, mayGoOn }: Poll, ports: PollPorts): Promise<Polled> {
  const { ids, log } = ports;
  const session = ids.random('event');
  const left = [...keys];
  let cursor: string | null = null;
  let named = 0;
  let unnamed = 0;
  for (let number = 1; number <= MAX_COHORT_PAGES; number += 1) {
    if (signal.aborted || !(await mayGoOn())) return { kind: 'given_up' };
    const answer: CohortPageAnswer = await ask(cursor);
    if (answer.kind !== 'page') return answer;
    const { userIds, skipped, next } = answer;
    named += userIds.length;
    unnamed += skipped;
    if (skipped > 0) ports.skipped(ref, skipped);
    const page = { number, of: next === null ? number : null };
    const change = {
      cohort: ref.cohort,
      name: null,
      action: 'replace',
      session,
      page,
      userIds,
      skipped,
      time: null,
    } as const;
    const source = { ...ref, id: ids.random('event') as EventId, firstSync: 0 };
    const messages = cohortMessages([change], source, ids);
    await log.append(messages.map((message) => cohortRecord(message, null, ports)));
    if (next === null) return named === 0 && unnamed > 0 ? nobodyNamed(integration) : { kind: 'done' };
    if (next === cursor) return { kind: 'refused', detail: 'the next page is the same page again' };
    cursor = next;
  }
  return { kind: 'refused', detail: `the cohort has more than ${MAX_COHORT_PAGES} pages` };

  /** With the next key where one is refused. */
  async function ask(from: string | null): Promise<CohortPageAnswer> {
    for (;;) {
      const [key = ''] = left;
      const answer = await ports.cohortPages.page({ integration, key, cohort: ref.cohort, cursor: from, signal });
      if (answer.kind !== 'refused' || left.length <= 1) return answer;
      left.shift();
    }
  }
}

/** All of it is on the log, and nothing follows from it: an operator should look. */
const nobodyNamed = ({ user_id: field }: PolledIntegration): Polled => ({
  kind: 'refused',
  detail: `no person has a user id at ${field ?? 'distinct_ids'}: look at user_id of the integration`,
});
