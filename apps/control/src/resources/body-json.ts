import { readJson, type JsonLimits } from '@carillon/domain';
import { CarillonError, type ErrorCode } from '@carillon/kernel';
import type { FastifyInstance } from 'fastify';

/** What a body may be refused for before anything of it is read. */
export const STRICT_JSON_PROBLEMS = [
  'duplicate_key',
  'forbidden_key',
  'number_out_of_range',
  'too_deep',
  'too_many_keys',
] as const satisfies readonly ErrorCode[];

/** No file is larger than 64 Ki characters; a template has several. */
export const MOST_BODY_BYTES = 1024 * 1024;
const LIMITS: JsonLimits = { depth: 32, keys: 20_000 };

/**
 * Bodies of resources are read as strictly as events: a key that is there twice, or means something to JavaScript, is refused
 * with its place, since two readers would understand it differently.
 */
export function takeStrictJson(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json');
  const options = { parseAs: 'buffer', bodyLimit: MOST_BODY_BYTES } as const;
  app.addContentTypeParser('application/json', options, (_request, bytes: Buffer, done) => {
    if (bytes.length === 0) return done(null, undefined);
    const read = readJson(bytes, LIMITS);
    if (read.ok) return done(null, JSON.parse(bytes.toString('utf8')));
    const { code, detail, ...facts } = read.error;
    return done(new CarillonError(code, detail, facts));
  });
}
