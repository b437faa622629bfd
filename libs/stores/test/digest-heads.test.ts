import { emptyHead, type DigestHead, type ListedItem } from '@carillon/domain/digests';
import type { DeliveryId, IntentId } from '@carillon/kernel';
import { allPages, freshName } from '@carillon/testing';
import { createMemoryStores } from '@carillon/testing/memory';
import { describe, expect, it } from 'vitest';

const item = (name: string): ListedItem => ({
  deliveryId: `dlv_${name}` as DeliveryId,
  token: `token of ${name}`,
  intentId: `int_${name}` as IntentId,
  size: 12,
});

/** A head as it is after its first write. */
function headOf(facts: Partial<DigestHead> = {}): DigestHead {
  const workspace = facts.workspace ?? freshName('shop');
  const slot = { workspace, notificationId: 'ntf', channel: 'email', uniqueId: '' } as const;
  return { ...emptyHead(freshName('head'), slot), version: 1, ...facts };
}

const until = (closesAt: number) => ({ items: [item('a')], end: { closesAt, slide: null } });

describe('Digest heads', () => {
  const heads = createMemoryStores().connect().digestHeads;

  it('finds a head as it was written', async () => {
    const head = headOf({
      n: 3,
      items: [item('a'), item('b')],
      end: { closesAt: 70, slide: { step: 5, latest: 90 } },
      closing: { n: 2, items: [item('c')], at: 60, configNumber: 7 },
      updatedAt: 61,
    });
    expect(await heads.get(head.id)).toBeNull();
    expect(await heads.replace(head)).toBe('done');
    expect(await heads.get(head.id)).toEqual(head);
  });

  it('writes over the version before only', async () => {
    const first = headOf();
    expect(await heads.replace({ ...first, version: 2 })).toBe('stale');
    expect(await heads.replace(first)).toBe('done');
    expect(await heads.replace(first)).toBe('stale');
    const second = { ...first, version: 2, n: 1 };
    expect(await heads.replace({ ...first, version: 3 })).toBe('stale');
    expect(await heads.replace(second)).toBe('done');
    expect(await heads.replace({ ...second, n: 9 })).toBe('stale');
    expect(await heads.get(first.id)).toEqual(second);
  });

  it('lets one of many concurrent writers of a version win', async () => {
    const first = headOf();
    await heads.replace(first);
    const many = Array.from({ length: 8 }, (_, at) => ({ ...first, version: 2, items: [item(`of ${at}`)] }));
    const answers = await Promise.all(many.map((one) => heads.replace(one)));
    expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
    expect(await heads.get(first.id)).toEqual(many[answers.indexOf('done')]);
  });

  it('lists windows to be closed or emptied by workspace, the longest due first', async () => {
    const workspace = freshName('shop');
    const late = headOf({ workspace, ...until(2000) });
    const open = headOf({ workspace, ...until(1000) });
    const closed = headOf({
      workspace,
      n: 1,
      ...until(5000),
      closing: { n: 0, items: [item('a')], at: 500, configNumber: 1 },
    });
    const quiet = headOf({ workspace });
    for (const head of [late, open, closed, quiet]) await heads.replace(head);
    const ids = async (now: number, limit = 10) => (await heads.due(workspace, now, limit)).map(({ id }) => id);
    expect(await ids(499)).toEqual([]);
    expect(await ids(500)).toEqual([closed.id]);
    expect(await ids(2000)).toEqual([closed.id, open.id, late.id]);
    expect(await ids(2000, 2)).toEqual([closed.id, open.id]);
    expect(await heads.due(freshName('other'), 2000, 10)).toEqual([]);
    expect(await heads.dueWorkspaces(499)).not.toContain(workspace);
    expect(await heads.dueWorkspaces(500)).toContain(workspace);
    expect((await heads.nextDueAt(500)) ?? Infinity).toBeLessThanOrEqual(500);
    expect(await heads.nextDueAt(-9e15)).toBeNull();
    // Emptied, it is due when its open window is.
    await heads.replace({ ...closed, version: 2, closing: null });
    expect(await ids(2000)).toEqual([open.id, late.id]);
    await heads.replace({ ...open, version: 2, items: [], end: null });
    await heads.replace({ ...late, version: 2, items: [], end: null });
    expect(await ids(4999)).toEqual([]);
    await heads.replace({ ...closed, version: 3, closing: null, items: [], end: null });
    expect(await heads.dueWorkspaces(Number.MAX_SAFE_INTEGER)).not.toContain(workspace);
  });

  it('lists pages that neither repeat nor skip while heads are written', async () => {
    const made = Array.from({ length: 5 }, () => headOf());
    for (const head of made) await heads.replace(head);
    let version = 1;
    const seen = await allPages(
      (cursor) => heads.list(2, cursor),
      async () => {
        version += 1;
        await heads.replace({ ...made[0]!, version });
      },
    );
    const ids = seen.map(({ id }) => id).filter((id) => made.some((head) => head.id === id));
    expect(ids.toSorted()).toEqual(made.map(({ id }) => id).toSorted());
  });
});
