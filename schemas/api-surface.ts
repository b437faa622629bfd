/**
 * Writes what of the management API clients rely on, without prose and examples: at a release,
 * `node schemas/api-surface.ts > schemas/released/<version>/management-api.json`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PROSE = new Set(['description', 'summary', 'example', 'examples', 'title', 'tags', 'default']);
/** Below these, keys are names that somebody chose, such as a field called `title`. */
const NAMES = new Set(['properties', 'schemas', 'paths']);

/** The part of an OpenAPI document that clients rely on. */
export function apiSurface(value: unknown, areNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => apiSurface(one));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => areNames || !PROSE.has(key));
  return Object.fromEntries(kept.map(([key, one]) => [key, apiSurface(one, !areNames && NAMES.has(key))]));
}

if (import.meta.main) {
  const text = readFileSync(join(import.meta.dirname, 'openapi/management-api.json'), 'utf8');
  console.log(JSON.stringify(apiSurface(JSON.parse(text))));
}
