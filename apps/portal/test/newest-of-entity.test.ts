import { describe, expect, it } from 'vitest';
import { newestOfEntity } from '../src/screens/rule/timeline/newest-of-entity.ts';

const PAGE = 50;
const START = Date.UTC(2026, 0, 31);

/** A stream of events, newest first, each of the entity that its number gives. */
function streamOf(count: number, entityOf: (number: number) => string) {
  const events = Array.from({ length: count }, (_, number) => ({
    id: `evt_${number}`,
    at: new Date(START - number * 1000).toISOString(),
  }));
  let pages = 0;
  return {
    pages: () => pages,
    source: {
      async readPage(cursor: string | null) {
        pages += 1;
        const from = Number(cursor ?? 0);
        const end = from + PAGE;
        return { items: events.slice(from, end), next: end < count ? String(end) : null };
      },
      entitiesOf: async (some: readonly { readonly id: string }[]) =>
        new Map(some.map(({ id }) => [id, entityOf(Number(id.slice(4)))] as const)),
    },
  };
}

describe('the newest events of one entity', () => {
  it('are the newest 20, read over as many pages as needed', async () => {
    const { source, pages } = streamOf(1000, (number) => (number % 10 === 3 ? 'A' : 'B'));
    const found = await newestOfEntity('evt_3', source);
    expect(found.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, at) => `evt_${193 - at * 10}`));
    expect(pages()).toBe(4);
  });

  it('are fewer if the stream has fewer', async () => {
    const { source } = streamOf(60, (number) => (number === 2 || number === 55 ? 'A' : 'B'));
    expect((await newestOfEntity('evt_2', source)).map(({ id }) => id)).toEqual(['evt_55', 'evt_2']);
  });

  it('are searched among the newest 500 events of the stream', async () => {
    const { source, pages } = streamOf(5000, (number) => (number === 2 || number === 600 ? 'A' : 'B'));
    expect((await newestOfEntity('evt_2', source)).map(({ id }) => id)).toEqual(['evt_2']);
    expect(pages()).toBe(10);
  });
});
