import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceBody } from '@carillon/contracts';
import { untilFound } from '@carillon/testing';
import { Kafka, logLevel, type Admin, type Producer } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/requirements.ts';
import { sharedServer } from '../support/shared-servers.ts';
import { embeddedHome } from './places.ts';
import { startCarillon, type Carillon } from './support.ts';

/*
 * 34. A topic is read
 *
 * Nobody sends an event to Carillon: it reads the records of a Kafka topic. The lines of docs/kafka-topics.md on a real Kafka.
 */

const ROOT = join(import.meta.dirname, '../..');
const EXAMPLE = 'docs/examples/orders-from-kafka';
const page = readFileSync(join(ROOT, 'docs/kafka-topics.md'), 'utf8');
const LINES = (/^```sh\n(CARILLON_[\s\S]*?)\n```$/m.exec(page)?.[1] ?? '').split('\n');
/** The topic `orders` of the page, on a Kafka that other tests use too. */
const TOPIC = `orders-${randomBytes(4).toString('hex')}`;

describeWith('kafka', '34. A topic is read, on one file', () => {
  let carillon: Carillon;
  let admin: Admin;
  let producer: Producer;
  let brokers: readonly string[];
  beforeAll(async () => {
    ({ brokers } = await sharedServer('kafka'));
    const kafka = new Kafka({ clientId: 'walkthrough', brokers: [...brokers], logLevel: logLevel.NOTHING });
    admin = kafka.admin();
    producer = kafka.producer();
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await carillon.leave();
    await admin.deleteTopics({ topics: [TOPIC] });
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  const inExample = (file: string): string => join(carillon.folder, EXAMPLE, 'workspaces/shop', file);
  async function replace(file: string, from: string, to: string): Promise<void> {
    const text = await readFile(inExample(file), 'utf8');
    expect(text).toContain(from);
    await writeFile(inExample(file), text.replace(from, to));
  }
  const source = async (): Promise<SourceBody | undefined> =>
    (await carillon.ask<{ items: readonly SourceBody[] }>(['sources'])).items[0];

  it('takes a few lines, from the start to a record', async () => {
    const [start = '', create = '', apply = '', , echo = ''] = LINES;
    const [, name = '', value = ''] = /^(CARILLON_\w+)=(\S+) npm start/.exec(start) ?? [];
    carillon = await startCarillon(await embeddedHome(), [], { [name]: value });
    await cp(join(ROOT, EXAMPLE), join(carillon.folder, EXAMPLE), { recursive: true });
    await replace('integrations/bus.yaml', '127.0.0.1:9092', brokers.join(', '));
    await replace('streams/order-records.yaml', '    orders:', `    ${TOPIC}:`);
    expect(create).toContain('--create --topic orders');
    await admin.createTopics({ topics: [{ topic: TOPIC, numPartitions: 1 }], waitForLeaders: true });
    await producer.send({ topic: TOPIC, messages: [{ value: '{"id":0,"status":"paid","email":"old@example.com"}' }] });
    const { code, out, err } = await carillon.command(apply.replace('npx carillon ', '').split(' '));
    expect({ code, out, err }).toMatchObject({ code: 0 });
    await untilFound('the topic is read', async () => ((await source())?.state === 'running' ? true : undefined));
    const [, record = ''] = /^echo '(.*)' \|$/.exec(echo) ?? [];
    await producer.send({ topic: TOPIC, messages: [{ value: record }] });
  });

  it('sends one mail, and none for older records of the topic', async () => {
    const message = await untilFound('the mail', async () => (await carillon.inbox())[0]);
    expect(message).toMatchObject({ to: 'ada@example.com', subject: 'Order 1 is paid' });
    expect(await carillon.inbox()).toHaveLength(1);
  });

  it('lists topics, lag and fields, and nothing is wrong', async () => {
    // An engine reports the lag every few seconds.
    await untilFound('the lag', async () => {
      const { out } = await carillon.command(['sources']);
      return /bus +running +\d+ s, 0 records/.test(out) || undefined;
    });
    const check = await carillon.command(['integration', 'check', 'bus']);
    expect(check.out).toContain(`topic ${TOPIC}: can be read, 1 partition`);
    const fields = await carillon.command(['events', 'fields', 'shop/order-records']);
    expect(fields.out).toContain('email');
  });

  it('keeps a record that is no event as a dead letter with topic, partition and offset', async () => {
    await producer.send({ topic: TOPIC, messages: [{ value: 'no JSON' }] });
    const letter = await untilFound('the dead letter', async () => {
      const { items } = await carillon.ask<{ items: readonly { id: string; position: string }[] }>(['dead-letters']);
      return items[0];
    });
    expect(letter.position).toBe(`source bus, topic ${TOPIC}/0@2`);
    const redriven = await carillon.command(['dead-letters', 'redrive', letter.id]);
    expect(redriven.code).not.toBe(0);
    expect(redriven.err).toContain('would fail again');
  });
});
