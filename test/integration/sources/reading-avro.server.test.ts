import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import avro from 'avsc';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { ReadingTopics } from './reading-topics.ts';

const decimal = {
  type: 'bytes',
  scale: 2,
  'connect.parameters': { scale: '2' },
  'connect.name': 'org.apache.kafka.connect.data.Decimal',
};
const ENVELOPE = {
  type: 'record',
  name: 'Envelope',
  namespace: 'app.public.orders',
  fields: [
    {
      name: 'before',
      type: [
        'null',
        {
          type: 'record',
          name: 'Value',
          fields: [
            { name: 'id', type: 'long' },
            { name: 'total', type: decimal },
          ],
        },
      ],
    },
    { name: 'after', type: ['null', 'Value'] },
    {
      name: 'source',
      type: {
        type: 'record',
        name: 'Source',
        fields: ['connector', 'name', 'schema', 'table']
          .map((name) => ({ name, type: 'string' }))
          .concat([{ name: 'ts_ms', type: 'long' }]),
      },
    },
    { name: 'op', type: 'string' },
  ],
};

/** An envelope as a converter writes it: a zero byte, the id of the schema, Avro. */
function envelope(id: number): Buffer {
  const type = avro.Type.forSchema(structuredClone(ENVELOPE) as avro.Schema);
  const source = { connector: 'postgresql', name: 'app', schema: 'public', table: 'orders', ts_ms: 1_790_000_000_000 };
  const body = type.toBuffer({ before: null, after: { id, total: Buffer.from([4, 0xe2]) }, source, op: 'c' });
  return Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), body]);
}

describeWith('kafka', 'An engine that reads Avro', () => {
  let shared: ReadingTopics;
  let status = 500;
  const registry = createServer((request, response) => {
    const found = request.url === '/schemas/ids/7' ? status : 404;
    response.writeHead(found).end(JSON.stringify({ schema: JSON.stringify(ENVELOPE) }));
  });
  beforeAll(async () => {
    shared = await ReadingTopics.open((await sharedServer('kafka')).brokers);
    await once(registry.listen(0, '127.0.0.1'), 'listening');
  }, 60_000);
  afterAll(async () => {
    registry.close();
    await shared.drop();
  });

  it('waits for registry and schema, and skips nothing', async () => {
    const bus = shared.source();
    await bus.make({ orders: 1 });
    const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
    await bus.publish(['orders'], { registry: { url }, format: 'debezium' });
    await bus.untilReads();
    await bus.send('orders', { value: envelope(1) }, { value: envelope(2) });
    await bus.untilState('waiting', 'registry_away');
    status = 404;
    await bus.untilState('waiting', 'schema_unknown');
    expect(await bus.events()).toEqual([]);
    status = 200;
    const values = await bus.untilEvents(2);
    expect(values.map((value) => JSON.parse(value) as object)).toMatchObject([
      { op: 'create', event: { id: 1, total: 12.5 }, source: { table: 'public.orders' } },
      { op: 'create', event: { id: 2, total: 12.5 } },
    ]);
    await bus.untilState('running');
  });
});
