import type { CodedFault } from './fault-words.ts';

type Group = Readonly<Record<string, unknown>>;
const isGroup = (value: unknown): value is Group =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isFault = (value: unknown): value is CodedFault & Group =>
  isGroup(value) && typeof value['code'] === 'string' && isGroup(value['facts']) && typeof value['path'] === 'string';

/** Fields of API answers that hold faults. */
const LISTS = ['faults', 'warnings'] as const;

const hasFaults = (body: unknown): boolean =>
  isGroup(body) && (LISTS.some((list) => listOf(body[list]).some(isFault)) || hasFaults(body['plan']));
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * Resolves to a body of the API with its faults and warnings in the portal's words: `message` and `fix` come as they are written for
 * the command line, with file names and YAML keys. The words are loaded with the first fault, so that no page waits for them.
 */
export async function inPortalWords<Body>(body: Body): Promise<Body> {
  if (!hasFaults(body)) return body;
  const { wordsOf } = await import('./fault-words.ts');
  const phrase = (value: unknown): unknown => (isFault(value) ? { ...value, ...wordsOf(value), expected: '' } : value);
  const inWords = (group: Group): Group =>
    Object.fromEntries(
      Object.entries(group).map(([key, value]) => {
        if (key === 'plan' && isGroup(value)) return [key, inWords(value)];
        const isList = LISTS.some((list) => list === key) && Array.isArray(value);
        return [key, isList ? value.map(phrase) : value];
      }),
    );
  return inWords(body as Group) as Body;
}
