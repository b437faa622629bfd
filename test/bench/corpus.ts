/** How many bytes each event of the corpus has. */
export const EVENT_BYTES = 732;
export const USERS = 10_000;
const SEED = 20_261_121;

/** Numbers from 0 up to 1, always the same ones for a seed (mulberry32). */
export function createDice(seed = SEED): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Users by Zipf's law: the first comes up most, the n-th an n-th as often. */
export function nextUsers(dice: () => number): () => number {
  const upTo: number[] = [];
  let sum = 0;
  for (let user = 1; user <= USERS; user += 1) upTo.push((sum += 1 / user));
  return () => {
    const drawn = dice() * sum;
    let low = 0;
    let high = USERS - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((upTo[middle] ?? 0) < drawn) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

export type OrderEvent = {
  readonly id: string;
  readonly status: 'paid' | 'created' | 'shipped' | 'cancelled';
  readonly order_id: string;
  readonly total: number;
  readonly currency: string;
  readonly customer: { readonly id: string; readonly name: string; readonly email: string; readonly country: string };
  readonly items: readonly {
    readonly sku: string;
    readonly title: string;
    readonly qty: number;
    readonly price: number;
  }[];
  readonly note: string;
};

const STATUSES = ['paid', 'created', 'shipped', 'cancelled'] as const;
const COUNTRIES = ['DE', 'FR', 'US', 'JP', 'BR'] as const;

/** Event `n` of a run: any two runs get the same. `bytes`: its exact size as JSON. */
export function createCorpus(bytes = EVENT_BYTES, seed = SEED): { next(): OrderEvent; nextBytes(): Buffer } {
  const dice = createDice(seed);
  const nextUser = nextUsers(dice);
  const pick = <T>(list: readonly [T, ...T[]]): T => list[Math.floor(dice() * list.length)] ?? list[0];
  let n = 0;
  const next = (): OrderEvent => {
    const user = nextUser();
    n += 1;
    const item = (place: number) => ({
      sku: `sku-${Math.floor(dice() * 900) + 100}`,
      title: `Article ${place + 1}`,
      qty: 1 + Math.floor(dice() * 5),
      price: Math.floor(dice() * 10_000) / 100,
    });
    const event = {
      id: `evt-${n}`,
      status: pick(STATUSES),
      order_id: `order-${n}`,
      total: Math.floor(dice() * 50_000) / 100,
      currency: 'EUR',
      customer: {
        id: `user-${user}`,
        name: bytes < EVENT_BYTES ? '' : `Customer ${user}`,
        email: `user-${user}@example.com`,
        country: pick(COUNTRIES),
      },
      items: bytes < EVENT_BYTES ? [] : [item(0), item(1), item(2), item(3)],
      note: '',
    };
    const missing = bytes - Buffer.byteLength(JSON.stringify(event));
    if (missing < 0) throw new RangeError(`an event of this corpus has at least ${bytes - missing} bytes`);
    return { ...event, note: 'n'.repeat(missing) };
  };
  return { next, nextBytes: () => Buffer.from(JSON.stringify(next())) };
}

/** So many events of the usual size. */
export function events(count: number): OrderEvent[] {
  const corpus = createCorpus();
  return Array.from({ length: count }, () => corpus.next());
}
