import { namesBody } from '@carillon/contracts';
import { z } from 'zod';
import { personNames } from '../../person-names.ts';
import type { ControlPorts } from '../../ports.ts';
import type { ApiServer } from '../app.ts';

const MAX_IDS = 100;
const id = z.string().max(100);
const query = z.strictObject({
  id: z
    .union([id.transform((one) => [one]), z.array(id).min(1).max(MAX_IDS)])
    .describe(`Ids of people (\`per_…\`), at most ${MAX_IDS}`),
});

/**
 * Returns the names of people by id. A reader of a record knows the ids in it. Ids cannot be guessed, so the route does not list
 * other people.
 */
export function namesRoute(app: ApiServer, ports: Pick<ControlPorts, 'people'>): void {
  app.get(
    '/v1/names',
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: 'readNames',
        tags: ['People'],
        summary: 'Names of people, by the ids that records keep of them',
        querystring: query,
        response: { 200: namesBody },
      },
    },
    async (request) => {
      const nameOf = personNames(ports);
      const ids = [...new Set(request.query.id)];
      const named = await Promise.all(ids.map(async (one) => ({ id: one, name: await nameOf(one) })));
      return { people: named.filter((one) => one.name !== one.id) };
    },
  );
}
