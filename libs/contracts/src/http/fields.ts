import { z } from 'zod';

/** What bodies of the management API are made of. */
export const time = z.string().describe('RFC 3339, UTC, milliseconds');
export const nullable = <T extends z.ZodType>(schema: T) => schema.nullable();

/** A page of a collection, in the shape that all collections have. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next: z.string().nullable().describe('Cursor of the next page; null at the end') });
