import type { FastifyInstance } from 'fastify';

/** Whether something that this process depends on is there now; `detail` says what an operator should look at. */
export type ReadinessCheck = {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** `false`: shown, but what the process serves goes on without it, so it does not decide. Left out: it decides. */
  readonly decides?: boolean;
};

export type HealthSources = {
  /** Called for each `/readyz`, so it looks at facts at hand and asks nobody. */
  readonly checks?: () => readonly ReadinessCheck[];
  /** The metrics in Prometheus text format. */
  readonly metrics?: () => string | Promise<string>;
};

export const HEALTH_PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

/** `/livez`: the process answers. `/readyz`: it should get work, or which dependency is not ready. `/metrics`. */
export function serveHealth(app: FastifyInstance, sources: HealthSources, isStopping: () => boolean): void {
  app.get('/livez', async (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const stopping: readonly ReadinessCheck[] = isStopping()
      ? [{ name: 'lifecycle', ok: false, detail: 'the server is stopping' }]
      : [];
    const checks = [...stopping, ...(sources.checks?.() ?? [])];
    const ready = checks.every(({ ok, decides = true }) => ok || !decides);
    return reply
      .code(ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ status: ready ? 'ready' : 'not_ready', checks });
  });
  app.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send((await sources.metrics?.()) ?? ''),
  );
}
