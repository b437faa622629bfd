import { beforeAll, describe, expect, it } from 'vitest';
import { openShared, type Shared } from '../world.ts';
import { isMarker, runPublishing, type Bug, type Layout } from './publishing.ts';
import type { Mishap } from './table.ts';

let shared: Shared;
let requests = 0;
beforeAll(async () => {
  shared = await openShared();
  ({ requests } = await runPublishing({ mishaps: [], secondAfter: 100 }, shared));
});

const upTo = (end: number): readonly number[] => Array.from({ length: end }, (_, at) => at);

/** How one request can fail: of an append to two partitions each part may happen alone. */
function failures(at: number): readonly Mishap[] {
  const simple = (['no_answer', 'dies_after', 'not_reached'] as const).map((kind): Mishap => ({ at, kind }));
  return [...simple, ...[0b010, 0b100].map((bits): Mishap => ({ at, kind: 'partly', parts: bits }))];
}

/** One request held up until others have made so many: what is late, or of a publisher that stood still. */
const holds = (at: number): readonly Mishap[] => upTo(requests).map((until): Mishap => ({ at, kind: 'held', until }));

/**
 * One mishap at any request, whenever the second publisher begins; then every two failures, where it begins with the
 * first, in the middle of it, or after it.
 */
function* layouts(): Generator<Layout> {
  const all = upTo(requests);
  for (const secondAfter of all) {
    yield { mishaps: [], secondAfter };
    for (const one of all.flatMap((at) => [...failures(at), ...holds(at)])) yield { mishaps: [one], secondAfter };
  }
  for (const secondAfter of [0, Math.floor(requests / 4), requests]) {
    for (const first of all.flatMap(failures)) {
      for (const second of all.slice(first.at + 1).flatMap(failures)) yield { mishaps: [first, second], secondAfter };
    }
  }
}

async function search(bug?: Bug): Promise<string | null> {
  for (const layout of layouts()) {
    const { broken } = await runPublishing(layout, shared, bug);
    if (broken !== null) return `${broken}: ${JSON.stringify(layout)}`;
  }
  return null;
}

const BUGS: Readonly<Record<string, Bug & { readonly finds: RegExp }>> = {
  'publish answered before all markers': {
    log: (log) => ({
      ...log,
      async append(records) {
        const appended = log.append(records);
        if (!records.some(isMarker)) return appended;
        appended.catch(() => undefined);
        return records.map(() => 0);
      },
    }),
    finds: /is judged by \d, and \d counted/,
  },
  'a smaller number that counts': {
    stage: (stage) => ({
      ...stage,
      async handle(records, state) {
        // Record by record, so that each marker is the first that is ever seen.
        const [first, ...others] = records;
        if (!first) return stage.handle([], state);
        const one = await stage.handle([first], { ...state, configNumber: isMarker(first) ? -1 : state.configNumber });
        if (others.length === 0) return one;
        const rest = await this.handle(others, one.state);
        return { ...rest, outputs: [...one.outputs, ...rest.outputs] };
      },
    }),
    finds: /goes back to \d|is judged by \d, and \d counted/,
  },
  'a number that is not carried from batch to batch': {
    stage: (stage) => ({ ...stage, handle: (records, state) => stage.handle(records, { ...state, configNumber: -1 }) }),
    finds: /batches decide/,
  },
};

describe('two publishers and the evaluations after them, under every fault', () => {
  it('read as often as the bounds of this test assume', () => {
    expect(requests).toBeGreaterThan(6);
    expect(requests).toBeLessThan(20);
  });

  it('evaluate every event with at least the configuration acknowledged before it was posted', async () => {
    expect(await search()).toBeNull();
  }, 600_000);

  for (const [name, { finds, ...bug }] of Object.entries(BUGS)) {
    it(`fail, as this test shows, with ${name}`, async () => {
      expect(await search(bug)).toMatch(finds);
    }, 600_000);
  }
});
