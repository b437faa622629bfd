import fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod';
import { carriesKey } from './credentials.ts';
import type { User } from './users.ts';

export { readUsers, type User } from './users.ts';

export type PartnerOptions = {
  /** The key that we gave to Carillon. */
  readonly key: string;
  readonly users: ReadonlyMap<string, User>;
};

/** What Carillon asks: at most 500 ids. Further fields may come one day; they do no harm. */
const question = z.object({ user_ids: z.array(z.string()).max(500) });

/** What it is answered: an item for each user whom we know. Whoever is missing here is nobody's recipient. */
const itemOf = ({ id, name, email, phone, token, variables }: User) => ({
  to: { email: email ?? null, phone: phone ?? null, token: token ?? null },
  // With the id in each item, an integration can say `match: variables.user_id`: then the order of items does not matter.
  variables: { ...variables, user_id: id, name },
});

/** A recipient-lookup endpoint: `POST /recipients`. */
export function createPartner({ key, users }: PartnerOptions): FastifyInstance {
  // The largest call has 500 ids of 255 characters, of up to 6 bytes each in JSON.
  const app = fastify({ bodyLimit: 1024 * 1024 });

  app.addHook('onRequest', async (request, reply) => {
    if (carriesKey(request.headers.authorization, key)) return;
    await reply.code(401).header('www-authenticate', 'Bearer').send({ error: 'the key is missing or wrong' });
  });

  app.post('/recipients', async (request, reply) => {
    const read = question.safeParse(request.body);
    if (!read.success) return reply.code(400).send({ error: 'expected {"user_ids": ["…"]}, at most 500' });
    return read.data.user_ids.flatMap((id) => {
      const user = users.get(id);
      return user ? [itemOf(user)] : [];
    });
  });

  return app;
}
