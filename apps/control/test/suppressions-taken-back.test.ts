import type { SuppressionList } from '@carillon/ports';
import { createDirectWire, createMemorySuppressions } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { entry, openSuppressions, sourcesOf } from './suppressions-fixture.ts';

let suppressions: SuppressionList;
let fixture: Awaited<ReturnType<typeof openSuppressions>>;
beforeEach(async () => {
  suppressions = createMemorySuppressions().connect(createDirectWire());
  fixture = await openSuppressions(suppressions);
});
afterEach(() => fixture.close());
const get = (query: string) => fixture.get(query);
const post = (path: string, body: object) => fixture.post(path, body);

describe('removing a suppression', () => {
  beforeEach(() =>
    suppressions.addAll([entry('ada@example.com'), entry('ada@example.com', { source: 'stop', at: 2 })]),
  );

  it('of one source keeps the others and names them', async () => {
    const one = await post('/remove', { channel: 'email', address: 'ADA@example.com', source: 'hard_bounce' });
    expect(one).toMatchObject({
      status: 200,
      body: { removed: true, still: [{ source: 'stop', address: 'ada@example.com' }] },
    });
    const again = await post('/remove', { channel: 'email', address: 'ada@example.com', source: 'hard_bounce' });
    expect(again.status).toBe(404);
    expect(again.body.detail).toBe('there is no such suppressed address; still suppressed by: stop');
  });

  it('of all sources leaves none', async () => {
    const all = await post('/remove', { channel: 'email', address: 'ada@example.com' });
    expect(all.body).toMatchObject({ removed: true, still: [] });
    expect((await post('/remove', { channel: 'email', address: 'ada@example.com' })).body.detail).toBe(
      'there is no such suppressed address',
    );
  });

  it('can be undone exactly, so that a later START still removes a STOP', async () => {
    const before = await suppressions.sources('shop', 'email', 'ada@example.com');
    const { body } = await post('/remove', { channel: 'email', address: 'ada@example.com' });
    expect((await post('/restore', { undo: body.undo })).body).toMatchObject({ restored: 2 });
    expect(await suppressions.sources('shop', 'email', 'ada@example.com')).toEqual(before);
    expect((await post('/restore', { undo: body.undo })).body).toMatchObject({ restored: 0 });
    expect(await suppressions.remove('shop', 'email', 'ada@example.com', 'stop', 3)).toBe(true);
  });

  it('cannot be undone with a forged text', async () => {
    const { body } = await post('/remove', { channel: 'email', address: 'ada@example.com', source: 'hard_bounce' });
    const refusal = { status: 400, body: { pointer: '/undo' } };
    const made = JSON.stringify([entry('eve@example.com')]);
    for (const undo of ['', made, `${body.undo}A`, body.undo.toUpperCase()]) {
      expect(await post('/restore', { undo })).toMatchObject(refusal);
    }
    expect(await fixture.call('POST', '/v1/workspaces/club/suppressions/restore', { undo: body.undo })).toMatchObject(
      refusal,
    );
    expect(sourcesOf(await get(''))).toEqual(['stop']);
  });
});
