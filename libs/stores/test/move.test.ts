import { BASE_GONE, type Draft } from '@carillon/domain/configuration';
import type { Consents } from '@carillon/domain/consent';
import { ROSTER_ID, type PeopleRecord, type Person } from '@carillon/domain/people';
import type { DataKey } from '@carillon/ports';
import { storedSourceOf } from '@carillon/testing';
import { createMemoryStores } from '@carillon/testing/memory';
import { describe, expect, it } from 'vitest';
import { MOVED_LINES, type MovedStores } from '../src/index.ts';

const PERSON: Person = {
  name: 'Ada',
  email: 'ada@example.com',
  state: 'active',
  memberships: [],
  password: null,
  totp: null,
  recoveryCodes: [],
  epoch: 1,
  createdAt: 1,
};
const record = { version: 1, key: null, of: null, endsAt: null } as const;
const person = (id: string): PeopleRecord<'person'> => ({ ...record, kind: 'person', id, body: PERSON });
const roster = (...owners: string[]): PeopleRecord<'roster'> => ({
  ...record,
  kind: 'roster',
  id: ROSTER_ID,
  body: { owners, link: { digest: 'd', endsAt: 1, personId: null } },
});
const key = (id: string): DataKey => ({
  id,
  workspace: '',
  generation: 1,
  revision: 1,
  wraps: [{ master: 'm', wrapped: 'w' }],
  madeAt: 1,
});
const draft = (name: string, basedOn: number | null): Draft => ({
  ref: { kind: 'template', workspace: 'shop', name },
  body: {},
  basedOn,
  revision: `r-${name}`,
  begun: 'r0',
  by: { kind: 'cli', id: 'owner' },
  at: 1,
});

/** Moves everything as `carillon move` does. Returns the number of new items. */
async function move(from: MovedStores, to: MovedStores, shift: number): Promise<number> {
  let added = 0;
  for (const line of MOVED_LINES) {
    for await (const item of line.read(from)) {
      if (await line.write(to, line.renumber?.(item, shift) ?? item)) added += 1;
    }
  }
  return added;
}

describe('A move', () => {
  it('takes people, drafts, secrets and data keys along once, and keeps existing ones', async () => {
    const [from, to] = [createMemoryStores().connect(), createMemoryStores().connect()];
    for (const one of [person('per_1'), person('per_2'), roster('per_1', 'per_gone')]) await from.people.replace(one);
    await from.people.replace({ ...record, kind: 'guesses', id: 'g', body: { count: 1, since: 1 } });
    await from.secretStore.insertDataKey(key('dk_theirs'));
    await to.people.replace(person('per_own'));
    await to.people.replace(roster('per_own'));
    await to.secretStore.insertDataKey(key('dk_own'));
    expect(await move(from, to, 0)).toBe(4);
    expect(await move(from, to, 0)).toBe(0);
    expect((await to.people.find('roster', ROSTER_ID))?.body.owners).toEqual(['per_own', 'per_1']);
    expect(await to.people.find('guesses', 'g')).toBeNull();
    expect((await to.secretStore.dataKeys()).map(({ id, generation }) => [id, generation])).toEqual([
      ['dk_own', 1],
      ['dk_theirs', 2],
    ]);
  });

  it('takes opt-outs along as unpublished, once, and leaves newer ones as they are', async () => {
    const [from, to] = [createMemoryStores().connect(), createMemoryStores().connect()];
    const consents = (name: string, at: number): Consents => {
      const said = { target: { kind: 'all' }, channel: null, optedOut: true, way: 'page', at } as const;
      const owner = { workspace: 'shop', person: name };
      const entry = { ...owner, ...said, id: `cns_${at}` };
      return { ...owner, version: 1, words: [entry], unpublished: [], updatedAt: at };
    };
    for (const one of [consents('ada', 1), consents('bob', 1)]) await from.consents.replace(one);
    const newer = consents('bob', 2);
    await to.consents.replace(newer);
    expect(await move(from, to, 0)).toBe(1);
    expect(await move(from, to, 0)).toBe(0);
    const moved = consents('ada', 1);
    expect(await to.consents.find('shop', ['ada'])).toEqual([{ ...moved, unpublished: moved.words }]);
    expect(await to.consents.find('shop', ['bob'])).toEqual([newer]);
  });

  it('renumbers the configurations that drafts are based on', async () => {
    const [from, to] = [createMemoryStores().connect(), createMemoryStores().connect()];
    for (const one of [draft('based', 4), draft('new', null), draft('gone', BASE_GONE)])
      await from.drafts.replace(one, null);
    await move(from, to, 3);
    const bases = (await to.drafts.list('shop', 9)).items.map(({ ref, basedOn }) => [ref.name, basedOn]);
    expect(Object.fromEntries(bases)).toEqual({ based: 7, new: null, gone: BASE_GONE });
    expect(MOVED_LINES.find(({ name }) => name === 'draft')?.after).toBe('configuration');
  });

  it('takes positions of sources along, and leaves sources that are read already as they are', async () => {
    const [from, to] = [createMemoryStores().connect(), createMemoryStores().connect()];
    const [shop, stock] = [storedSourceOf(), storedSourceOf({ integration: 'stock-db', lagBytes: 1 })];
    for (const source of [shop, stock]) await from.sources.advance(source, []);
    await from.sources.advance({ ...shop, version: 2, lagBytes: 9 }, []);
    const own = { ...stock, lagBytes: 2 };
    await to.sources.advance(own, []);
    expect(await move(from, to, 0)).toBe(1);
    expect(await move(from, to, 0)).toBe(0);
    expect(await to.sources.list()).toEqual([{ ...shop, lagBytes: 9, moved: true }, own]);
  });
});
