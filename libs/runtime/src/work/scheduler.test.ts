import { afterEach, describe, expect, it, vi } from 'vitest';
import { startScheduler, type LaneLimits, type Scheduler, type WorkPolicy } from './scheduler.ts';

type Piece = { readonly id: string; readonly lane: string; readonly owner: string };
const piece = (id: string, lane = 'main', owner = 'shop'): Piece => ({ id, lane, owner });

const ONE_PLACE: LaneLimits = { places: 1, ahead: 0, settling: 8, held: Number.POSITIVE_INFINITY };

/** A call that was begun, and how to go on with it. */
type Begun = { readonly lane: string; readonly ids: readonly string[]; called(): void; end(again?: Piece[]): void };

/** A scheduler over a store that is an array; calls end when the test says so. */
class Ground {
  readonly begun: Begun[] = [];
  readonly troubles: string[] = [];
  readonly returned: string[] = [];
  store: Piece[] = [];
  reads = 0;
  limits: (lane: string) => LaneLimits | null = () => ONE_PLACE;
  readonly scheduler: Scheduler<Piece>;

  constructor(more: Partial<WorkPolicy<Piece>> = {}) {
    this.scheduler = startScheduler<Piece>(
      {
        idOf: ({ id }) => id,
        bytesOf: () => 1_000,
        ownerOf: ({ owner }) => owner,
        laneOf: ({ lane }) => lane,
        bounds: { bytes: 1_000_000 },
        limits: ({ name }) => this.limits(name),
        run: (lane, call, called) =>
          new Promise((resolve) => {
            const ids = call.map(({ id }) => id);
            this.begun.push({ lane, ids, called, end: (again = []) => resolve(again) });
          }),
        read: async () => {
          this.reads += 1;
          this.scheduler.enter(this.store);
        },
        readOnBelow: 1,
        ...more,
      },
      {
        clock: { now: () => Date.now() },
        changed: () => undefined,
        trouble: (where) => void this.troubles.push(where),
      },
    );
  }

  begins(): readonly string[] {
    return this.begun.flatMap(({ ids }) => ids);
  }
  call(id: string): Begun {
    const found = this.begun.findLast(({ ids }) => ids.includes(id));
    if (!found) throw new Error(`${id} has not begun`);
    return found;
  }
}

let ground: Ground;
/** All that follows by itself, without any timer. */
const turns = async (): Promise<void> => {
  for (let at = 0; at < 20; at += 1) await new Promise((resolve) => void setImmediate(resolve));
};
afterEach(async () => {
  vi.useRealTimers();
  for (const one of ground.begun) one.end();
  await ground.scheduler.stop(Date.now() + 5_000);
});
/** Leases that the test grants. */
function grantedLeases() {
  const wanted: { readonly ids: readonly string[]; grant(ids?: readonly string[]): void }[] = [];
  const leases: NonNullable<WorkPolicy<Piece>['leases']> = {
    take: (_lane, call) =>
      new Promise((resolve) => {
        const ids = call.map(({ id }) => id);
        wanted.push({ ids, grant: (of = ids) => resolve(call.filter(({ id }) => of.includes(id))) });
      }),
    give: async (_lane, call) => void ground.returned.push(...call.map(({ id }) => id)),
  };
  return { wanted, leases };
}
const LEASED: LaneLimits = { places: 1, ahead: 2, settling: 8, held: Number.POSITIVE_INFINITY };

describe('work that waits', () => {
  it('begins at once at a hint, as much as there are places, and no lane holds up another', () => {
    ground = new Ground();
    ground.scheduler.enter([piece('a'), piece('b'), piece('c', 'quick')]);
    expect(ground.begins()).toEqual(['a', 'c']);
    expect(ground.scheduler.openCalls()).toBe(2);
  });

  it('gives its place on once it is called, but only so many may settle', async () => {
    ground = new Ground();
    ground.limits = () => ({ ...ONE_PLACE, settling: 2 });
    ground.scheduler.enter(['a', 'b', 'c', 'd'].map((id) => piece(id)));
    ground.call('a').called();
    ground.call('b').called();
    expect(ground.begins()).toEqual(['a', 'b']);
    ground.call('a').end();
    await expect.poll(() => ground.begins()).toEqual(['a', 'b', 'c']);
  });

  it('that is to be done elsewhere is queued there, once', async () => {
    ground = new Ground();
    ground.scheduler.enter([piece('a'), piece('b', 'other')]);
    ground.call('a').end([piece('a', 'other')]);
    ground.scheduler.enter([piece('a')]);
    ground.call('b').end();
    await expect
      .poll(() => ground.begun.filter(({ ids }) => ids[0] === 'a').map(({ lane }) => lane))
      .toEqual(['main', 'other']);
  });

  it('is found in the store where no hint told of it, and read on as soon as what was read is under way', async () => {
    // No timer runs out: only what is read on, and not the poll, can read again.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    ground = new Ground();
    ground.store = [piece('a'), piece('b')];
    await turns();
    expect(ground.begins()).toEqual(['a']);
    ground.scheduler.leftInStore('shop', true);
    const { reads } = ground;
    ground.call('a').end();
    await turns();
    expect(ground.begins()).toContain('b');
    ground.call('b').end();
    await turns();
    expect(ground.reads).toBeGreaterThan(reads);
  });

  it('fails alone: the failure is told, and its place is free', async () => {
    const begun: string[] = [];
    ground = new Ground({
      run: async (_lane, [first]) => {
        begun.push(first?.id ?? '');
        if (first?.id === 'a') throw new Error('broken');
        return [];
      },
    });
    ground.scheduler.enter([piece('a'), piece('b')]);
    await expect.poll(() => begun).toEqual(['a', 'b']);
    expect(ground.troubles).toEqual(['do what is due']);
  });
});

describe('a lease', () => {
  it('is taken ahead of the place, and what somebody else has got is not called', async () => {
    const { wanted, leases } = grantedLeases();
    ground = new Ground({ leases });
    ground.limits = () => LEASED;
    ground.scheduler.enter(['a', 'b', 'c', 'd'].map((id) => piece(id)));
    expect(wanted.map(({ ids }) => ids[0])).toEqual(['a', 'b']);
    wanted[0]?.grant([]);
    wanted[1]?.grant();
    await expect.poll(() => ground.begins()).toEqual(['b']);
    await expect.poll(() => wanted.map(({ ids }) => ids[0])).toEqual(['a', 'b', 'c', 'd']);
    expect(ground.scheduler.isKnown('a')).toBe(false);
    for (const one of wanted) one.grant();
  });

  it('is given back when the lane shuts, and what waits is left to the store', async () => {
    const { wanted, leases } = grantedLeases();
    ground = new Ground({ leases });
    let isOpen = true;
    ground.limits = () => (isOpen ? LEASED : null);
    ground.scheduler.enter(['a', 'b', 'c', 'd'].map((id) => piece(id)));
    for (const one of wanted) one.grant();
    await expect.poll(() => ground.begins()).toEqual(['a']);
    isOpen = false;
    ground.call('a').end();
    await expect.poll(() => ground.returned).toContain('b');
    for (const one of wanted) one.grant();
    await expect.poll(() => ['b', 'c', 'd'].some((id) => ground.scheduler.isKnown(id))).toBe(false);
    expect(ground.begins()).toEqual(['a']);
  });
});

describe('stopping', () => {
  it('begins nothing more and waits for what is under way', async () => {
    ground = new Ground();
    ground.scheduler.enter([piece('a'), piece('b')]);
    const stopped = ground.scheduler.stop(Date.now() + 60_000);
    ground.scheduler.enter([piece('c')]);
    ground.call('a').end();
    expect(await stopped).toEqual([]);
    expect(ground.begins()).toEqual(['a']);
  });

  it('answers what is still under way at its deadline', async () => {
    ground = new Ground();
    ground.scheduler.enter([piece('a'), piece('b')]);
    expect((await ground.scheduler.stop(Date.now())).map(({ id }) => id)).toEqual(['a']);
    ground.call('a').end();
    await ground.scheduler.ended();
  });

  it('gives leases back that no call has begun on', async () => {
    const { wanted, leases } = grantedLeases();
    ground = new Ground({ leases });
    ground.limits = () => ({ ...LEASED, places: 0 });
    ground.scheduler.enter([piece('a'), piece('b')]);
    wanted[0]?.grant();
    await expect.poll(() => ground.scheduler.unleased('main')).toBe(1);
    const stopped = ground.scheduler.stop(Date.now() + 60_000);
    wanted[1]?.grant();
    await stopped;
    expect(ground.returned.toSorted()).toEqual(['a', 'b']);
    expect(ground.begins()).toEqual([]);
  });
});
