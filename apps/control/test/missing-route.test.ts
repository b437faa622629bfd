import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Principal } from '../src/access/principal.ts';
import type { CompareRun } from '@carillon/domain/runs';
import { accessOf, auditEntries, openControl, personWith, type Fixture } from './control-fixture.ts';
import { openMissingFixture, withIds, type MissingFixture } from './missing-fixture.ts';

const OPERATOR = personWith('olga', ['read', 'operate', 'bodies'], 'shop');
const VIEWER = personWith('vera', ['read'], 'shop');

let fixture: MissingFixture;
let run: CompareRun;
const open: Fixture[] = [];
beforeEach(async () => {
  fixture = await openMissingFixture();
  for (const id of ['a', 'b', 'c']) await fixture.order(id, 90);
  run = await fixture.compare(withIds('old'));
  await fixture.publish(withIds('old'));
});
afterEach(async () => {
  for (const { control } of open.splice(0)) await control.close();
  await fixture.topology.close();
});

async function look(who: Principal, query = '', workspace = 'shop') {
  const { secrets: _secrets, ...ports } = fixture.ports();
  const opened = await openControl(accessOf(who), ports);
  open.push(opened);
  const url = `/v1/workspaces/${workspace}/runs/${run.id}/missing${query}`;
  const answer = await opened.control.app.inject({ url });
  const read = async () => (await auditEntries(fixture.ports())).filter(({ what }) => what === 'content.read');
  return { status: answer.statusCode, body: answer.json<Record<string, unknown>>(), read };
}

describe('GET /runs/{id}/missing', () => {
  it('counts the missing messages, shows up to ten of them, and audits it', async () => {
    const { status, body, read } = await look(OPERATOR);
    expect(status).toBe(200);
    expect(body).toMatchObject({ run: run.id, count: 3, messages: 3, people: 3, too_old: 0 });
    const rows = body['rows'] as readonly { readonly person: string; readonly slot_state: string }[];
    expect(rows.map(({ person }) => person).toSorted()).toEqual(['a@example.com', 'b@example.com', 'c@example.com']);
    expect(await read()).toMatchObject([{ target: run.id, workspace: 'shop', actor: { id: 'olga' } }]);
  });

  it('shows a viewer counts only, and audits nothing', async () => {
    const { status, body, read } = await look(VIEWER);
    expect(status).toBe(200);
    expect(body).toMatchObject({ count: 3, people: 3, rows: null });
    expect(JSON.stringify(body)).not.toContain('example.com');
    expect(await read()).toEqual([]);
  });

  it('selects by slot state, rule and age, and means the same events by the since that it returns', async () => {
    await fixture.hold(fixture.slotOf('a'), 'SUPPRESSED');
    expect((await look(VIEWER)).body['count']).toBe(2);
    expect((await look(VIEWER, '?slot=stopped')).body['count']).toBe(1);
    const both = await look(VIEWER, '?slot=none,stopped&rule=order-paid.paid&max_age=1h');
    expect(both.body['count']).toBe(3);
    fixture.topology.clock.pass(7_200_000);
    expect((await look(VIEWER, '?slot=none,stopped&max_age=1h')).body).toMatchObject({ count: 0, too_old: 3 });
    const again = await look(VIEWER, `?slot=none,stopped&since=${String(both.body['since'])}`);
    expect(again.body).toMatchObject({ count: 3, checksum: both.body['checksum'], since: both.body['since'] });
  });

  it.each([
    ['?max_age=soon', 'max_age'],
    ['?since=soon', 'since'],
    ['?since=2026-11-22T09:00:00Z&max_age=1h', 'since'],
    ['?difference=removed', 'difference'],
    ['?slot=notified', 'slot'],
    ['?rule=order-paid', 'rule'],
    ['?rule=welcome.paid', 'rule'],
  ])('refuses %s and names the field', async (query, field) => {
    const { status, body } = await look(VIEWER, query);
    expect(status).toBe(400);
    expect(String(body['detail'])).toContain(field);
  });

  it('is refused in another workspace, and with what to do while the edit is not published', async () => {
    expect((await look(OPERATOR, '', 'club')).status).toBe(403);
    await fixture.publish(withIds('old', 'event.total > 70'));
    const { status, body, read } = await look(OPERATOR);
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: 'not_published' });
    expect(body['detail']).toContain('notification order-paid');
    expect(await read()).toEqual([]);
  });
});
