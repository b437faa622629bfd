import { CHANGED_BY_OWNER } from '@carillon/domain/configuration';
import { createSchemaRegistry } from '@carillon/adapter-schema-registry';
import { createRecordCodecs, RECORD_SCHEMAS, type DeadLetterBody } from '@carillon/contracts';
import { formatInstant } from '@carillon/kernel';
import { untilFound } from '@carillon/testing';
import { givenIntent } from '@carillon/testing/given';
import { expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { order, shopFiles } from '../product/shop.ts';
import { TIMEOUT, useShopOnCluster } from './shop-on-cluster.ts';

const WITHIN = 120_000;
const INTENTS = 'carillon.intents';
const text = (value: string): Uint8Array => new TextEncoder().encode(value);
/** A record framed with this schema id, and something after it. */
const framed = (id: number): Uint8Array => {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(1, id);
  return bytes;
};

describeWith(['kafka', 'mongodb', 'registry'], 'Records on Kafka that nobody can read', () => {
  const running = useShopOnCluster();

  const letters = async (): Promise<readonly DeadLetterBody[]> =>
    (await running().shop.api<{ items: DeadLetterBody[] }>('GET', '/v1/dead-letters?limit=200')).body.items;
  const letterOf = (partition: number, topic: string, reason: string): Promise<DeadLetterBody> =>
    untilFound(
      `a dead letter of ${topic}/${partition}: ${reason}`,
      async () =>
        (await letters()).find(
          (one) => one.position.startsWith(`${topic}/${partition}@`) && one.reason.startsWith(`${reason}: `),
        ),
      WITHIN,
    );
  /** Enough orders that each partition of the intents gets one: all of them go on. */
  const everyPartitionGoesOn = async (name: string): Promise<void> => {
    const { shop } = running();
    const events = await Promise.all(Array.from({ length: 24 }, (_, at) => shop.send(order(`${name}-${at}`))));
    for (const event of events) await shop.delivered(event, 'SENT');
  };

  it(
    'become dead letters: truncated, unframed, of an unknown schema, of another topic, empty',
    async () => {
      const { services, foreign } = running();
      const registry = createSchemaRegistry({ url: services.registry.url });
      const outcomes = await registry.register(RECORD_SCHEMAS.outcome.subject, RECORD_SCHEMAS.outcome.current);
      const codecs = await createRecordCodecs(registry, Date.now);
      const whole = codecs.intent.encode(givenIntent('truncated'));
      registry.close();
      await foreign.write(INTENTS, 0, whole.subarray(0, whole.length - 20));
      await foreign.write(INTENTS, 1, text('{"hello": "world"}'));
      await foreign.write(INTENTS, 2, framed(1_000_000));
      await foreign.write(INTENTS, 3, framed(0xff_ff_ff_ff));
      await foreign.write(INTENTS, 4, framed(outcomes));
      await foreign.write(INTENTS, 5, new Uint8Array());
      await foreign.write('carillon.events', 0, text('{"order_id": "foreign"}'));
      await foreign.write('carillon.outcomes', 0, text('no frame'));
      expect((await letterOf(0, INTENTS, 'not_avro')).stage).toBe('deliver');
      expect((await letterOf(1, INTENTS, 'not_framed')).reason).toContain('the first byte is 123, expected 0');
      expect((await letterOf(2, INTENTS, 'unknown_schema')).reason).toContain('no schema 1000000 of carillon.intents');
      await letterOf(3, INTENTS, 'unknown_schema');
      await letterOf(4, INTENTS, 'unknown_schema');
      await letterOf(5, INTENTS, 'not_framed');
      expect((await letterOf(0, 'carillon.events', 'unknown_kind')).stage).toBe('evaluate');
      expect((await letterOf(0, 'carillon.outcomes', 'not_framed')).stage).toBe('project');
      await everyPartitionGoesOn('broken');
      expect(await letters()).toHaveLength(8);
    },
    TIMEOUT,
  );

  it(
    'do not block others at the maximum record size, and redrive reads them at their position',
    async () => {
      const { shop, foreign } = running();
      const facts = { kind: 'event', enc: '0', event_id: 'evt_HUGE', workspace: 'shop', stream: 'shop/orders' };
      await foreign.write(INTENTS, 6, new Uint8Array(4_000_000).fill(1));
      await foreign.write('carillon.events', 1, text(JSON.stringify({ text: 'x'.repeat(4_000_000) })), facts);
      const huge = await letterOf(6, INTENTS, 'not_framed');
      expect(huge.reason).toContain('too large to be kept here: it is at its place on the log');
      await letterOf(1, 'carillon.events', 'body_too_large');
      await everyPartitionGoesOn('huge');
      const before = (await letters()).length;
      expect(await shop.run(['dead-letters', 'redrive', huge.id])).toMatchObject({ code: 0 });
      await untilFound('its return', async () => (await letters()).length > before || undefined, WITHIN);
    },
    TIMEOUT,
  );

  it(
    'are not produced by a rule whose output exceeds the record size: that recipient is dropped with a reason',
    async () => {
      const { shop } = running();
      const growing = shopFiles()['workspaces/shop/notifications/order-paid.yaml']?.replace(
        'to: { email: event.email }',
        `to: { email: event.email }\n      variables: { ${Array.from({ length: 30 }, (_, at) => `v${at}: event.note`).join(', ')} }`,
      );
      await shop.apply({ ...shopFiles(), 'workspaces/shop/notifications/order-paid.yaml': growing ?? '' });
      const event = await shop.send(order('grown', { note: 'x'.repeat(200_000) }));
      const story = await untilFound(
        'it was judged',
        async () => {
          const { stdout } = await shop.run(['trace', event]);
          return stdout.includes('1 rule saw it') ? stdout : undefined;
        },
        WITHIN,
      );
      expect(story).toContain('recipient 1 dropped: too_large');
      await shop.apply(shopFiles());
      await everyPartitionGoesOn('grown');
    },
    TIMEOUT,
  );

  it(
    'are not produced by long ids and addresses, which fit the database indexes',
    async () => {
      const { shop } = running();
      const long = 'y'.repeat(100_000);
      await shop.apply(shopFiles({ uniqueId: 'event.long' }));
      const event = await shop.send(order('long', { long, email: `${long}@example.com` }));
      expect((await shop.delivered(event)).unique_id).toBe(long);
      await shop.apply(shopFiles());
      await everyPartitionGoesOn('long');
    },
    TIMEOUT,
  );

  it(
    'of a newer version are read by their schema in the registry; the partition waits while the registry is away',
    async () => {
      const { services, shop, foreign } = running();
      const registry = createSchemaRegistry({ url: services.registry.url });
      const { subject, current } = RECORD_SCHEMAS.intent;
      const codecs = await createRecordCodecs(registry, Date.now);
      /** An intent as a program writes it whose schema has one more field at its end. */
      const newer = async (name: string, field: string): Promise<Uint8Array> => {
        const schema = JSON.parse(current) as { fields: object[] };
        schema.fields.push({ name: field, type: 'string', default: '' });
        const id = await registry.register(subject, JSON.stringify(schema));
        const bytes = Uint8Array.of(...codecs.intent.encode(givenIntent(name, { uniqueId: name })), 2, 0x78);
        new DataView(bytes.buffer).setUint32(1, id);
        return bytes;
      };
      const isTaken = (name: string): Promise<true> =>
        untilFound(
          `${name} is in the ledger`,
          async () => (await shop.deliveries()).some((one) => one.unique_id === name) || undefined,
          WITHIN,
        );
      await foreign.write(INTENTS, 7, await newer('newer-1', 'added_later'));
      await isTaken('newer-1');

      const waiting = await newer('newer-2', 'added_later_still');
      await services.registry.kill();
      const before = await letters();
      await foreign.write(INTENTS, 7, waiting);
      await untilFound(
        'the partition waits and says why',
        () =>
          /schema registry.* connect ECONNREFUSED.*batch failed, trying again/.test(shop.product.stderr()) || undefined,
        WITHIN,
      );
      expect((await letters()).length).toBe(before.length);
      await services.registry.restart();
      await isTaken('newer-2');
      await everyPartitionGoesOn('newer');
      expect(await letters()).toEqual(before);
      registry.close();
    },
    TIMEOUT,
  );

  it(
    'stop the configuration while their schema is unknown: no role applies a part of it, and reading resumes without help',
    async () => {
      const { services, shop, foreign } = running();
      const registry = createSchemaRegistry({ url: services.registry.url });
      const { current } = RECORD_SCHEMAS.configuration;
      const worded = (doc: string): string => JSON.stringify({ ...(JSON.parse(current) as object), doc });
      const nobodyKnows = 1 + (await registry.register('later.config-1', worded('one')));
      const codecs = await createRecordCodecs(registry, Date.now);
      const bytes = codecs.configuration.encode({
        id: 'req_LATER',
        at: formatInstant(Date.now()),
        by: CHANGED_BY_OWNER,
        changes: [],
      });
      new DataView(bytes.buffer, bytes.byteOffset).setUint32(1, nobodyKnows);
      const ready = () => fetch(`${shop.product.controlUrl}/readyz`);
      await foreign.write('carillon.config', 0, bytes);
      await untilFound('it is not ready', async () => (await ready()).status === 503 || undefined, WITHIN);
      const place = /record \d+ of carillon\.config\/0 cannot be read \(unknown_schema/;
      expect(await (await ready()).text()).toMatch(place);
      const doctor = await shop.run(['doctor']);
      expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(place)]);
      await untilFound(
        'events are refused',
        async () => (await shop.post('shop/orders', order('stale'))).body.code === 'configuration_stale' || undefined,
        WITHIN,
      );
      expect(shop.product.stderr()).toMatch(place);

      expect(await registry.register('later.config-2', worded('two'))).toBe(nobodyKnows);
      // That nobody knows a schema is remembered for a minute.
      await untilFound('it is ready', async () => (await ready()).ok || undefined, 2 * WITHIN);
      await everyPartitionGoesOn('stale');
      expect((await shop.run(['doctor'])).stdout).toMatch(/^ok +configuration: number \d+, read to its end/m);
      registry.close();
    },
    2 * TIMEOUT,
  );
});
