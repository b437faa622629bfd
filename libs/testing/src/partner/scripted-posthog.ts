import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { postHogPage } from '../given/cohort-payloads.ts';

/** A request as PostHog saw it. */
export type PostHogRequest = { readonly path: string; readonly query: URLSearchParams; readonly authorization: string };

export type ScriptedPostHog = {
  readonly url: string;
  readonly requests: PostHogRequest[];
  /** Who is in a cohort, from now on. */
  holds(cohort: string, ids: readonly string[]): void;
  /** Done in place of the next answer. */
  once(script: (response: ServerResponse) => void): void;
  stop(): Promise<void>;
};

/** PostHog's cohort API on loopback: pages of persons, with the address of the next one. */
export async function startScriptedPostHog(key: string, pageSize = 2): Promise<ScriptedPostHog> {
  const cohorts = new Map<string, readonly string[]>();
  const requests: PostHogRequest[] = [];
  const scripts: ((response: ServerResponse) => void)[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://posthog');
    const { authorization = '' } = request.headers;
    requests.push({ path: pathname, query: searchParams, authorization });
    const script = scripts.shift();
    if (script) return script(response);
    const members = cohorts.get(/^\/api\/projects\/12\/cohorts\/([^/]+)\/persons$/.exec(pathname)?.[1] ?? '');
    if (authorization !== `Bearer ${key}` || !members) {
      return response.writeHead(members ? 401 : 404).end('{"detail":"no"}');
    }
    const from = Number(searchParams.get('offset') ?? 0);
    const more = from + pageSize < members.length;
    // A wrong address of its own, which no client may follow.
    const next = more ? `http://10.0.0.1${pathname}?limit=${pageSize}&offset=${from + pageSize}` : null;
    const page = postHogPage(
      members.slice(from, from + pageSize).map((id) => [id, `anonymous-${id}`]),
      next,
    );
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    holds: (cohort, ids) => void cohorts.set(cohort, ids),
    once: (script) => void scripts.push(script),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
