import { setTimeout as pause } from 'node:timers/promises';
import { createChance } from './chance.ts';
import { STREAM } from './shop.ts';

/** An event that was answered with 202: from then on it is a promise. */
export type Acknowledged = {
  readonly eventId: string;
  readonly idempotencyKey: string;
  readonly uniqueId: string;
  readonly to: string;
  /** Whether somebody is to be told of it. */
  readonly fires: boolean;
};

export type PostersOptions = {
  readonly seed: number;
  readonly apiKey: string;
  /** Where the product listens now; waits while nobody knows. */
  readonly gateway: () => Promise<string>;
  readonly posters: number;
  /** Events of each poster in a second, at most. */
  readonly rate: number;
  /** So many events in all; left out: until `finish`. */
  readonly events?: number;
  /** Share of events that somebody is to be told of; left out: all. */
  readonly firing?: number;
  /** How long an event is sent again before its poster gives up; a minute, unless told. */
  readonly patience?: number;
};

export type Posters = {
  readonly acknowledged: readonly Acknowledged[];
  /** Requests that were cut off or refused, and so sent again. */
  cut(): number;
  /**
   * Resolves when all are posted, or where no number was given when every event that was begun is acknowledged. Rejects
   * where one never was, or got two ids.
   */
  finish(): Promise<void>;
};

/** Share of events whose unique id an earlier event had. */
const REUSED = 0.1;
/** Share of events that are sent again after their 202, as by a client that never saw it. */
const REPEATED = 0.05;
const ACKNOWLEDGED_WITHIN = 60_000;
const TRY_AGAIN = 100;

type Order = Omit<Acknowledged, 'eventId'>;

/** Clients as the documentation wants them: each event has an Idempotency-Key and is sent again until 202. */
export function startPosters(options: PostersOptions): Posters {
  const chance = createChance(options.seed);
  const acknowledged: Acknowledged[] = [];
  const ids: string[] = [];
  let finishing = false;
  let cut = 0;

  function nextOrder(): Order {
    const number = ids.length;
    const earlier = ids[Math.floor(chance() * number)];
    const uniqueId = earlier !== undefined && chance() < REUSED ? earlier : `order-${number}`;
    ids.push(uniqueId);
    const fires = options.firing === undefined || chance() < options.firing;
    return { idempotencyKey: `key-${number}`, uniqueId, to: `customer-${number}@example.org`, fires };
  }

  /** The id that a 202 named; undefined where nobody can say whether the event was taken. */
  async function post({ idempotencyKey, uniqueId, to, fires }: Order): Promise<string | undefined> {
    const url = await options.gateway();
    try {
      const answer = await fetch(`${url}/events/${STREAM}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${options.apiKey}`,
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
        },
        body: JSON.stringify({ order_id: uniqueId, status: fires ? 'paid' : 'open', email: to }),
        signal: AbortSignal.timeout(10_000),
      });
      if (answer.status === 202) return ((await answer.json()) as { id: string }).id;
      if (answer.status < 500 && answer.status !== 429) {
        throw new RefusedError(`an event was refused: ${answer.status} ${await answer.text()}`);
      }
      await answer.body?.cancel();
    } catch (error) {
      if (error instanceof RefusedError) throw error;
    }
    cut += 1;
    return undefined;
  }

  async function postUntilTaken(order: Order): Promise<string> {
    const { patience = ACKNOWLEDGED_WITHIN } = options;
    const deadline = Date.now() + patience;
    for (;;) {
      const id = await post(order);
      if (id !== undefined) return id;
      if (Date.now() > deadline) throw new Error(`no 202 within ${patience} ms: ${order.idempotencyKey}`);
      await pause(TRY_AGAIN * (0.5 + Math.random()));
    }
  }

  async function work(): Promise<void> {
    while (options.events === undefined ? !finishing : ids.length < options.events) {
      const due = Date.now() + 1000 / options.rate;
      const order = nextOrder();
      const again = chance() < REPEATED;
      const eventId = await postUntilTaken(order);
      acknowledged.push({ ...order, eventId });
      if (again) {
        const second = await postUntilTaken(order);
        if (second !== eventId) throw new Error(`${order.idempotencyKey} got two ids: ${eventId} and ${second}`);
      }
      await pause(Math.max(0, due - Date.now()));
    }
  }

  const working = Promise.all(Array.from({ length: options.posters }, work));
  // Looked at in `finish`; until then it must not end the process.
  working.catch(() => undefined);
  return {
    acknowledged,
    cut: () => cut,
    async finish() {
      finishing = true;
      await working;
    },
  };
}

class RefusedError extends Error {}
