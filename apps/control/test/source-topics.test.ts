import type { CheckBody, KafkaTopicsBody } from '@carillon/contracts';
import { err, ok } from '@carillon/kernel';
import type { SourceTopic, TopicCheck, TopicSources, TopicTarget } from '@carillon/ports';
import { integration, stream, workspaceOf } from '@carillon/testing/given';
import { createMemoryStores } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { accessOf, openControl, personWith, publishWishes, type Fixture } from './control-fixture.ts';

const PASSWORD = 'canary-9Wd3x1Lk';
const BUS = {
  kind: 'kafka',
  brokers: ['kafka.example.com:9093'],
  sasl: { mechanism: 'scram-sha-512', username: 'carillon', password: { secret: 'BUS_PASSWORD' } },
  tls: { ca: { secret: 'BUS_CA' } },
} as const;
const ORDERS: SourceTopic = { topic: 'orders', partitions: 3, problem: null };
const MISSING: SourceTopic = {
  topic: 'refunds',
  partitions: 0,
  problem: { reason: 'no_topic', detail: null, fix: null },
};

let fixture: Fixture;
let targets: TopicTarget[] = [];
let secrets: Readonly<Record<string, string>> = {};
let check: TopicCheck;
let asked: readonly string[] = [];
let topics: Awaited<ReturnType<TopicSources['topics']>>;

async function open(who = deploymentOwner('session')): Promise<void> {
  const topicSources = {
    check: async (target: TopicTarget, names: readonly string[]) => {
      targets.push(target);
      asked = names;
      return check;
    },
    topics: async (target: TopicTarget) => (targets.push(target), topics),
  };
  const places = {
    resolve: async (_workspace: string, name: string) => secrets[name] ?? null,
    locate: async () => null,
  };
  const { sources, drafts } = createMemoryStores().connect();
  fixture = await openControl(accessOf(who), {
    sources,
    drafts,
    topicSources: async () => topicSources,
    secrets: places as never,
  });
  await publishWishes(fixture, [
    workspaceOf({}, 'shop'),
    workspaceOf({}, 'acme'),
    integration('bus', BUS),
    integration('plain', { kind: 'kafka', brokers: ['10.0.0.4:9092'] }),
    stream('orders', { from: { integration: 'bus', topics: { orders: 'event.id', refunds: 'event.id' } } }),
    stream('rows', { format: 'debezium', from: { integration: 'bus', topics: { orders: 'event.id' } } }),
  ]);
}
beforeEach(async () => {
  targets = [];
  secrets = { BUS_PASSWORD: PASSWORD, BUS_CA: 'PEM' };
  check = { server: 'Kafka with 3 brokers', problems: [], topics: [ORDERS, MISSING] };
  topics = ok([ORDERS, { topic: 'audit', partitions: 1, problem: null }]);
  await open();
});
afterEach(() => fixture.control.app.close());

type Answered<Body> = { readonly status: number; readonly body: Body & { readonly code?: string } };

async function ask<Body>(method: 'GET' | 'POST', path: string, payload?: object): Promise<Answered<Body>> {
  const url = `/v1/workspaces/${path}`;
  const answer = await fixture.control.app.inject({ method, url, ...(payload && { payload }) });
  expect(answer.body).not.toContain(PASSWORD);
  return { status: answer.statusCode, body: answer.json<Answered<Body>['body']>() };
}
const checked = async (name = 'bus') =>
  (await ask<CheckBody>('POST', `shop/integrations/${name}/check`, {})).body.steps.map((step) => ({ ...step }));
const listed = (name = 'bus', workspace = 'shop') =>
  ask<KafkaTopicsBody>('GET', `${workspace}/integrations/${name}/topics`);

describe('the check of a Kafka cluster', () => {
  it('connects with the secrets of the workspace, and names server and topics of streams', async () => {
    expect(await checked()).toEqual([
      { step: 'integration', ok: true, detail: 'kind kafka' },
      { step: 'server', ok: true, detail: 'Kafka with 3 brokers' },
      { step: 'topic orders', ok: true, detail: 'can be read, 3 partitions' },
      {
        step: 'topic refunds',
        ok: false,
        detail: 'No topic is called refunds. Create it, or remove it from the stream.',
        fix: null,
      },
    ]);
    expect(asked).toEqual(['orders', 'refunds']);
    expect(targets).toEqual([
      {
        workspace: 'shop',
        integration: 'bus',
        brokers: BUS.brokers,
        tls: { ca: 'PEM' },
        sasl: { mechanism: 'scram-sha-512', username: 'carillon', password: PASSWORD },
      },
    ]);
  });

  it('connects without encryption and sign-in if none is configured', async () => {
    await publishWishes(fixture, [integration('plain', { kind: 'kafka', brokers: ['10.0.0.4:9092'] })]);
    await checked('plain');
    expect(targets).toMatchObject([{ brokers: ['10.0.0.4:9092'], tls: null, sasl: null }]);
  });

  it('explains in Kafka terms why the cluster cannot be read', async () => {
    check = { server: null, problems: [{ reason: 'refused_login', detail: null, fix: null }], topics: [] };
    expect((await checked()).at(-1)).toEqual({
      step: 'refused_login',
      ok: false,
      detail:
        'The Kafka cluster refuses user or password. Store the right password in the secret that the integration names.',
      fix: null,
    });
  });

  it('names each secret that is not set, and does not connect', async () => {
    secrets = {};
    const steps = await checked();
    expect(steps.map(({ step, ok: isOk }) => [step, isOk])).toEqual([
      ['integration', true],
      ['secret', false],
      ['secret', false],
    ]);
    expect(targets).toEqual([]);
  });
});

describe('the topics of a Kafka cluster', () => {
  it('are listed with their partitions, by name', async () => {
    expect((await listed()).body).toEqual({
      items: [
        { topic: 'audit', partitions: 1, problem: null },
        { topic: 'orders', partitions: 3, problem: null },
      ],
      next: null,
      problem: null,
    });
  });

  it('say why they cannot be listed', async () => {
    topics = err({ reason: 'refused_login', detail: null, fix: null });
    expect((await listed()).body).toMatchObject({ items: [], problem: { reason: 'refused_login' } });
    secrets = {};
    expect((await listed()).body.code).toBe('secret_missing');
  });

  it('are shown to those who configure the workspace only', async () => {
    await fixture.control.app.close();
    await open(personWith('ann', ['read', 'configure'], 'acme'));
    expect([(await listed()).status, (await listed('bus', 'acme')).status]).toEqual([403, 404]);
    await fixture.control.app.close();
    await open(personWith('bob', ['read', 'operate'], 'shop'));
    expect((await listed()).status).toBe(403);
    expect(targets).toEqual([]);
  });

  it('are none of a database', async () => {
    await publishWishes(fixture, [integration('shop-db', { kind: 'postgres', url: { secret: 'SHOP_DB' } })]);
    expect((await listed('shop-db')).status).toBe(404);
    expect((await ask('GET', 'shop/integrations/bus/tables')).status).toBe(404);
  });
});
