import { setTimeout as pause } from 'node:timers/promises';
import { order } from '../product/shop.ts';

export type Answer = {
  readonly at: number;
  readonly status: number;
  readonly took: number;
  readonly retryAfter: string | null;
};

/** Clients that send one event after the other, and repeat each with its Idempotency-Key until it is taken. */
export type Posting = {
  readonly answers: readonly Answer[];
  /** Ids of the events that were taken, as 202 answered them. */
  readonly accepted: ReadonlySet<string>;
  /** The same by the order's id, which is its Idempotency-Key as well. */
  readonly taken: ReadonlyMap<string, string>;
  /** Sends no new events; resolves when every one that was begun is taken. */
  finish(): Promise<void>;
};

type Target = {
  readonly gatewayUrl: string;
  readonly key: string;
  /** Left out: `shop/orders`. */
  readonly stream?: string;
};

export function startPosting(
  { gatewayUrl, key, stream = 'shop/orders' }: Target,
  { name, clients, every }: { readonly name: string; readonly clients: number; readonly every: number },
): Posting {
  const answers: Answer[] = [];
  const accepted = new Set<string>();
  const taken = new Map<string, string>();
  let finishing = false;

  async function send(id: string): Promise<boolean> {
    const begun = performance.now();
    const answer = await fetch(`${gatewayUrl}/events/${stream}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': id },
      body: JSON.stringify(order(id)),
    });
    const { id: eventId } = (await answer.json()) as { id?: string };
    const took = performance.now() - begun;
    answers.push({ at: Date.now(), status: answer.status, took, retryAfter: answer.headers.get('retry-after') });
    if (answer.status === 202 && eventId !== undefined) {
      accepted.add(eventId);
      taken.set(id, eventId);
    }
    return answer.status === 202;
  }

  async function client(number: number): Promise<void> {
    for (let sent = 0; !finishing; sent += 1) {
      while (!(await send(`${name}-${number}-${sent}`))) await pause(500);
      await pause(every);
    }
  }
  const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  // Looked at in `finish`; until then it must not end the process.
  running.catch(() => undefined);
  return {
    answers,
    accepted,
    taken,
    async finish() {
      finishing = true;
      await running;
    },
  };
}
