import { readJson, type JsonLimits } from '@carillon/domain/events';
import { CarillonError, type ErrorCode } from '@carillon/kernel';
import type { FastifyInstance } from 'fastify';

/** Problems for which a body may be refused before any of it is read. */
export const STRICT_JSON_PROBLEMS = [
  'duplicate_key',
  'forbidden_key',
  'number_out_of_range',
  'too_deep',
  'too_many_keys',
] as const satisfies readonly ErrorCode[];

/** No file is larger than 64 Ki characters; a template has several. */
export const MAX_BODY_BYTES = 1024 * 1024;
const LIMITS: JsonLimits = { depth: 32, keys: 20_000 };
/** A route that takes larger bodies takes more fields: one for so many bytes. */
const BYTES_PER_KEY = 16;

/**
 * Reads JSON bodies of this scope as strictly as events: repeated fields, text after the value, lone surrogates and
 * names such as `__proto__` are refused with their position, because two readers would understand them differently.
 * `bodyLimit`: maximum bytes on routes that set none. Defaults to the limit of the server.
 */
export function takeStrictJson(app: FastifyInstance, bodyLimit?: number): void {
  app.removeContentTypeParser('application/json');
  const options = { parseAs: 'buffer', ...(bodyLimit !== undefined && { bodyLimit }) } as const;
  app.addContentTypeParser('application/json', options, (request, bytes: Buffer, done) => {
    if (bytes.length === 0) return done(null, undefined);
    const keys = Math.max(LIMITS.keys, Math.floor((request.routeOptions.bodyLimit ?? 0) / BYTES_PER_KEY));
    const read = readJson(bytes, { ...LIMITS, keys });
    if (read.ok) return done(null, JSON.parse(bytes.toString('utf8')));
    const { code, detail, ...facts } = read.error;
    return done(new CarillonError(code, detail, facts));
  });
}
