import { lookupTimeouts, partnerTitle, type Partner } from '@carillon/domain/lookups';
import { createByteBudget } from '@carillon/kernel';
import type { Clock, Ids, PartnerAnswer, PartnerLookup } from '@carillon/ports';
import { settleCall, type AskTask, type VerdictPorts } from '@carillon/stages';
import type { AskWatch } from './watch.ts';
import type { OpenPartner, Partners } from './partners.ts';
import { idsOfCall } from './shared-calls.ts';

type CallsPorts = {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly lookup: PartnerLookup;
  readonly partners: Partners;
  readonly verdicts: VerdictPorts;
  readonly watch: Pick<AskWatch, 'call' | 'trouble'>;
  /** Aborts calls that are still open at the end of a stop. */
  readonly givingUp: AbortSignal;
};

/** Bytes of answers being read. Each partner has a share. */
const ANSWER_BYTES = 64 * 1024 * 1024;

/** Calls partners for triggers with held leases, and stores the results. */
export function createCalls({ clock, ids, lookup, partners, verdicts, watch, givingUp }: CallsPorts) {
  const answers = createByteBudget(ANSWER_BYTES, { shared: true });

  /** Makes one call, or a second one if the first key is refused and there is another. */
  async function callWithKeys(
    partner: Partner,
    shared: readonly AskTask[],
    opened: OpenPartner,
    requestId: string,
    room: (bytes: number) => boolean,
  ): Promise<PartnerAnswer> {
    const { integration, keys, secrets } = opened;
    const [first, ...others] = shared.map(({ asking }) => asking.trigger);
    const userIds = idsOfCall(shared);
    const leasedUntil = Math.min(...shared.map(({ task }) => task.leaseUntil ?? 0));
    const beginUntil = leasedUntil - lookupTimeouts(integration).total;
    let answer: PartnerAnswer = { kind: 'not_made', detail: '' };
    for (const [index, key] of keys.entries()) {
      const startedAt = clock.now();
      if (startedAt > beginUntil) {
        // The call waited too long or the process stalled: before the call would end, another worker may call too.
        answer = { kind: 'not_made', detail: '' };
        partners.ended(partner, answer, { tried: [], sharedBy: shared.length });
        return answer;
      }
      const ended = watch.call({
        partner: partnerTitle(partner),
        workspace: partner.workspace,
        triggers: shared.length,
        eventId: first?.eventId ?? null,
        triggerId: first?.id ?? null,
        traceparent: first?.traceparent ?? null,
        linked: others.map((trigger) => trigger?.traceparent ?? null),
      });
      answer = await lookup.ask({
        integration,
        key: key.value,
        secrets,
        userIds,
        requestId,
        beginUntil,
        signal: givingUp,
        room,
      });
      const status = 'status' in answer ? answer.status : null;
      ended({ outcome: answer.kind, status, seconds: (clock.now() - startedAt) / 1000 });
      if (answer.kind !== 'unauthorized' || index === keys.length - 1) {
        const tried = keys.slice(0, index + 1).map(({ name }) => name);
        partners.ended(partner, answer, { tried, sharedBy: shared.length });
        return answer;
      }
    }
    return answer;
  }

  return {
    /**
     * Makes one call for these triggers. `called` runs when the partner is free again. Returns the triggers that still
     * wait. Never rejects because of the partner.
     */
    async ask(partner: Partner, shared: readonly AskTask[], called: () => void): Promise<readonly AskTask[]> {
      const room = answers.open(partnerTitle(partner));
      try {
        const callId = ids.random('request');
        const startedAt = clock.now();
        let integration = partners.find(partner);
        let answer: PartnerAnswer = { kind: 'not_made', detail: '' };
        try {
          const opened = await partners.open(partner);
          if ('unusable' in opened) {
            answer = { kind: 'unauthorized', status: null, detail: opened.unusable };
            partners.ended(partner, answer, { tried: [], sharedBy: shared.length });
          } else {
            integration = opened.integration;
            answer = await callWithKeys(partner, shared, opened, callId, room.take);
          }
        } catch (error) {
          // Store unavailable, or a secret that cannot be opened: no call was made, so the triggers are settled as such
          // and retried.
          watch.trouble('ask a partner', error);
          partners.ended(partner, answer, { tried: [], sharedBy: shared.length });
        }
        called();
        // The partner refused these triggers alone, and has not answered since. They were called together because it
        // refuses everything.
        const toEverybody = shared.every(({ asking }) => asking.alone) && partners.isDoubtful(partner);
        const made = { callId, startedAt, endedAt: clock.now(), answer, toEverybody };
        return integration ? await settleCall(shared, made, integration, verdicts) : [];
      } finally {
        room.close();
      }
    },
  };
}
export type Calls = ReturnType<typeof createCalls>;
