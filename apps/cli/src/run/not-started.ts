import { createIds } from '@carillon/adapter-system';
import { createHttpServer, type HttpServer } from '@carillon/runtime';
import type { ProcessSettings } from '../process/settings.ts';
import { HEALTH_PORTS } from './health-ports.ts';
import type { RoleName } from './role-names.ts';

/** Health of a role that has not started: `/livez` says that it lives, `/readyz` 503 and to whom it concerns why. */
export type NotStarted = { because(why: string): void; close(): Promise<void> };

type Place = { readonly port: number; readonly strangers: boolean };

/** Listens where the role will, as far as nobody else does: that somebody does may be why it has not started. */
export async function serveNotStarted(role: RoleName, settings: ProcessSettings): Promise<NotStarted> {
  let detail = '';
  const ids = createIds(new Uint8Array(32));
  const servers = placesOf(role, settings).map(({ port, strangers }) =>
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

function placesOf(role: RoleName, { gatewayPort, controlPort, healthPort }: ProcessSettings): readonly Place[] {
  if (role === 'control') return [{ port: controlPort, strangers: false }];
  const health = { port: healthPort ?? HEALTH_PORTS[role], strangers: false };
  return role === 'gateway' ? [{ port: gatewayPort, strangers: true }, health] : [health];
}
