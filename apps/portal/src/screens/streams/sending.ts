import { api, bodyOf } from '../../api/client.ts';
import type { Call } from '../../ui/curl-words.ts';

/** Sends an event to a stream as whoever is signed in, without a key; `event` is JSON text. */
export const sendEvent = (workspace: string, stream: string, event: string) =>
  bodyOf(
    api.POST('/v1/workspaces/{workspace}/streams/{name}/send', {
      params: { path: { workspace, name: stream } },
      body: { event },
    }),
  );

/** The same for a shell. */
export const sendingCall = (workspace: string, stream: string, event: string): Call => ({
  method: 'POST',
  path: `/v1/workspaces/${workspace}/streams/${encodeURIComponent(stream)}/send`,
  body: { event },
});
