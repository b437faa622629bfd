import { api, bodyOf } from '../../../api/client.ts';
import { sampleText, type Plan } from './plan.ts';

/** A line that the API folds begins so. */
const FOLDED = '…';
const MAX_LINES = 1000;

/** Resolves to the body of an event on the log, as JSON text. Throws if it is gone or too long. */
async function readBody(workspace: string, id: string): Promise<string> {
  const { gone, lines, next } = await bodyOf(
    api.GET('/v1/workspaces/{workspace}/events/{id}/content', {
      params: { path: { workspace, id }, query: { limit: MAX_LINES } },
    }),
  );
  if (gone !== null) throw new Error(`The event ${id} cannot be read: ${gone}`);
  const texts = lines.map(({ text }) => text);
  if (next !== null || texts.some((text) => text.trimStart().startsWith(FOLDED))) {
    throw new Error(`The event ${id} is too long for a case. Paste a shorter one.`);
  }
  return texts.join('\n');
}

/** Resolves to the bodies of a plan's events as JSON text, in their order. */
export const readBodies = (
  workspace: string,
  { events }: Plan,
  sample: readonly string[],
): Promise<readonly string[]> =>
  Promise.all(
    events.map(async ({ source }) => {
      if (source.kind === 'log') return readBody(workspace, source.id);
      return source.kind === 'minimum' ? sampleText(sample, source.toCome) : source.text;
    }),
  );
