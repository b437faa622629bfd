import type { SuppressionList } from '@carillon/ports';
import { createDirectWire, createMemorySuppressions } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { entry, openSuppressions, sourcesOf } from './suppressions-ground.ts';

let suppressions: SuppressionList;
let ground: Awaited<ReturnType<typeof openSuppressions>>;
beforeEach(async () => {
  suppressions = createMemorySuppressions().connect(createDirectWire());
  ground = await openSuppressions(suppressions);
});
afterEach(() => ground.close());
const get = (query: string) => ground.get(query);
const post = (path: string, body: object) => ground.post(path, body);

describe('Taking back', () => {
  beforeEach(() =>
    suppressions.addAll([entry('ada@example.com'), entry('ada@example.com', { source: 'stop', at: 2 })]),
  );

  it('what one source says leaves the others, and tells which', async () => {
    const one = await post('/remove', { channel: 'email', address: 'ADA@example.com', source: 'hard_bounce' });
    expect(one).toMatchObject({
      status: 200,
      body: { removed: true, still: [{ source: 'stop', address: 'ada@example.com' }] },
    });
    const again = await post('/remove', { channel: 'email', address: 'ada@example.com', source: 'hard_bounce' });
    expect(again.status).toBe(404);
    expect(again.body.detail).toBe('there is no such suppressed address; what is there says: stop');
  });

  it('what all say leaves nothing', async () => {
    const all = await post('/remove', { channel: 'email', address: 'ada@example.com' });
    expect(all.body).toMatchObject({ removed: true, still: [] });
    expect((await post('/remove', { channel: 'email', address: 'ada@example.com' })).body.detail).toBe(
      'there is no such suppressed address',
    );
  });
});

describe('Taking back many', () => {
  const ADA = { channel: 'email', address: 'ADA@example.com', source: 'hard_bounce' } as const;
  const BOB = { channel: 'email', address: 'bob@example.com', source: 'hard_bounce' } as const;
  const entries = [ADA, BOB, BOB, { ...BOB, address: 'nobody@example.com' }];
  beforeEach(() =>
    suppressions.addAll([
      entry('ada@example.com'),
      entry('ada@example.com', { source: 'stop', at: 2 }),
      entry('bob@example.com'),
      entry('bob@example.com', { workspace: 'club' }),
    ]),
  );

  it('is counted first, and changes nothing then', async () => {
    const counted = await post('/count', { entries });
    expect(counted).toMatchObject({ status: 200, body: { removed: 2, addresses: 2, still: 1 } });
    expect(sourcesOf(await get(''))).toEqual(['hard_bounce', 'hard_bounce', 'stop']);
  });

  it('leaves what other sources and workspaces say', async () => {
    expect((await post('/remove-many', { entries })).body).toMatchObject({ removed: 2, still: 1 });
    expect(sourcesOf(await get(''))).toEqual(['stop']);
    expect(await suppressions.find('club', 'email', 'bob@example.com')).not.toBeNull();
  });

  it('is undone by putting back what it answered: under the sources that held, with their words and by whom', async () => {
    const { body } = await post('/remove-many', { entries });
    const was = body.items as unknown as readonly Readonly<Record<string, unknown>>[];
    const back = was.map(({ channel, address, source, detail, delivery_id }) => ({
      channel,
      address,
      source,
      detail,
      delivery_id,
    }));
    expect(await post('/restore', { entries: back })).toMatchObject({ status: 200, body: { restored: 2 } });
    expect(await suppressions.sources('shop', 'email', 'bob@example.com')).toMatchObject([
      { source: 'hard_bounce', detail: '550 5.1.1 no such user', deliveryId: 'dlv_1', by: 'ann' },
    ]);
    expect((await post('/restore', { entries: back })).body).toMatchObject({ restored: 0 });
    const unknown = await post('/restore', { entries: [{ ...BOB, address: 'nobody' }] });
    expect(unknown).toMatchObject({ status: 400, body: { pointer: '/entries/0/address' } });
  });
});
