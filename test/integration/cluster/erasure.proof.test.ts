import { openKafkaLog } from '@carillon/adapter-kafka';
import { PERSONAL_TOPICS } from '@carillon/contracts';
import { startProduct, untilFound, type Product } from '@carillon/testing';
import { settingsFor, startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import kafkajs from 'kafkajs';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import {
  answersOf,
  certificateOf,
  fillPerson,
  lookAt,
  markedFiles,
  markedOrder,
  markedPerson,
  placesWith,
  startErasure,
  type EventsOf,
} from '../product/erased-people.ts';
import { caller, openShop, type Shop } from '../product/shop.ts';

/* Half of the people are erased on Kafka and MongoDB, by one of two processes. */

const TIMEOUT = 900_000;
const PEOPLE = Array.from({ length: Number(process.env['PEOPLE'] ?? 20) }, (_, number) => markedPerson(number));
const [GONE, STAYING] = [PEOPLE.slice(0, PEOPLE.length / 2), PEOPLE.slice(PEOPLE.length / 2)];
/** The brokers look for old segments every second. */
const KAFKA = { properties: { 'log.retention.check.interval.ms': '1000', 'log.initial.task.delay.ms': '1000' } };

describeWith(['kafka', 'mongodb', 'registry'], 'Erased people on a cluster', () => {
  let services: ClusterServices;
  let shop: Shop & { close(): Promise<void> };
  let other: Product;
  let mongo: MongoClient;
  const events = new Map<string, EventsOf>();
  const ends: (() => Promise<unknown> | void)[] = [];
  beforeAll(async () => {
    services = await startClusterServices({ kafka: KAFKA });
    ends.push(() => services.stop());
    const env = { ...settingsFor(services), CARILLON_START_PATIENCE: '120' };
    shop = await openShop({ files: markedFiles(), env });
    ends.push(() => shop.close());
    other = await startProduct({ dataDir: shop.dataDir, env });
    ends.push(() => other.kill('SIGKILL'));
    mongo = new MongoClient(services.mongodb.url);
    ends.push(() => mongo.close());
  }, TIMEOUT);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  }, TIMEOUT);

  async function documents(): Promise<Readonly<Record<string, string>>> {
    const texts: Record<string, string> = {};
    for (const { name: database } of (await mongo.db().admin().listDatabases()).databases) {
      if (!database.startsWith('carillon')) continue;
      for (const { name } of await mongo.db(database).listCollections().toArray()) {
        texts[`${database}.${name}`] = JSON.stringify(await mongo.db(database).collection(name).find().toArray());
      }
    }
    return texts;
  }

  /** The log as it is on the brokers. */
  async function rawLog(): Promise<Readonly<Record<string, string>>> {
    const log = await openKafkaLog({ connection: { brokers: services.kafka.brokers, clientId: 'carillon-test' } });
    try {
      const texts: Record<string, string> = {};
      for (const topic of PERSONAL_TOPICS) {
        for (let partition = 0; partition < log.partitions(topic); partition += 1) {
          const { start, end } = await log.bounds(topic, partition);
          const records = start < end ? await log.read(topic, partition, start, end - start) : [];
          texts[`${topic}/${partition}`] = records
            .map(({ key, headers, value }) => key + JSON.stringify(headers) + Buffer.from(value).toString('latin1'))
            .join('\n');
        }
      }
      return texts;
    } finally {
      await log.close();
    }
  }

  async function alterRetention(topic: string, settings: Readonly<Record<string, string>>): Promise<void> {
    const admin = new kafkajs.Kafka({ brokers: [...services.kafka.brokers], clientId: 'carillon-test' }).admin();
    await admin.connect();
    try {
      const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
      const type = kafkajs.ConfigResourceTypes.TOPIC;
      await admin.alterConfigs({ validateOnly: false, resources: [{ type, name: topic, configEntries }] });
    } finally {
      await admin.disconnect();
    }
  }

  it(
    'are found, in stores and on the log',
    async () => {
      const [first = markedPerson(0), ...others] = PEOPLE;
      events.set(first.mark, await fillPerson(shop, first));
      const look = await untilFound('all of a person is found', async () => {
        const found = await lookAt(shop.api, first.email);
        return (found.found['field_samples'] ?? 0) > 0 ? found : undefined;
      });
      expect(look.found).toMatchObject({
        deliveries: 3,
        limits: 1,
        rule_states: 1,
        suppressions: 1,
        opt_outs: 1,
        inbox: 3,
      });
      // Fields keep one sample each, which is of the newest person.
      for (const person of others) events.set(person.mark, await fillPerson(shop, person));
    },
    TIMEOUT,
  );

  it(
    'are erased, and no process, store or answer holds anything of them',
    async () => {
      for (const [at, person] of GONE.entries()) {
        const api = at % 2 === 0 ? shop.api : caller(other);
        const { look, id } = await startErasure(api, at % 3 === 0 ? person.userId : person.email);
        const certificate = await certificateOf(api, id);
        expect(certificate.erased).toEqual(look.found);
        const [onLog] = certificate.remains;
        expect(onLog).toMatchObject({ where: 'log' });
        // The default retention is 30 days, and a segment may hold records of one day more.
        expect(Date.parse(onLog?.until ?? '') - Date.now()).toBeGreaterThan(30 * 86_400_000);
        const gone = GONE.slice(0, at + 1);
        const seen = [...events].filter(([mark]) => gone.some((one) => one.mark === mark)).map(([, of]) => of);
        expect(placesWith(await answersOf(caller(at % 2 === 0 ? other : shop.product), seen), gone)).toEqual([]);
      }
      expect(placesWith(await documents(), GONE)).toEqual([]);
      expect(placesWith({ logs: shop.product.stderr() + other.stderr() }, GONE)).toEqual([]);
    },
    TIMEOUT,
  );

  it(
    'leave the other people whole',
    async () => {
      for (const person of STAYING) {
        const { paid, open } = events.get(person.mark) ?? { paid: '', open: '' };
        const found = await shop.deliveries(`&event=${paid}`);
        expect(found.map(({ state }) => state)).toEqual(['SENT', 'SENT', 'SENT']);
        expect(new Set(found.map(({ to }) => to))).toEqual(new Set([person.phone, person.token, person.email]));
        const entity = `/v1/workspaces/shop/streams/orders/entities/W-${person.mark.slice(3, 5)}`;
        const state = await caller(other)<{ rules: { waits_until: string | null }[] }>('GET', entity);
        expect(state.body.rules[0]?.waits_until).not.toBeNull();
        expect(JSON.stringify((await shop.api('GET', `/v1/workspaces/shop/events/${open}/content`)).body)).toContain(
          person.mark,
        );
      }
    },
    TIMEOUT,
  );

  it(
    'get no mail from the next event, and none a second time',
    async () => {
      const [person = markedPerson(0)] = GONE;
      const next = await shop.send(markedOrder(person, 'A-9'));
      await untilFound('the opt-out holds', async () => {
        const found = await shop.deliveries(`&event=${next}`);
        return found.length === 3 && found.every(({ reason }) => reason === 'opted_out') ? true : undefined;
      });
      const again = await shop.send(markedOrder(person, 'A-1'));
      await untilFound('the repeated messages are duplicates', async () =>
        (await shop.story(again)).includes('duplicate') ? true : undefined,
      );
    },
    TIMEOUT,
  );

  it(
    'are refused while a topic with personal data is kept forever',
    async () => {
      await alterRetention('carillon.outcomes', { 'retention.ms': '-1' });
      const refused = await shop.api('POST', '/v1/workspaces/shop/erasures', {
        person: STAYING[0]?.email,
        reason: 'asked by letter',
      });
      expect(refused).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
      expect(refused.body.detail).toContain('carillon.outcomes');
    },
    TIMEOUT,
  );

  it(
    'are on no broker after retention',
    async () => {
      const people = GONE.slice(1);
      expect(placesWith(await rawLog(), people)).not.toEqual([]);
      await Promise.all([shop.product.kill('SIGTERM'), other.kill('SIGTERM')]);
      const topics = PERSONAL_TOPICS.filter((topic) => topic !== 'carillon.consents');
      for (const topic of topics) await alterRetention(topic, { 'retention.ms': '1000', 'segment.ms': '1000' });
      const left = await untilFound(
        'retention has removed the records',
        async () => (placesWith(await rawLog(), people).length === 0 ? true : undefined),
        120_000,
      );
      expect(left).toBe(true);
    },
    TIMEOUT,
  );
});
