import { z } from 'zod';
import { open } from './privacy.ts';

/** Common parts of the bodies of the management API. */
export const time = z.string().describe('RFC 3339, UTC, milliseconds');
export const nullable = <T extends z.ZodType>(schema: T) => schema.nullable();

/** Cursors are sealed, and say nothing of what they hold. */
export const next = open(z.string()).nullable().describe('Cursor of the next page; null at the end');

/** A page of a collection, in the shape that all collections have. */
export const pageOf = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), next });
