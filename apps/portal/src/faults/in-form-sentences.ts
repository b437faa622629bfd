import type { ApiFault } from './form-sentences.ts';

type Group = Readonly<Record<string, unknown>>;
const isGroup = (value: unknown): value is Group =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isFault = (value: unknown): value is ApiFault & Group =>
  isGroup(value) && typeof value['code'] === 'string' && isGroup(value['facts']) && typeof value['path'] === 'string';

/** Fields of API answers that hold faults. */
const LISTS = ['faults', 'warnings'] as const;

const hasFaults = (body: unknown): boolean =>
  isGroup(body) && (LISTS.some((list) => listOf(body[list]).some(isFault)) || hasFaults(body['plan']));
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * Resolves to a body of the API with its faults and warnings as forms show them: the API returns `message` and `fix` for files, with
 * paths and keys. The table of sentences is loaded with the first fault, so that no page waits for it.
 */
export async function inFormSentences<Body>(body: Body): Promise<Body> {
  if (!hasFaults(body)) return body;
  const { sentencesInForm } = await import('./form-sentences.ts');
  const phrase = (value: unknown): unknown =>
    isFault(value) ? { ...value, ...sentencesInForm(value), expected: '' } : value;
  const inSentences = (group: Group): Group =>
    Object.fromEntries(
      Object.entries(group).map(([key, value]) => {
        if (key === 'plan' && isGroup(value)) return [key, inSentences(value)];
        const isList = LISTS.some((list) => list === key) && Array.isArray(value);
        return [key, isList ? value.map(phrase) : value];
      }),
    );
  return inSentences(body as Group) as Body;
}
