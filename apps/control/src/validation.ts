import { CarillonError } from '@carillon/kernel';
import type { FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';

/** A body, query or parameter that does not fit: a problem that names the field and says what was expected. */
export const compileValidator: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (data: unknown) => {
    const parsed = schema.safeParse(data);
    if (parsed.success) return { value: parsed.data };
    const words = parsed.error.issues.slice(0, 10).map((issue) => {
      const path = issue.path.map(String).join('.');
      return path === '' ? issue.message : `${path}: ${issue.message}`;
    });
    const [first] = parsed.error.issues;
    const pointer = first && first.path.length > 0 ? `/${first.path.map(String).join('/')}` : undefined;
    return { error: new CarillonError('invalid_request', words.join('; '), pointer === undefined ? {} : { pointer }) };
  };
