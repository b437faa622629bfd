/** The least that can answer: takes the raw body and keeps nothing. */
import { fastify } from 'fastify';

const [port = '0'] = process.argv.slice(2);
const app = fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.post('/events', async (request, reply) => reply.code(202).send({ id: request.headers['idempotency-key'] }));
await app.listen({ host: '127.0.0.1', port: Number(port) });
