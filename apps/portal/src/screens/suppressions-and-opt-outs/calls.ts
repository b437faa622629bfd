import { api, bodyOf, type Schemas } from '../../api/client.ts';
import type { Page } from '../../api/pages.ts';
import { undoing, type Undo } from '../../ui/notices.ts';
import type { Channel, Consent, Source, Suppression } from './entry-text.ts';

export const SUPPRESSIONS = '/v1/workspaces/{workspace}/suppressions';
export const CONSENTS = '/v1/workspaces/{workspace}/consents';
/** Rows of one page: enough for two screens. */
const PAGE_SIZE = 50;

export type SuppressionFilter = { readonly address?: string; readonly channel?: string; readonly source?: string };

export const loadSuppressions =
  (workspace: string, filter: SuppressionFilter) =>
  (cursor: string | null, signal: AbortSignal): Promise<Page<Suppression>> => {
    // The server says of a word that it does not know which one was meant.
    const words = filter as { readonly address?: string; readonly channel?: Channel; readonly source?: Source };
    const query = { ...words, limit: PAGE_SIZE, ...(cursor !== null && { cursor }) };
    return bodyOf(api.GET(SUPPRESSIONS, { params: { path: { workspace }, query }, signal }));
  };

export const loadConsents =
  (workspace: string, person: string) =>
  (cursor: string | null, signal: AbortSignal): Promise<Page<Consent>> => {
    const query = { limit: PAGE_SIZE, ...(person !== '' && { person }), ...(cursor !== null && { cursor }) };
    return bodyOf(api.GET(CONSENTS, { params: { path: { workspace }, query }, signal }));
  };

/** Entries of a job: those named, or all that match a filter. */
export type ChosenEntries =
  | { readonly entries: readonly Pick<Suppression, 'channel' | 'address' | 'source'>[] }
  | { readonly filter: SuppressionFilter };
/** People of a job: those named, or all that match a filter. */
export type ChosenPeople = { readonly people: readonly string[] } | { readonly filter: { readonly person?: string } };

// The words come from responses or from the address bar. The server names a word that it does not know.
const sent = (workspace: string, body: object) => ({ params: { path: { workspace } }, body: body as never });

export const countSuppressions = (workspace: string, body: ChosenEntries): Promise<Schemas['SuppressionCount']> =>
  bodyOf(api.POST('/v1/workspaces/{workspace}/suppressions/count', sent(workspace, body)));

/** Starts a job that takes entries back. */
export const removeSuppressions = (workspace: string, body: object): Promise<Schemas['Job']> =>
  bodyOf(api.POST('/v1/workspaces/{workspace}/suppressions/remove-many', sent(workspace, body)));

/** Takes back what one source says of an address. */
export const removeSuppression = (
  workspace: string,
  body: { readonly channel: Channel; readonly address: string; readonly source: Source },
): Promise<Schemas['Unsuppressed']> =>
  bodyOf(api.POST('/v1/workspaces/{workspace}/suppressions/remove', { params: { path: { workspace } }, body }));

/** Puts back what was taken back, as it was; `undo` is of the answer to that. */
export const restoreSuppressions = (workspace: string, undo: string): Promise<Schemas['Restored']> =>
  bodyOf(
    api.POST('/v1/workspaces/{workspace}/suppressions/restore', { params: { path: { workspace } }, body: { undo } }),
  );

export type SaidConsent = {
  readonly person: string;
  readonly target: 'all' | 'category' | 'notification';
  readonly name?: string;
  /** Null: all of them. */
  readonly channel: Channel | null;
  readonly opted_out: boolean;
};

export const setConsent = (
  workspace: string,
  body: SaidConsent & { readonly undoes?: string },
): Promise<Schemas['ConsentSet']> => bodyOf(api.POST(CONSENTS, { params: { path: { workspace } }, body }));

export const countConsents = (workspace: string, body: ChosenPeople): Promise<Schemas['ConsentCount']> =>
  bodyOf(api.POST('/v1/workspaces/{workspace}/consents/count', sent(workspace, body)));

/** Starts a job that allows again, in their place, what people opted out of. */
export const allowConsents = (workspace: string, body: object): Promise<Schemas['Job']> =>
  bodyOf(api.POST('/v1/workspaces/{workspace}/consents/allow-many', sent(workspace, body)));

/** Says back what was set for a person; null where it changed nothing. What they said besides, or since, stays as it is. */
export function consentUndo(
  workspace: string,
  person: string,
  { changed }: Schemas['ConsentSet'],
  after: () => unknown,
): Undo | null {
  if (changed.length === 0) return null;
  return undoing(async () => {
    for (const word of changed) {
      const name = word.name ?? word.notification_id;
      await setConsent(workspace, {
        person,
        target: word.target,
        ...(name !== null && { name }),
        channel: word.channel as Channel | null,
        opted_out: !word.opted_out,
        undoes: word.at,
      });
    }
  }, after);
}

export type Import = (workspace: string, text: string) => Promise<Schemas['Imported']>;

/** A file goes as it is. */
const AS_CSV = { headers: { 'content-type': 'text/csv' }, bodySerializer: (body: unknown) => String(body) } as const;

export const importSuppressions: Import = (workspace, body) =>
  bodyOf(
    api.POST('/v1/workspaces/{workspace}/suppressions/import', { params: { path: { workspace } }, body, ...AS_CSV }),
  );
export const importConsents: Import = (workspace, body) =>
  bodyOf(api.POST('/v1/workspaces/{workspace}/consents/import', { params: { path: { workspace } }, body, ...AS_CSV }));
