import { createDirectWire, createMemoryStores } from '@carillon/testing/memory';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { maskText } from '../src/access/masking/masked-text.ts';
import type { Principal } from '../src/access/principal.ts';
import { deploymentOwner } from '../src/access/principal.ts';
import type { ControlPorts } from '../src/index.ts';
import { accessOf, openControl, personWith, plainSealer, type Fixture } from './control-fixture.ts';
import { openJobsFixture } from './jobs-fixture.ts';

const HOURS = 3_600_000;
const wire = createDirectWire();
let stored = createMemoryStores();
let people = createMemoryStores().connect(wire).people;
let fixtures: Fixture[] = [];
let troubles: unknown[] = [];
beforeEach(() => {
  stored = createMemoryStores();
  people = createMemoryStores().connect(wire).people;
  troubles = [];
});
afterEach(async () => {
  await Promise.all(fixtures.splice(0).map(({ control }) => control.app.close()));
});

async function open(who: Principal = deploymentOwner('session'), more: Partial<ControlPorts> = {}) {
  const fixture = await openControl(accessOf(who), {
    idempotency: stored.connect(wire).idempotency,
    answerSealer: plainSealer,
    people,
    watch: { trouble: (_where: string, error: unknown) => void troubles.push(error) } as ControlPorts['watch'],
    ...more,
  });
  fixtures.push(fixture);
  return { ...fixture, make: makerOf(fixture.control.app) };
}

/** Asks for a service token, which is shown this once. */
const makerOf =
  (app: FastifyInstance) =>
  async (key: string | undefined, name = 'nightly') => {
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/tokens',
      headers: key === undefined ? {} : { 'idempotency-key': key },
      payload: { name, scopes: ['read'] },
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json<Record<string, unknown>>() };
  };
const tokens = async (): Promise<number> => (await people.list('token', {}, 100)).items.length;

describe('A request with an Idempotency-Key', () => {
  it('repeated returns the first response, including a secret that is shown once, and does nothing', async () => {
    const { make, log, codecs } = await open();
    const first = await make('k-1');
    expect(first.status).toBeLessThan(300);
    const again = await make('k-1');
    expect(again).toMatchObject({ status: first.status, body: first.body });
    expect([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']]).toEqual([undefined, 'true']);
    expect(again.headers['content-type']).toBe(first.headers['content-type']);
    expect(await tokens()).toBe(1);
    const told = (await log.read('carillon.audit', 0, 0, 100)).map(({ value }) => codecs.audit.decode(value));
    expect(told).toHaveLength(2);
    expect((await make(undefined)).body['id']).not.toBe(first.body['id']);
  });

  it('repeated with another body is refused for 24 hours, and is a new request afterwards', async () => {
    const { make, clock } = await open();
    const first = await make('k-1');
    const other = await make('k-1', 'another');
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
    expect(await tokens()).toBe(1);
    clock.pass(24 * HOURS - 1);
    expect((await make('k-1')).body).toEqual(first.body);
    clock.pass(1);
    expect((await make('k-1', 'another')).status).toBe(first.status);
    expect(await tokens()).toBe(2);
  });

  it('is scoped to principal and operation: the same key of another caller or on another route is a new request', async () => {
    const ada = await open(personWith('per_ada', ['people', 'read']));
    const bob = await open(personWith('per_bob', ['people', 'read']));
    const first = await ada.make('k-1');
    const second = await bob.make('k-1');
    expect([first.status, second.status]).toEqual([first.status, first.status]);
    expect(second.body['id']).not.toBe(first.body['id']);
    const url = `/v1/tokens/${String(first.body['id'])}`;
    const revoked = await ada.control.app.inject({ method: 'DELETE', url, headers: { 'idempotency-key': 'k-1' } });
    expect(revoked.statusCode).toBe(200);
    // The same operation on another one is another request.
    const other = `/v1/tokens/${String(second.body['id'])}`;
    const mixed = await ada.control.app.inject({ method: 'DELETE', url: other, headers: { 'idempotency-key': 'k-1' } });
    expect(mixed.json()).toMatchObject({ status: 422, code: 'idempotency_mismatch' });
  });

  it('runs once if sent concurrently, and all copies get its response', async () => {
    const { make } = await open();
    const answers = await Promise.all(Array.from({ length: 10 }, () => make('k-1')));
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1);
    expect(new Set(answers.map(({ status }) => status)).size).toBe(1);
    expect(await tokens()).toBe(1);
  });

  it('stores nothing if it is refused, so that the corrected request may use the same key', async () => {
    const { control, make, clock } = await open();
    const bad = { method: 'POST', url: '/v1/tokens', headers: { 'idempotency-key': 'k-1' }, payload: {} } as const;
    expect((await control.app.inject(bad)).statusCode).toBe(400);
    expect((await make('k-1')).status).toBeLessThan(300);
    // Refused by the handler: there is no such token, yet.
    const gone = { method: 'DELETE', url: '/v1/tokens/tok_none', headers: { 'idempotency-key': 'k-2' } } as const;
    for (const _ of [1, 2]) {
      const answer = await control.app.inject(gone);
      expect([answer.statusCode, answer.headers['idempotent-replayed']]).toEqual([404, undefined]);
    }
    const held = stored.connect(wire).idempotency;
    expect(await held.removeEnded(clock.now() + 25 * HOURS, 100)).toBe(1);
  });

  it('stores nothing if the audit cannot be written before it begins', async () => {
    const failing = await open();
    let isAway = true;
    const { control } = await openWithLog({
      ...failing.log,
      append: (records) => (isAway ? Promise.reject(new Error('away')) : failing.log.append(records)),
    });
    const make = makerOf(control.app);
    expect(await make('k-1')).toMatchObject({ status: 503, body: { code: 'audit_unavailable' } });
    isAway = false;
    expect((await make('k-1')).status).toBeLessThan(300);
    expect(await tokens()).toBe(1);
  });

  const openWithLog = async (log: ControlPorts['log']) => {
    const fixture = await open(deploymentOwner('session'), { log });
    return fixture;
  };

  it('that failed on our side is not carried out again: nobody knows whether it was', async () => {
    let fails = true;
    const replace: ControlPorts['people']['replace'] = async (record) => {
      const answer = await people.replace(record);
      if (fails) throw new Error('the answer was lost');
      return answer;
    };
    const { make, clock } = await open(deploymentOwner('session'), { people: { ...people, replace } });
    expect((await make('k-1')).status).toBe(500);
    fails = false;
    clock.pass(60_000);
    const again = await make('k-1');
    expect(again).toMatchObject({ status: 409, body: { code: 'request_begun' } });
    expect(String(again.body['detail'])).toContain('its outcome is unknown');
    expect(await tokens()).toBe(1);
    expect((await make('k-2')).status).toBeLessThan(300);
  });

  it('whose answer could not be kept is done all the same, and is not done twice', async () => {
    const kept = stored.connect(wire).idempotency;
    const finish = async (): Promise<void> => Promise.reject(new Error('away'));
    const { make, clock } = await open(deploymentOwner('session'), { idempotency: { ...kept, finish } });
    expect((await make('k-1')).status).toBeLessThan(300);
    expect(troubles).toHaveLength(1);
    clock.pass(60_000);
    expect((await make('k-1')).status).toBe(409);
    expect(await tokens()).toBe(1);
  });

  it('repeated is masked by the current permissions of the caller', async () => {
    const jobs = await openJobsFixture();
    const own = { idempotency: stored.connect(wire).idempotency, answerSealer: plainSealer };
    const seeing = await jobs.as(personWith('per_ada', ['read', 'operate', 'bodies'], 'shop'), own);
    await jobs.publishShop(seeing);
    const [doubtful] = await jobs.deliver(1, { state: 'IN_DOUBT' });
    const dismiss = async ({ control: { app } }: Fixture) => {
      const headers = { 'idempotency-key': 'k-1' };
      const payload = { ids: [doubtful?.id], as: 'sent', reason: 'barbara@example.com told us' };
      const url = '/v1/workspaces/shop/deliveries/dismiss';
      const answer = await app.inject({ method: 'POST', url, headers, payload });
      return { replayed: answer.headers['idempotent-replayed'], body: answer.json<Record<string, object>>() };
    };
    const first = await dismiss(seeing);
    expect(first.body['parameters']).toMatchObject({ reason: 'barbara@example.com told us' });
    expect(await dismiss(seeing)).toEqual({ replayed: 'true', body: first.body });
    const { configuration, log } = seeing;
    const now = await jobs.as(personWith('per_ada', ['read', 'operate'], 'shop'), { ...own, configuration, log });
    const again = await dismiss(now);
    expect(again).toMatchObject({ replayed: 'true', body: { id: first.body['id'] } });
    expect(again.body['parameters']).toMatchObject({ reason: maskText('barbara@example.com told us') });
    await jobs.close();
  });

  it('holds no key, token or body in what is stored', async () => {
    const seen: string[] = [];
    const kept = stored.connect(wire).idempotency;
    const sealed = {
      ...plainSealer,
      seal: (boundTo: readonly string[], text: string) => `sealed ${boundTo.length} ${text.length}`,
    };
    const { make } = await open(deploymentOwner('session'), {
      answerSealer: sealed,
      idempotency: {
        ...kept,
        begin: (request, now) => {
          seen.push(JSON.stringify(request));
          return kept.begin(request, now);
        },
        finish: (id, token, answer) => {
          seen.push(answer);
          return kept.finish(id, token, answer);
        },
      },
    });
    const { body } = await make('my-own-key', 'a-name-of-mine');
    expect(seen).toHaveLength(2);
    for (const secret of ['my-own-key', 'a-name-of-mine', String(body['token'])]) {
      expect(secret.length).toBeGreaterThan(5);
      expect(seen.join(' ')).not.toContain(secret);
    }
  });

  it('requires a key of visible characters, and ignores the key on reads', async () => {
    const { make, control } = await open();
    for (const key of ['two words', 'ä', 'x'.repeat(256)]) {
      expect(await make(key)).toMatchObject({ status: 400, body: { code: 'invalid_idempotency_key' } });
    }
    const read = await control.app.inject({ url: '/v1/tokens', headers: { 'idempotency-key': 'two words' } });
    expect(read.statusCode).toBe(200);
    const { paths } = control.description();
    const described = JSON.stringify(paths['/v1/tokens']);
    expect(described).toContain('"idempotency-key"');
    expect(described).toContain('idempotency_mismatch');
  });
});
