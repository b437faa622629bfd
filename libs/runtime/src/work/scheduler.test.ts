import { afterEach, describe, expect, it, vi } from 'vitest';
import { startScheduler, type LaneLimits, type Scheduler, type WorkPolicy } from './scheduler.ts';

type Piece = { readonly id: string; readonly lane: string; readonly owner: string };
const piece = (id: string, lane = 'main', owner = 'shop'): Piece => ({ id, lane, owner });

const ONE_PLACE: LaneLimits = { places: 1, ahead: 0, settling: 8, held: Number.POSITIVE_INFINITY };

/** A started call, with functions to continue it. */
type Begun = { readonly lane: string; readonly ids: readonly string[]; called(): void; end(again?: Piece[]): void };

/** A scheduler over an array as its store. The test ends the calls. */
class Fixture {
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

let fixture: Fixture;
/** Waits until everything that needs no timer has happened. */
const turns = async (): Promise<void> => {
  for (let at = 0; at < 20; at += 1) await new Promise((resolve) => void setImmediate(resolve));
};
afterEach(async () => {
  vi.useRealTimers();
  for (const one of fixture.begun) one.end();
  await fixture.scheduler.stop(Date.now() + 5_000);
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
    give: async (_lane, call) => void fixture.returned.push(...call.map(({ id }) => id)),
  };
  return { wanted, leases };
}
const LEASED: LaneLimits = { places: 1, ahead: 2, settling: 8, held: Number.POSITIVE_INFINITY };

describe('waiting work', () => {
  it('starts at once on a hint, as far as slots allow, and no lane delays another', () => {
    fixture = new Fixture();
    fixture.scheduler.enter([piece('a'), piece('b'), piece('c', 'quick')]);
    expect(fixture.begins()).toEqual(['a', 'c']);
    expect(fixture.scheduler.openCalls()).toBe(2);
  });

  it('frees its slot once it was called, but only a limited number may be storing results', async () => {
    fixture = new Fixture();
    fixture.limits = () => ({ ...ONE_PLACE, settling: 2 });
    fixture.scheduler.enter(['a', 'b', 'c', 'd'].map((id) => piece(id)));
    fixture.call('a').called();
    fixture.call('b').called();
    expect(fixture.begins()).toEqual(['a', 'b']);
    fixture.call('a').end();
    await expect.poll(() => fixture.begins()).toEqual(['a', 'b', 'c']);
  });

  it('for another lane is queued there once', async () => {
    fixture = new Fixture();
    fixture.scheduler.enter([piece('a'), piece('b', 'other')]);
    fixture.call('a').end([piece('a', 'other')]);
    fixture.scheduler.enter([piece('a')]);
    fixture.call('b').end();
    await expect
      .poll(() => fixture.begun.filter(({ ids }) => ids[0] === 'a').map(({ lane }) => lane))
      .toEqual(['main', 'other']);
  });

  it('is found in the store without a hint, and more is read as soon as it runs', async () => {
    // Timers never fire, so only a read triggered by ended work can read again, not the poll.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    fixture = new Fixture();
    fixture.store = [piece('a'), piece('b')];
    await turns();
    expect(fixture.begins()).toEqual(['a']);
    fixture.scheduler.leftInStore('shop', true);
    const { reads } = fixture;
    fixture.call('a').end();
    await turns();
    expect(fixture.begins()).toContain('b');
    fixture.call('b').end();
    await turns();
    expect(fixture.reads).toBeGreaterThan(reads);
  });

  it('fails alone: the failure is reported, and its slot is free', async () => {
    const begun: string[] = [];
    fixture = new Fixture({
      run: async (_lane, [first]) => {
        begun.push(first?.id ?? '');
        if (first?.id === 'a') throw new Error('broken');
        return [];
      },
    });
    fixture.scheduler.enter([piece('a'), piece('b')]);
    await expect.poll(() => begun).toEqual(['a', 'b']);
    expect(fixture.troubles).toEqual(['do what is due']);
  });
});

describe('a lease', () => {
  it('is taken ahead of the slot, and work leased by others is not called', async () => {
    const { wanted, leases } = grantedLeases();
    fixture = new Fixture({ leases });
    fixture.limits = () => LEASED;
    fixture.scheduler.enter(['a', 'b', 'c', 'd'].map((id) => piece(id)));
    expect(wanted.map(({ ids }) => ids[0])).toEqual(['a', 'b']);
    wanted[0]?.grant([]);
    wanted[1]?.grant();
    await expect.poll(() => fixture.begins()).toEqual(['b']);
    await expect.poll(() => wanted.map(({ ids }) => ids[0])).toEqual(['a', 'b', 'c', 'd']);
    expect(fixture.scheduler.isKnown('a')).toBe(false);
    for (const one of wanted) one.grant();
  });

  it('is released if the lane closes, and waiting work stays in the store', async () => {
    const { wanted, leases } = grantedLeases();
    fixture = new Fixture({ leases });
    let isOpen = true;
    fixture.limits = () => (isOpen ? LEASED : null);
    fixture.scheduler.enter(['a', 'b', 'c', 'd'].map((id) => piece(id)));
    for (const one of wanted) one.grant();
    await expect.poll(() => fixture.begins()).toEqual(['a']);
    isOpen = false;
    fixture.call('a').end();
    await expect.poll(() => fixture.returned).toContain('b');
    for (const one of wanted) one.grant();
    await expect.poll(() => ['b', 'c', 'd'].some((id) => fixture.scheduler.isKnown(id))).toBe(false);
    expect(fixture.begins()).toEqual(['a']);
  });
});

describe('stopping', () => {
  it('starts nothing and waits for running work', async () => {
    fixture = new Fixture();
    fixture.scheduler.enter([piece('a'), piece('b')]);
    const stopped = fixture.scheduler.stop(Date.now() + 60_000);
    fixture.scheduler.enter([piece('c')]);
    fixture.call('a').end();
    expect(await stopped).toEqual([]);
    expect(fixture.begins()).toEqual(['a']);
  });

  it('returns work that still runs at the deadline', async () => {
    fixture = new Fixture();
    fixture.scheduler.enter([piece('a'), piece('b')]);
    expect((await fixture.scheduler.stop(Date.now())).map(({ id }) => id)).toEqual(['a']);
    fixture.call('a').end();
    await fixture.scheduler.ended();
  });

  it('releases leases of calls that did not start', async () => {
    const { wanted, leases } = grantedLeases();
    fixture = new Fixture({ leases });
    fixture.limits = () => ({ ...LEASED, places: 0 });
    fixture.scheduler.enter([piece('a'), piece('b')]);
    wanted[0]?.grant();
    await expect.poll(() => fixture.scheduler.unleased('main')).toBe(1);
    const stopped = fixture.scheduler.stop(Date.now() + 60_000);
    wanted[1]?.grant();
    await stopped;
    expect(fixture.returned.toSorted()).toEqual(['a', 'b']);
    expect(fixture.begins()).toEqual([]);
  });
});
