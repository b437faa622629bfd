/** What one writes first: each request is one `send`, acknowledged by all replicas, and then answered. */
import { fastify } from 'fastify';
import { Kafka, logLevel } from 'kafkajs';

const [port = '0', brokers = '', topic = '', mode = 'plain'] = process.argv.slice(2);
const kafka = new Kafka({ clientId: 'fastify-send', brokers: brokers.split(','), logLevel: logLevel.ERROR });
const producer = kafka.producer({ idempotent: mode === 'idempotent', allowAutoTopicCreation: false });
await producer.connect();

const app = fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.post<{ Body: Buffer }>('/events', async (request, reply) => {
  const id = String(request.headers['idempotency-key']);
  await producer.send({ topic, acks: -1, messages: [{ key: id, value: request.body }] });
  return reply.code(202).send({ id });
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
