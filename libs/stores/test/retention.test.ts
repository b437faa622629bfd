import type { PeopleRecord } from '@carillon/domain/people';
import { createDirectWire, createMemoryDocuments } from '@carillon/testing/memory';
import { expect, it } from 'vitest';
import { createStores, removeExpired } from '../src/index.ts';

const guesses = (id: string, endsAt: number | null): PeopleRecord<'guesses'> => ({
  kind: 'guesses',
  id,
  version: 1,
  key: null,
  of: null,
  endsAt,
  body: { count: 1, since: 1 },
});

it('retention removes all expired records, however many, and keeps the rest', async () => {
  const documents = createMemoryDocuments().connect(createDirectWire());
  const { people, idempotency } = createStores(documents);
  for (let at = 0; at < 1001; at += 1) await people.replace(guesses(`old-${at}`, 10));
  for (const [id, endsAt] of Object.entries({ later: 20, never: null })) await people.replace(guesses(id, endsAt));
  const request = { id: 'i', fingerprint: 'f', token: 't', begunAt: 1, endsAt: 10, answer: null };
  await idempotency.begin(request, 1);
  expect(await removeExpired(documents, 11)).toBe(1001);
  expect((await people.list('guesses', {}, 10)).items.map(({ id }) => id)).toEqual(['later', 'never']);
  // Its store removes what it keeps.
  expect(await idempotency.find('i')).toEqual(request);
});
