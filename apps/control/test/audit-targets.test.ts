import type { SuppressionList } from '@carillon/ports';
import { createDirectWire, createMemoryStores, createMemorySuppressions } from '@carillon/testing/memory';
import { afterEach, expect, test } from 'vitest';
import { auditEntries as entries, openControl, TOKEN, type Fixture } from './control-fixture.ts';

let open: Fixture | undefined;
afterEach(() => open?.control.app.close());

const OWNER = { authorization: `Bearer ${TOKEN}` };

/** With the workspace `shop`, which a first key makes. */
async function fixture(ports: Parameters<typeof openControl>[1]): Promise<Fixture> {
  open = await openControl(undefined, ports);
  const url = '/v1/workspaces/shop/api-keys';
  await open.control.app.inject({ method: 'POST', url, headers: OWNER, payload: { name: 'backend' } });
  return open;
}

test('The audit names an address by one target when it is suppressed, released and suppressed again', async () => {
  const suppressions = createMemorySuppressions().connect(createDirectWire());
  const here = await fixture({ suppressions });
  const post = async (path: string, payload: object) => {
    const url = `/v1/workspaces/shop/suppressions${path}`;
    const answer = await here.control.app.inject({ method: 'POST', url, headers: OWNER, payload });
    expect(answer.statusCode).toBe(200);
    return answer.json<{ undo: string }>();
  };
  await post('', { channel: 'email', address: 'Ada@example.com' });
  const [ada] = (await entries(here)).slice(-1);
  const { undo } = await post('/remove', { channel: 'email', address: 'ada@example.com' });
  await post('/restore', { undo });
  const ofAda = (await entries(here)).filter(({ target }) => target === ada?.target);
  expect(ofAda.map(({ what, outcome }) => `${what} ${outcome}`)).toEqual([
    'suppression.add begun',
    'suppression.add done',
    'suppression.remove begun',
    'suppression.remove done',
    'suppression.add begun',
    'suppression.add done',
  ]);
  expect(new Set(ofAda.map(({ id }) => id)).size).toBe(3);
  expect(ofAda.every(({ actor }) => actor?.id === 'owner')).toBe(true);
});

test('The audit names each address and person of an imported file by a target of its own', async () => {
  const wire = createDirectWire();
  const suppressions = createMemorySuppressions().connect(wire);
  const { consents } = createMemoryStores().connect(wire);
  const here = await fixture({ suppressions, consents });
  const post = async (path: string, payload: object | string) => {
    const headers = { ...OWNER, ...(typeof payload === 'string' && { 'content-type': 'text/csv' }) };
    const url = `/v1/workspaces/shop/${path}`;
    const answer = await here.control.app.inject({ method: 'POST', url, headers, payload });
    expect(answer.statusCode).toBe(200);
  };
  await post('suppressions/import', 'address\nAda@example.com\nbob@example.com\n');
  await post('suppressions', { channel: 'email', address: 'ada@example.com' });
  await post('consents/import', 'person\nAda@example.com\nbob@example.com\n');
  await post('consents', { person: 'ada@example.com', target: 'all', opted_out: false });
  const done = (await entries(here)).filter(({ outcome, target }) => outcome === 'done' && target !== null);
  const words = (what: string) => done.flatMap((one) => (one.what === what ? [one.target] : []));
  expect(words('suppression.import')).toHaveLength(2);
  expect(words('suppression.import')).toContain(words('suppression.add')[0]);
  expect(words('consent.import')).toHaveLength(2);
  expect(words('consent.import')).toContain(words('consent.set')[0]);
});

test('The audit records for each address of a long file whether it was stored, even if the import fails halfway', async () => {
  const kept = createMemorySuppressions().connect(createDirectWire());
  const suppressions: SuppressionList = {
    ...kept,
    addAll: async (added) => {
      if (added.some(({ address }) => address === 'p260@example.com')) throw new Error('away');
      return kept.addAll(added);
    },
  };
  const here = await fixture({ suppressions });
  const rows = Array.from({ length: 300 }, (_, at) => `p${at}@example.com`);
  const answer = await here.control.app.inject({
    method: 'POST',
    url: '/v1/workspaces/shop/suppressions/import',
    headers: { ...OWNER, 'content-type': 'text/csv' },
    payload: ['address', ...rows, ''].join('\n'),
  });
  expect(answer.statusCode).toBe(500);
  const told = (await entries(here)).filter(({ what, target }) => what === 'suppression.import' && target !== null);
  const ended = new Set(told.flatMap(({ target, outcome }) => (outcome === 'done' ? [target] : [])));
  const begun = new Set(told.flatMap(({ target, outcome }) => (outcome === 'begun' ? [target] : [])));
  expect([begun.size, ended.size]).toEqual([300, 250]);
  expect((await entries(here)).at(-1)).toMatchObject({ what: 'suppression.import', outcome: 'failed' });
});
