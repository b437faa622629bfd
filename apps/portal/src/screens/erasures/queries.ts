import { api, bodyOf, type Schemas } from '../../api/client.ts';
import type { Page } from '../../api/pages.ts';

export type Erasure = Schemas['Erasure'];
export type ErasureLook = Schemas['ErasureLook'];
export type ErasureRequest = Schemas['ErasureRequestInput'];

export const ERASURES = '/v1/workspaces/{workspace}/erasures';
const PAGE_SIZE = 50;

export const loadErasures =
  (workspace: string) =>
  (cursor: string | null, signal: AbortSignal): Promise<Page<Erasure>> =>
    bodyOf(
      api.GET(ERASURES, {
        params: { path: { workspace }, query: { limit: PAGE_SIZE, ...(cursor !== null && { cursor }) } },
        signal,
      }),
    );

/** Looks at what is held of a person, or erases it if the request confirms a look. */
export const requestErasure = (workspace: string, body: ErasureRequest): Promise<ErasureLook> =>
  bodyOf(api.POST(ERASURES, { params: { path: { workspace } }, body }));
