import type { IdempotentRequest } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { freshName } from '@carillon/testing';
import { createMemoryStores } from '@carillon/testing/memory';

const request = (id: string, token: string, more: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  id,
  fingerprint: 'f1',
  token,
  begunAt: 10,
  endsAt: 100,
  answer: null,
  ...more,
});

describe('Idempotency store', () => {
  const store = createMemoryStores().connect().idempotency;

  it('stores a request once: a second one with its id gets the first', async () => {
    const id = freshName('request');
    expect(await store.find(id)).toBeNull();
    expect(await store.begin(request(id, 'a'), 10)).toEqual(request(id, 'a'));
    expect(await store.begin(request(id, 'b', { fingerprint: 'f2' }), 99)).toEqual(request(id, 'a'));
    expect(await store.find(id)).toEqual(request(id, 'a'));
  });

  it('stores one of many concurrent requests', async () => {
    const id = freshName('request');
    const tries = Array.from({ length: 8 }, (_, at) => request(id, `t${at}`));
    const kept = await Promise.all(tries.map((one) => store.begin(one, 10)));
    expect(new Set(kept.map(({ token }) => token)).size).toBe(1);
    expect(await store.find(id)).toEqual(kept[0]);
  });

  it('stores the answer only of the attempt that holds the id', async () => {
    const id = freshName('request');
    await store.begin(request(id, 'a'), 10);
    await store.finish(id, 'b', 'of b');
    expect((await store.find(id))?.answer).toBeNull();
    const answer = 'ü'.repeat(512 * 1024);
    await store.finish(id, 'a', answer);
    expect(await store.begin(request(id, 'c'), 50)).toEqual(request(id, 'a', { answer }));
  });

  it('removes only the attempt that did nothing', async () => {
    const id = freshName('request');
    await store.begin(request(id, 'a'), 10);
    await store.forget(id, 'b');
    expect(await store.find(id)).not.toBeNull();
    await store.forget(id, 'a');
    await store.forget(id, 'a');
    expect(await store.find(id)).toBeNull();
    expect(await store.begin(request(id, 'b'), 20)).toEqual(request(id, 'b'));
  });

  it('treats an id as new after the earlier request has expired', async () => {
    const id = freshName('request');
    await store.begin(request(id, 'a'), 10);
    await store.finish(id, 'a', 'old');
    const later = request(id, 'b', { fingerprint: 'f2', begunAt: 100, endsAt: 200 });
    expect(await store.begin(later, 100)).toEqual(later);
    expect(await store.find(id)).toEqual(later);
  });

  it('removes requests that expired before a time', async () => {
    const [early, late] = [freshName('request'), freshName('request')];
    await store.begin(request(early, 'a', { endsAt: 50 }), 10);
    await store.begin(request(late, 'a', { endsAt: 60 }), 10);
    expect(await store.removeEnded(60, 1000)).toBeGreaterThanOrEqual(1);
    expect(await store.find(early)).toBeNull();
    expect(await store.find(late)).not.toBeNull();
  });
});
