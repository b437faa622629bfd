import type { NamesBody } from '@carillon/contracts';
import type { Client, CommonOptions } from '../client.ts';
import { clean } from '../output.ts';
import { answer } from './api-command.ts';

const PERSON = /\bper_[0-9A-Z]{26}\b/g;
/** With the blanks behind it, which keep the columns of a table in line. */
const PADDED = /\bper_[0-9A-Z]{26}\b(?: +(?=\S))?/g;
/** Maximum ids per request. */
const MAX_IDS = 100;

/** Returns the text with the names of people in place of their ids. Ids without a name stay. */
export async function withNames(text: string, client: Pick<Client, 'get'>): Promise<string> {
  const ids = [...new Set(text.match(PERSON))].slice(0, MAX_IDS);
  if (ids.length === 0) return text;
  const query = ids.map((id) => `id=${id}`).join('&');
  const { people } = await client.get<NamesBody>(`/v1/names?${query}`);
  const names = new Map(people.map(({ id, name }) => [id, clean(name)]));
  return text.replace(PADDED, (found) => {
    const name = names.get(found.trimEnd());
    return name === undefined
      ? found
      : found.endsWith('  ')
        ? `${name}  `.padEnd(found.length)
        : found.replace(PERSON, name);
  });
}

/** Like `answer`, for output about other people: the text shows names instead of ids. JSON keeps the ids. */
export async function answerNamed<T>(
  options: CommonOptions,
  ask: (client: Client) => Promise<T>,
  show: (value: T) => string,
): Promise<T> {
  let text = '';
  return answer(
    options,
    async (client) => {
      const value = await ask(client);
      if (options.json !== true) text = await withNames(show(value), client);
      return value;
    },
    () => text,
  );
}
