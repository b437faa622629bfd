import type { Json } from '@carillon/kernel';
import type { PartnerAnswer, PartnerLookup } from '@carillon/ports';
import type { Wire } from './wire.ts';

/** A call as the partner saw it. */
export type AskedPartner = {
  readonly requestId: string;
  readonly userIds: readonly string[];
  readonly answer: PartnerAnswer;
};

/** A partner with a book of its own; `answer` is told how many calls came before. */
export function createMemoryPartner(answer: (userIds: readonly string[], calls: number) => PartnerAnswer) {
  const calls: AskedPartner[] = [];

  function take(userIds: readonly string[], requestId: string): PartnerAnswer {
    const call = { requestId, userIds, answer: answer(userIds, calls.length) };
    calls.push(call);
    return call.answer;
  }

  return {
    calls: (): readonly AskedPartner[] => calls,
    connect: (wire: Wire): PartnerLookup => ({
      async ask({ userIds, requestId, signal, room }) {
        if (signal?.aborted) return { kind: 'not_made', detail: 'stopped' };
        const asked = wire.ask('partner.ask', () => take(userIds, requestId), {
          writes: true,
          about: () => `${requestId} about ${userIds.join(', ')}`,
        });
        const stopped = new Promise<PartnerAnswer>((resolve) => {
          signal?.addEventListener('abort', () => resolve({ kind: 'not_made', detail: 'stopped' }), { once: true });
        });
        const unheard: PartnerAnswer = { kind: 'unavailable', status: null, detail: 'no answer' };
        const answered = await Promise.race([asked.catch(() => unheard), stopped]);
        return room?.(100) === false ? { kind: 'not_made', detail: 'no room' } : answered;
      },
    }),
  };
}
export type MemoryPartner = ReturnType<typeof createMemoryPartner>;

/** An answer with one item for each id, in their order. */
export const answered = (items: readonly Json[]): PartnerAnswer => ({ kind: 'answered', status: 200, items });
