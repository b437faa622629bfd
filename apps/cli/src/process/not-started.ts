import { createIds } from '@carillon/adapter-system';
import { createHttpServer, type HttpServer } from '@carillon/runtime';
import type { ProcessSettings } from './settings.ts';

/** Health of a process that has not started: `/livez` says that it lives, `/readyz` 503 and to whom it concerns why. */
export type NotStarted = { because(why: string): void; close(): Promise<void> };

/** Where a process will listen; on a port for strangers health says whether it is ready, and nothing more. */
export type ListeningPlace = { readonly port: number; readonly strangers: boolean };

/**
 * Listens on the ports of a process that could not start, unless another process uses them, which may be the reason of
 * the failure. Reports there why the process has not started.
 */
export async function serveNotStarted(
  places: readonly ListeningPlace[],
  settings: Pick<ProcessSettings, 'host' | 'healthToken'>,
): Promise<NotStarted> {
  let detail = '';
  const ids = createIds(new Uint8Array(32));
  const servers = places.map(({ port, strangers }) =>
    createHttpServer({
      host: settings.host,
      port,
      portSetting: '',
      newRequestId: () => ids.random('request'),
      checks: () => [{ name: 'start', ok: false, detail }],
      healthToken: settings.healthToken,
      bareHealth: strangers,
    }),
  );
  const listening: HttpServer[] = [];
  for (const server of servers) {
    await server.listen().then(
      () => listening.push(server),
      () => server.close(0),
    );
  }
  return {
    because: (why) => {
      detail = why;
    },
    close: async () => void (await Promise.all(listening.map((server) => server.close(0)))),
  };
}
