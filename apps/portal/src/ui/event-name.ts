import type { Schemas } from '../api/client.ts';
import { momentWords } from './time-words.ts';

/** An event in a list to choose from: `14:32:05 · A-1001 · ada@example.com`. Who may not read events sees its id and size. */
export function eventName(
  { id, at, bytes, label }: Pick<Schemas['Event'], 'id' | 'at' | 'bytes' | 'label'>,
  now: Date,
  zone: string,
): string {
  const what = label === null || label === '' ? `${id} · ${bytes} bytes` : label;
  return `${momentWords(new Date(at), now, zone)} · ${what}`;
}
