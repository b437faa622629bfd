import { fastify } from 'fastify';
import type { Job } from './mails.ts';

/** Takes events at `/events`, and answers 202 once the queue has the job. */
export async function takeEvents(port: number, enqueue: (job: Job) => Promise<unknown>): Promise<void> {
  const app = fastify();
  app.post<{ Body: Job['event'] }>('/events', async (request, reply) => {
    const id = String(request.headers['idempotency-key']);
    await enqueue({ id, event: request.body });
    return reply.code(202).send({ id });
  });
  await app.listen({ host: '127.0.0.1', port });
}
