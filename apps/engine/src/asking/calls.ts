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
  /** Ends the calls that are still open at the end of a stop. */
  readonly givingUp: AbortSignal;
};

/** One bound for answers that are being read; each partner has a share of it. */
const ANSWER_BYTES = 64 * 1024 * 1024;

/** Asks partners about triggers whose leases are held, and stores what came of it. */
export function createCalls({ clock, ids, lookup, partners, verdicts, watch, givingUp }: CallsPorts) {
  const answers = createByteBudget(ANSWER_BYTES, { shared: true });

  /** One call, or two where the first key is refused and there is another. */
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
        // It waited too long for its place, or the process stood still: by the end of the call another worker may ask too.
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
     * One call about these. `called` is told once the partner is free again. Answers those that go on waiting for it.
     * Never rejects for what the partner did.
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
          // A store that is away, or a secret of another key: nobody was asked, so the triggers are settled as such and come again.
          watch.trouble('ask a partner', error);
          partners.ended(partner, answer, { tried: [], sharedBy: shared.length });
        }
        called();
        // Refused before, and nobody was answered since: these were asked together because it refuses everybody.
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
