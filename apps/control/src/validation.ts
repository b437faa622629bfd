import { CarillonError } from '@carillon/kernel';
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify';
import { z } from 'zod';
import { insteadOf } from './names.ts';

/** A body, query or parameter that does not fit: a problem that names the field and says what was expected. */
export const compileValidator: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (data: unknown) => {
    const parsed = schema.safeParse(httpPart === 'querystring' ? withLists(schema, data) : data);
    if (parsed.success) return { value: parsed.data };
    if (httpPart === 'body' && schema instanceof z.ZodObject && (data ?? null) === null)
      return { error: new CarillonError('invalid_request', describeMissingBody(schema)) };
    const issues = parsed.error.issues.flatMap((issue) =>
      httpPart === 'querystring' ? strayOnes(issue, schema) : [issue],
    );
    const words = issues.slice(0, 10).map((issue) => {
      const path = placeOf(issue.path, httpPart).join('.');
      return path === '' ? issue.message : `${path}: ${issue.message}`;
    });
    const [first] = issues;
    const pointer = first && first.path.length > 0 ? `/${placeOf(first.path, httpPart).join('/')}` : undefined;
    return { error: new CarillonError('invalid_request', words.join('; '), pointer === undefined ? {} : { pointer }) };
  };

/** Names the fields that the body of an operation must have. */
function describeMissingBody({ shape }: z.ZodObject): string {
  const required = Object.entries(shape).filter(([, field]) => !z.safeParse(field, undefined).success);
  const fields = required.map(([name]) => name).join(', ');
  return `the body is missing: send a JSON object${fields === '' ? ', such as {}' : ` with ${fields}`}`;
}

type Fault = Pick<z.core.$ZodIssue, 'path' | 'message'>;

/** Reports each unknown parameter as a separate fault that lists the known parameters. */
function strayOnes(issue: z.core.$ZodIssue, schema: z.ZodType): readonly Fault[] {
  if (issue.code !== 'unrecognized_keys') return [issue];
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return issue.keys.map((name) => ({
    path: [name],
    message: known.length === 0 ? 'this takes no parameters' : `there is no such parameter; ${insteadOf(name, known)}`,
  }));
}

/** Which of several values of a parameter is wrong is said by the value. */
const placeOf = (path: readonly PropertyKey[], httpPart: string | undefined): readonly string[] =>
  path.filter((step) => httpPart !== 'querystring' || typeof step !== 'number').map(String);

/** Parameters with several values may be given once with commas, or once per value. */
function withLists(schema: z.ZodType, data: unknown): unknown {
  if (!(schema instanceof z.ZodObject) || data === null || typeof data !== 'object') return data;
  const lists = Object.entries(schema.shape).filter(
    ([, field]) => (field instanceof z.ZodOptional ? field.unwrap() : field) instanceof z.ZodArray,
  );
  const given = data as Readonly<Record<string, unknown>>;
  const read = lists.flatMap(([name]) => {
    const value = given[name];
    if (value === undefined) return [];
    const texts = (Array.isArray(value) ? value : [value]).flatMap((text) => String(text).split(','));
    return [[name, texts.map((text) => text.trim()).filter((text) => text !== '')] as const];
  });
  return read.length === 0 ? data : { ...given, ...Object.fromEntries(read) };
}

/** Refuses parameters of operations that take none, because the caller expects an effect. */
export function refuseStrayParameters(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    route.schema = { querystring: z.strictObject({}), ...route.schema };
  });
}
