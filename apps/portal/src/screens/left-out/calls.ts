import { api, bodyOf, type Schemas } from '../../api/client.ts';
import type { Page } from '../../api/pages.ts';
import type { Channel, Consent, Source, Suppression } from './left-out-words.ts';

export const SUPPRESSIONS = '/v1/workspaces/{workspace}/suppressions';
export const CONSENTS = '/v1/workspaces/{workspace}/consents';
/** Rows of one page: enough for two screens. */
const AT_ONCE = 50;

export type SuppressionFilter = { readonly address?: string; readonly channel?: string; readonly source?: string };

export const loadSuppressions =
  (workspace: string, filter: SuppressionFilter) =>
  (cursor: string | null, signal: AbortSignal): Promise<Page<Suppression>> => {
    // The server says of a word that it does not know which one was meant.
    const words = filter as { readonly address?: string; readonly channel?: Channel; readonly source?: Source };
    const query = { ...words, limit: AT_ONCE, ...(cursor !== null && { cursor }) };
    return bodyOf(api.GET(SUPPRESSIONS, { params: { path: { workspace }, query }, signal }));
  };

export const loadConsents =
  (workspace: string, person: string) =>
  (cursor: string | null, signal: AbortSignal): Promise<Page<Consent>> => {
    const query = { limit: AT_ONCE, ...(person !== '' && { person }), ...(cursor !== null && { cursor }) };
    return bodyOf(api.GET(CONSENTS, { params: { path: { workspace }, query }, signal }));
  };

export type SaidConsent = {
  readonly person: string;
  readonly target: 'all' | 'category' | 'notification';
  readonly name?: string;
  /** Null: all of them. */
  readonly channel: Channel | null;
  readonly opted_out: boolean;
};

export const setConsent = (workspace: string, body: SaidConsent): Promise<Consent> =>
  bodyOf(api.POST(CONSENTS, { params: { path: { workspace } }, body }));

export type Import = (workspace: string, text: string) => Promise<Schemas['Imported']>;

/** A file goes as it is. */
const AS_CSV = { headers: { 'content-type': 'text/csv' }, bodySerializer: (body: unknown) => String(body) } as const;

export const importSuppressions: Import = (workspace, body) =>
  bodyOf(
    api.POST('/v1/workspaces/{workspace}/suppressions/import', { params: { path: { workspace } }, body, ...AS_CSV }),
  );
export const importConsents: Import = (workspace, body) =>
  bodyOf(api.POST('/v1/workspaces/{workspace}/consents/import', { params: { path: { workspace } }, body, ...AS_CSV }));
