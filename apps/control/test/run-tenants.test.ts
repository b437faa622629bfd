import type { CompareRun } from '@carillon/domain/runs';
import type { DeliveryId } from '@carillon/kernel';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accessOf, openControl, personWith, type Fixture } from './control-fixture.ts';
import { openMissingFixture, withIds, type MissingFixture } from './missing-fixture.ts';

/** Has every right that a request about a run needs, in both workspaces. */
const IN_BOTH = personWith('bob', ['read', 'configure', 'operate', 'bodies']);

let fixture: MissingFixture;
let control: Fixture['control'];
let run: CompareRun;
let slot: DeliveryId;
beforeAll(async () => {
  fixture = await openMissingFixture();
  await fixture.topology.publish({ ref: { kind: 'workspace', workspace: 'club', name: '' }, body: {} });
  await fixture.order('a', 90);
  slot = fixture.slotOf('a');
  run = await fixture.compare(withIds('old'));
  await fixture.publish(withIds('old'));
  const { secrets: _secrets, ...ports } = fixture.ports();
  control = (await openControl(accessOf(IN_BOTH), ports)).control;
});
afterAll(async () => {
  await control.close();
  await fixture.topology.close();
});

async function ask(workspace: string, method: 'GET' | 'POST', path: string) {
  const url = `/v1/workspaces/${workspace}/runs/${run.id}${path}`;
  const payload = { '/send': { count: 1, checksum: 'c' }, '/stop': {} }[path];
  const { statusCode, body } = await control.app.inject({ method, url, ...(payload && { payload }) });
  return { status: statusCode, body };
}

it.each([
  ['GET', ''],
  ['GET', '/findings'],
  ['GET', '/rows'],
  ['GET', '/rows/export'],
  ['GET', '/rows/{slot}'],
  ['GET', '/missing'],
  ['POST', '/send'],
  ['POST', '/stop'],
] as const)('%s /runs/{id}%s does not find a run of another workspace', async (method, path) => {
  const there = path.replace('{slot}', slot);
  expect((await ask('shop', method, there)).status).not.toBe(404);
  const { status, body } = await ask('club', method, there);
  expect(status).toBe(404);
  expect(body).toContain(`run ${run.id} in workspace club`);
});
