import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Whom we know. Leave out what there is no data for. */
const user = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  email: z.email().optional(),
  phone: z
    .string()
    .regex(/^\+[1-9]\d{6,14}$/, 'international format: + and digits')
    .optional(),
  token: z.string().min(1).optional(),
  /** More values for templates and rules. */
  variables: z.record(z.string(), z.json()).optional(),
});
export type User = z.infer<typeof user>;

/** Reads the file of users; throws with every mistake in it. */
export function readUsers(file: string | URL): ReadonlyMap<string, User> {
  const users = z.array(user).parse(JSON.parse(readFileSync(file, 'utf8')));
  return new Map(users.map((one) => [one.id, one]));
}
