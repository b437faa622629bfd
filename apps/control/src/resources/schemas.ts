import { bodyJsonSchema } from '@carillon/configuration';
import { jwtProviderBody, next, OPEN, resourceFacts } from '@carillon/contracts';
import { z } from 'zod';
import { pageSize } from '../routes/app.ts';
import type { KindOfResource } from './kinds.ts';

/**
 * Creates the schemas of a kind. The body is described by the shape that files are read by, but any JSON is accepted,
 * because `readResourceBodies` reports all mistakes together, each with its path and fix.
 */
function makeSchemas({ kind, one }: KindOfResource) {
  const body = z.unknown().meta({ id: `${one}Body`, ...bodyJsonSchema(kind), ...OPEN });
  const shown = resourceFacts.extend({ kind: z.literal(kind), body });
  const resource = shown.meta({ id: `${one}Resource` });
  // Its list was there before, with what of it matters for tokens.
  const item = kind === 'jwt_provider' ? shown.extend(jwtProviderBody.shape).meta({ id: 'JwtProvider' }) : resource;
  const list = z.object({ items: z.array(item), next }).meta({ id: `${one}List` });
  return { body, resource, list };
}

const MADE = new Map<string, ReturnType<typeof makeSchemas>>();

/** The schemas of a kind, made once: their names are of the whole process. */
export function schemasOf(kind: KindOfResource): ReturnType<typeof makeSchemas> {
  const made = MADE.get(kind.kind) ?? makeSchemas(kind);
  MADE.set(kind.kind, made);
  return made;
}

/** Headers of conditional writes, of resources and of drafts. Other headers pass through. */
export const writeHeaders = z.looseObject({
  'if-match': z
    .string()
    .max(200)
    .optional()
    .describe('The `ETag` that you read: replaces or removes that one and no other'),
  'if-none-match': z.string().max(200).optional().describe('`*`: makes it, where there is none of this name'),
});

/** Query of a list by number, newest first. */
export const numberPaging = z.strictObject({
  limit: pageSize.default(50),
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, { error: 'takes the `next` of the page before' })
    .optional(),
});
export const beforeOf = (cursor: string | undefined): number =>
  cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor);

const number = z.coerce.number('takes a number of the configuration').int().min(0);
export const diffQuery = z.strictObject({
  from: number.describe('Configuration number'),
  to: number.optional().describe('Defaults to the published schema'),
});
export const numberParam = number;
