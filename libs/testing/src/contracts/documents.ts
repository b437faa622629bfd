import { integer, json, text, type Collection, type AnyCollection, type Documents, type Where } from '@carillon/ports';
import { SOURCES } from '@carillon/stores';
import { beforeEach, describe, expect, it } from 'vitest';
import { allPages } from './pages.ts';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

type Sample = {
  readonly group: string;
  readonly id: string;
  readonly version: number;
  readonly email: string | null;
  readonly state: string;
  readonly at: number;
  readonly endsAt: number | null;
};

/** A collection with everything that a declaration may say. Versions are counted. */
const SAMPLES: Collection<Sample> = {
  name: 'samples',
  key: ['group', 'id'],
  version: { field: 'version', kind: 'counter' },
  fields: {
    group: text(({ group }) => group, 'sample_group'),
    id: text(({ id }) => id),
    version: integer(({ version }) => version),
    email: text(({ email }) => email),
    state: text(({ state }) => state),
    at: integer(({ at }) => at),
    endsAt: integer(({ endsAt }) => endsAt ?? undefined),
  },
  unique: { address: ['group', 'email'] },
  indexes: {
    newest: { by: ['at', '_id'] },
    group: { by: ['group', 'at', '_id'] },
    ids: { by: ['group', '_id'] },
    ending: { by: ['endsAt', '_id'], present: ['endsAt'] },
  },
  expiry: { field: 'endsAt' },
  parts: ['lines'],
};

type Token = { readonly id: string; readonly token: string; readonly tags: readonly string[] };

/** A collection without a body, whose versions are tokens. */
const TOKENS: Collection<Token> = {
  name: 'tokens',
  key: ['id'],
  version: { field: 'token', kind: 'token' },
  fields: { id: text(({ id }) => id), token: text(({ token }) => token), tags: json(({ tags }) => tags) },
  body: null,
  read: ({ id, token, tags }) => ({ id: id as string, token: token as string, tags: tags as string[] }),
};

type Mark = { readonly id: string; readonly by: string };

/** A collection whose documents never change. */
const MARKS: Collection<Mark> = { name: 'marks', key: ['id'], fields: { id: text(({ id }) => id) } };

/** Collections with which a backend is opened for this suite and that of sources. */
export const SAMPLE_COLLECTIONS: readonly AnyCollection[] = [SAMPLES, TOKENS, MARKS, SOURCES];

const sample = (group: string, id: string, more: Partial<Sample> = {}): Sample => ({
  group,
  id,
  version: 1,
  email: null,
  state: 'new',
  at: 10,
  endsAt: null,
  ...more,
});
const token = (id: string, given: string, tags: readonly string[] = []): Token => ({ id, token: given, tags });
const idsOf = (samples: readonly Sample[]): readonly string[] => samples.map(({ id }) => id);

export function describeDocuments(name: string, make: () => Promise<UnderTest<Documents>>): void {
  describe(`${name}: documents`, () => {
    const { port, faults } = freshFor(make);
    const samples = () => port().collection(SAMPLES);
    const tokens = () => port().collection(TOKENS);
    const marks = () => port().collection(MARKS);
    let group = '';
    beforeEach(() => {
      group = freshName('group');
    });

    describe('reads and writes', () => {
      it('finds a document by its whole key, as it was written', async () => {
        const written = sample(group, '"a"\n—\u{1f514} אדה', { at: 8_640_000_000_000_000, email: 'Ada@example.com' });
        expect(await samples().get([group, written.id])).toBeNull();
        expect(await samples().write(written, null)).toBe('done');
        expect(await samples().get([group, written.id])).toEqual(written);
        expect(await samples().get([written.id, group])).toBeNull();
        expect(await samples().get([`${group}x`, written.id])).toBeNull();
      });

      it('finds many at once, each once, and leaves out those that are missing', async () => {
        for (const id of ['a', 'b', 'c']) await samples().write(sample(group, id), null);
        const found = await samples().find([
          [group, 'c'],
          [group, 'a'],
          [group, 'c'],
          [group, 'missing'],
        ]);
        expect(idsOf(found).toSorted()).toEqual(['a', 'c']);
        expect(await samples().find([])).toEqual([]);
      });

      it('keeps values without a body, JSON among them', async () => {
        const id = freshName('token');
        await tokens().write(token(id, 'a', ['x', '"y"']), null);
        expect(await tokens().get([id])).toEqual(token(id, 'a', ['x', '"y"']));
      });

      it('keeps a part from the first write on and returns it alone', async () => {
        const lines = JSON.stringify(Array.from({ length: 10_000 }, (_, at) => `line ${at} ✓`));
        expect(await samples().write(sample(group, 'a'), null, { lines })).toBe('done');
        await samples().write(sample(group, 'a', { version: 2, state: 'old' }), 1);
        expect(await samples().get([group, 'a'])).toEqual(sample(group, 'a', { version: 2, state: 'old' }));
        expect(await samples().part([group, 'a'], 'lines')).toBe(lines);
        await samples().write(sample(group, 'without'), null);
        expect(await samples().part([group, 'without'], 'lines')).toBeNull();
        expect(await samples().part([group, 'b'], 'lines')).toBeNull();
      });

      it('keeps an immutable document as it was written first', async () => {
        const id = freshName('mark');
        const answers = await Promise.all(['a', 'b', 'c'].map((by) => marks().write({ id, by }, null)));
        expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
        const first = await marks().get([id]);
        expect(await marks().write({ id, by: 'late' }, null)).toBe('stale');
        expect(await marks().get([id])).toEqual(first);
      });
    });

    describe('versions', () => {
      it('writes over the expected version only, and lets one of many concurrent writers win', async () => {
        expect(await samples().write(sample(group, 'a', { version: 2 }), 1)).toBe('stale');
        for (const expected of [null, 1, 2]) {
          const next = (at: number) => sample(group, 'a', { version: (expected ?? 0) + 1, at });
          const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((at) => samples().write(next(at), expected)));
          expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
          expect(await samples().get([group, 'a'])).toEqual(next(answers.indexOf('done') + 1));
        }
        expect(await samples().write(sample(group, 'a', { version: 3 }), 2)).toBe('stale');
        expect(await samples().write(sample(group, 'a'), null)).toBe('stale');
      });

      it('expects a token, and takes a repeated write of it as done', async () => {
        const id = freshName('token');
        expect(await tokens().write(token(id, 'a'), 'none')).toBe('stale');
        const first = await Promise.all(['a', 'b', 'c'].map((one) => tokens().write(token(id, one), null)));
        expect(first.filter((answer) => answer === 'done')).toHaveLength(1);
        const held = (await tokens().get([id]))?.token ?? '';
        expect(await tokens().write(token(id, 'd', ['new']), held)).toBe('done');
        expect(await tokens().write(token(id, 'd', ['new']), held)).toBe('done');
        expect(await tokens().write(token(id, 'e'), held)).toBe('stale');
        expect(await tokens().get([id])).toEqual(token(id, 'd', ['new']));
        expect(await tokens().write(token(id, 'd', ['same token']), 'd')).toBe('done');
        expect(await tokens().get([id])).toEqual(token(id, 'd', ['same token']));
      });

      it('removes the expected version, or any', async () => {
        const id = freshName('token');
        await tokens().write(token(id, 'a'), null);
        expect(await tokens().remove([id], 'b')).toBe('stale');
        expect(await tokens().remove([id], 'a')).toBe('done');
        expect(await tokens().remove([id], 'a')).toBe('missing');
        await tokens().write(token(id, 'c'), null);
        expect(await tokens().remove([id])).toBe('done');
        expect(await tokens().get([id])).toBeNull();
        expect(await tokens().write(token(id, 'd'), 'c')).toBe('stale');
      });

      it('tells the truth in races, also when answers are lost', async () => {
        // The embedded backend answers in the same process, so no answer can be lost there.
        const lossy = faults();
        lossy?.loseAnswers?.(0.4);
        try {
          for (let version = 1; version <= 5; version += 1) {
            const next = (at: number) => sample(group, 'a', { version, at });
            await oneWins(
              [1, 2, 3].map((at) => () => samples().write(next(at), version === 1 ? null : version - 1)),
              async (winner) => (await samples().get([group, 'a']))?.at === winner + 1,
            );
            const fresh = `fresh-${version}`;
            await oneWins(
              [1, 2, 3].map((at) => () => samples().write(sample(group, fresh, { at }), null)),
              async (winner) => (await samples().get([group, fresh]))?.at === winner + 1,
            );
            const names = [1, 2, 3].map((at) => `${group} ${version} ${at}`);
            const before = version === 1 ? null : ((await tokens().get([group]))?.token ?? null);
            await oneWins(
              names.map((one) => () => tokens().write(token(group, one), before)),
              async (winner) => (await tokens().get([group]))?.token === names[winner],
            );
          }
        } finally {
          lossy?.loseAnswers?.(0);
        }
      });
    });

    describe('unique keys', () => {
      it('gives a value to one of many that want it at once, within its group', async () => {
        const email = 'ada@example.com';
        const answers = await Promise.all(
          ['a', 'b', 'c'].map((id) => samples().write(sample(group, id, { email }), null)),
        );
        expect(answers.toSorted()).toEqual(['done', 'taken', 'taken']);
        expect((await samples().findUnique('address', [group, email]))?.email).toBe(email);
        const other = freshName('group');
        expect(await samples().findUnique('address', [other, email])).toBeNull();
        expect(await samples().write(sample(other, 'a', { email }), null)).toBe('done');
        for (const id of ['x', 'y']) expect(await samples().write(sample(group, id), null)).toBe('done');
      });

      it('refuses a taken value to a stored document and frees the value that it leaves', async () => {
        await samples().write(sample(group, 'a', { email: 'ada' }), null);
        await samples().write(sample(group, 'b', { email: 'bob' }), null);
        expect(await samples().write(sample(group, 'b', { email: 'ada', version: 2 }), 1)).toBe('taken');
        expect(await samples().get([group, 'b'])).toEqual(sample(group, 'b', { email: 'bob' }));
        expect(await samples().write(sample(group, 'b', { email: 'ada', version: 3 }), 2)).toBe('stale');
        expect(await samples().write(sample(group, 'a', { version: 2 }), 1)).toBe('done');
        expect(await samples().findUnique('address', [group, 'ada'])).toBeNull();
        expect(await samples().write(sample(group, 'b', { email: 'ada', version: 2 }), 1)).toBe('done');
        await samples().remove([group, 'b']);
        expect(await samples().write(sample(group, 'c', { email: 'ada' }), null)).toBe('done');
      });
    });

    describe('pages', () => {
      const fill = async (): Promise<void> => {
        for (const [at, id] of [1, 2, 2, 4, 5].entries()) {
          await samples().write(sample(group, `id-${at}`, { at: id, state: at % 2 ? 'odd' : 'even' }), null);
        }
      };

      it('follows an index in both directions, and neither repeats nor skips while documents come and change', async () => {
        await fill();
        await samples().write(sample(freshName('other'), 'id-9', { at: 3 }), null);
        for (const order of ['descending', 'ascending'] as const) {
          const late = order === 'descending' ? 9 : 0;
          const seen = await allPages(
            (cursor) => samples().page({ index: 'group', where: { group }, order }, 2, cursor),
            async () => {
              const id = freshName('late');
              await samples().write(sample(group, id, { at: late }), null);
              await samples().remove([group, id]);
            },
          );
          const expected = ['id-0', 'id-1', 'id-2', 'id-3', 'id-4'];
          expect(idsOf(seen)).toEqual(order === 'ascending' ? expected : expected.toReversed());
        }
        const byId = await samples().page({ index: 'ids', where: { group } }, 2);
        expect(idsOf(byId.items)).toEqual(['id-4', 'id-3']);
        const rest = await samples().page({ index: 'ids', where: { group } }, 9, byId.next ?? '');
        expect([idsOf(rest.items), rest.next]).toEqual([['id-2', 'id-1', 'id-0'], null]);
      });

      it('filters by values, lists, beginnings and bounds', async () => {
        await fill();
        const of = async (where: object) =>
          idsOf((await samples().page({ index: 'group', where: { group, ...where }, order: 'ascending' }, 9)).items);
        expect(await of({ state: 'odd' })).toEqual(['id-1', 'id-3']);
        expect(await of({ state: undefined, at: 2 })).toEqual(['id-1', 'id-2']);
        expect(await of({ state: { in: ['odd', 'none'] } })).toEqual(['id-1', 'id-3']);
        expect(await of({ state: { in: [] } })).toEqual([]);
        expect(await of({ state: { beginsWith: ['o', 'ev'] } })).toHaveLength(5);
        expect(await of({ state: { beginsWith: ['O'] } })).toEqual([]);
        expect(await of({ state: { beginsWith: [] } })).toEqual([]);
        expect(await of({ at: { from: undefined, before: undefined } })).toHaveLength(5);
        expect(await of({ at: { from: 2, before: 5 } })).toEqual(['id-1', 'id-2', 'id-3']);
        expect(await of({ at: { after: 2, until: 5 } })).toEqual(['id-3', 'id-4']);
      });

      it('lists only documents that an index has', async () => {
        await samples().write(sample(group, 'never'), null);
        await samples().write(sample(group, 'late', { endsAt: 9_000 }), null);
        await samples().write(sample(group, 'soon', { endsAt: 8_000 }), null);
        const ending = async () =>
          idsOf((await samples().page({ index: 'ending', where: { group }, order: 'ascending' }, 9)).items);
        expect(await ending()).toEqual(['soon', 'late']);
        await samples().write(sample(group, 'soon', { version: 2 }), 1);
        expect(await ending()).toEqual(['late']);
      });

      it('returns named fields of all matches', async () => {
        await fill();
        const found = await samples().select({ group, state: 'odd' }, ['id', 'at']);
        expect(new Set(found.map(({ at }) => at))).toEqual(new Set([2, 4]));
      });

      it('follows the keys without an index', async () => {
        await fill();
        const first = await samples().page({ where: { group }, order: 'ascending' }, 2);
        const rest = await samples().page({ where: { group }, order: 'ascending' }, 9, first.next ?? '');
        expect(idsOf([...first.items, ...rest.items])).toEqual(['id-0', 'id-1', 'id-2', 'id-3', 'id-4']);
      });

      it('returns each value of the first field of an index once', async () => {
        await fill();
        const [other, at] = [freshName('other'), 7_000 + Math.floor(Math.random() * 1e9)];
        await samples().write(sample(other, 'id-9', { endsAt: at }), null);
        await samples().write(sample(other, 'id-8', { endsAt: at }), null);
        const groups = async (where: Where) => {
          const found = await samples().distinct({ index: 'group', where });
          expect(new Set(found).size).toBe(found.length);
          return new Set(found.filter((value) => value === group || value === other));
        };
        expect(await groups({})).toEqual(new Set([group, other]));
        expect(await groups({ state: 'odd' })).toEqual(new Set([group]));
        expect(await groups({ at: { from: 10, until: 10 } })).toEqual(new Set([other]));
        expect(await groups({ state: 'gone' })).toEqual(new Set());
        const ends = (where: Where) => samples().distinct({ index: 'ending', where });
        expect(await ends({ group: other })).toEqual([at]);
        expect(await ends({ group })).toEqual([]);
      });

      it('rejects a cursor of another list', async () => {
        const forged = samples().page({ index: 'group', where: { group } }, 2, 'forged');
        await expect(forged).rejects.toThrow(expect.objectContaining({ code: 'invalid_request' }));
      });
    });

    it('removes expired documents up to a limit, and none that never expires or expires later', async () => {
      const ends = { a: 1, b: 2, c: 3, d: 4_000_000_000_000, e: null };
      for (const [id, endsAt] of Object.entries(ends)) await samples().write(sample(group, id, { endsAt }), null);
      const left = async () => (await samples().select({ group }, ['id'])).length;
      expect(await samples().removeExpired(4, 2)).toBe(2);
      expect(await left()).toBe(3);
      expect(await samples().removeExpired(4, 1000)).toBe(1);
      expect(await samples().removeExpired(4, 1000)).toBe(0);
      expect(await samples().get([group, 'd'])).not.toBeNull();
      expect(await samples().get([group, 'e'])).not.toBeNull();
    });

    it('rejects a write that it cannot do and does it once it can', async ({ skip }) => {
      const broken = faults() ?? skip();
      await broken.breakWrites();
      await expect(samples().write(sample(group, 'a'), null)).rejects.toThrow();
      await broken.mendWrites();
      expect(['done', 'stale']).toContain(await samples().write(sample(group, 'a'), null));
      expect(await samples().get([group, 'a'])).toEqual(sample(group, 'a'));
    });
  });
}

/** Runs rival writes. At most one may say `done`, it must be the stored one, and without a rejection one must. */
async function oneWins(
  writes: readonly (() => Promise<string>)[],
  isStored: (winner: number) => Promise<boolean>,
): Promise<void> {
  const answers = await Promise.all(writes.map((write) => write().catch(() => 'lost')));
  const winners = answers.flatMap((answer, at) => (answer === 'done' ? [at] : []));
  expect(winners.length).toBeLessThanOrEqual(1);
  if (!answers.includes('lost')) expect(winners).toHaveLength(1);
  for (const winner of winners) expect(await isStored(winner)).toBe(true);
}
