import { api, bodyOf, Refusal, type Schemas } from '../../api/client.ts';
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

const RETRY_INTERVAL_MS = 1_000;

/**
 * Looks at what is held of a person, or erases it if the request confirms a look. Sends the request again while the server still reads the log
 * for it, which takes minutes if the log is large.
 */
export async function requestErasure(workspace: string, body: ErasureRequest): Promise<ErasureLook> {
  for (;;) {
    try {
      return await bodyOf(api.POST(ERASURES, { params: { path: { workspace } }, body }));
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'overloaded') throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
    }
  }
}
