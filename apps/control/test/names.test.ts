import type { NamesBody } from '@carillon/contracts';
import type { Suppression } from '@carillon/ports';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { personNames } from '../src/person-names.ts';
import { accessOf, openControl, type Fixture } from './control-fixture.ts';

const ADA = 'per_0000000000000000000000000A';
const GONE = 'per_0000000000000000000000000B';
const people = {
  find: async (_kind: string, id: string) => (id === ADA ? { body: { name: 'Ada' } } : null),
} as never;
const written = {
  workspace: 'shop',
  channel: 'email',
  source: 'operator',
  detail: '',
  deliveryId: null,
  at: 1,
} as const;
const entries = [
  { ...written, address: 'a@example.com', by: ADA },
  { ...written, address: 'b@example.com', by: 'owner' },
] as readonly Suppression[];

let fixture: Fixture;
beforeEach(async () => {
  const suppressions = { list: async () => ({ items: entries, next: null }) } as never;
  fixture = await openControl(accessOf(deploymentOwner('session')), { people, suppressions });
});
afterEach(() => fixture.control.app.close());
const get = (url: string) => fixture.control.app.inject({ method: 'GET', url });

describe('names of people', () => {
  it('are returned for the requested ids only', async () => {
    expect((await get(`/v1/names?id=${ADA}&id=${GONE}&id=owner`)).json<NamesBody>().people).toEqual([
      { id: ADA, name: 'Ada' },
    ]);
    expect((await get('/v1/names')).statusCode).toBe(400);
  });

  it('replace the ids in a CSV file', async () => {
    const { body } = await get('/v1/workspaces/-/suppressions/export');
    expect(body).toContain('"a@example.com","operator","","Ada"');
    expect(body).toContain('"b@example.com","operator","","owner"');
  });

  it('fall back to the id if the person does not exist', async () => {
    const nameOf = personNames({ people });
    expect(await Promise.all([ADA, GONE, 'owner', ''].map(nameOf))).toEqual(['Ada', GONE, 'owner', '']);
  });
});
