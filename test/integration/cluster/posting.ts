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

/** Requests under way at once: fewer than new connections that Node lets wait (511), so that none is turned away unheard. */
const MOST_OPEN = 500;
const TICK = 50;

/** Clients that do not wait for an answer before they send the next event. */
export type Flood = {
  /** Ids of the events that were taken. */
  readonly accepted: ReadonlySet<string>;
  /** Refusals that do not say when to come again. */
  unexplained(): number;
  /** Sends no more; resolves when all is answered: how often each status came, or each reason why none did. */
  finish(): Promise<ReadonlyMap<string, number>>;
};

export function startFlood(
  { gatewayUrl, key, stream = 'shop/orders' }: Target,
  { perSecond, bytes, fires = false }: { readonly perSecond: number; readonly bytes: number; readonly fires?: boolean },
): Flood {
  const answers = new Map<string, number>();
  const accepted = new Set<string>();
  let unexplained = 0;
  const note = 'x'.repeat(bytes);
  const open = new Set<Promise<void>>();
  let sent = 0;

  async function send(): Promise<void> {
    const id = `flood-${(sent += 1)}`;
    const body = JSON.stringify(fires ? order(id, { note }) : { order_id: id, status: 'open', total: 1, note });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const came = await fetch(`${gatewayUrl}/events/${stream}`, { method: 'POST', headers, body }).then(
      async (answer) => {
        const { id: eventId } = (await answer.json()) as { id?: string };
        if (answer.status === 202 && eventId !== undefined) accepted.add(eventId);
        else if (!/^\d+$/.test(answer.headers.get('retry-after') ?? '')) unexplained += 1;
        return String(answer.status);
      },
      (error: unknown) => codeOf(error),
    );
    answers.set(came, (answers.get(came) ?? 0) + 1);
  }
  let owed = 0;
  const timer = setInterval(() => {
    for (owed += (perSecond * TICK) / 1000; owed >= 1 && open.size < MOST_OPEN; owed -= 1) {
      const sending = send();
      open.add(sending);
      void sending.finally(() => open.delete(sending));
    }
    // What could not be sent in time is not made up for later.
    owed %= 1;
  }, TICK);
  return {
    accepted,
    unexplained: () => unexplained,
    async finish() {
      clearInterval(timer);
      await Promise.all(open);
      return answers;
    },
  };
}

/** Why no answer came: fetch says it in the cause. */
function codeOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(error);
}
