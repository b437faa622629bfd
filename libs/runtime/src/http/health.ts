import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { CarillonError, type Duration } from '@carillon/kernel';
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
  /** Called for each `/readyz`, so it only reads facts in memory. */
  readonly checks?: () => readonly ReadinessCheck[];
  /** The metrics in Prometheus text format. Called at most once a second. */
  readonly metrics?: () => string | Promise<string>;
  /** Bearer token that allows reading metrics and details from other hosts. Null allows only this host. */
  readonly healthToken?: string | null;
};

export const HEALTH_PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

/** Maximum age of rendered metrics, because rendering takes time and values change slowly. */
const METRICS_FRESH_FOR: Duration = 1000;

/**
 * Serves `/livez` (the process responds), `/readyz` (whether it should get traffic, with the failing dependencies for
 * authorized readers) and `/metrics` for the same readers, because it names streams, partners and workspaces. With
 * `bare`, the port is public: no metrics and no details.
 */
export function serveHealth(
  app: FastifyInstance,
  { checks, metrics, healthToken = null }: HealthSources,
  isStopping: () => boolean,
  bare: boolean,
): void {
  const mayRead = (request: IncomingMessage): boolean =>
    !bare && (healthToken === null ? isFromThisMachine(request) : showsToken(request, healthToken));

  app.get('/livez', async (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }));
  app.get('/readyz', async (request, reply) => {
    const stopping: readonly ReadinessCheck[] = isStopping()
      ? [{ name: 'lifecycle', ok: false, detail: 'the server is stopping' }]
      : [];
    const all = [...stopping, ...(checks?.() ?? [])];
    const ready = all.every(({ ok, decides = true }) => ok || !decides);
    const status = ready ? 'ready' : 'not_ready';
    return reply
      .code(ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send(mayRead(request.raw) ? { status, checks: all } : { status });
  });
  if (bare) return;
  const read = keepFor(METRICS_FRESH_FOR, async () => (await metrics?.()) ?? '');
  app.get('/metrics', async (request, reply) => {
    if (!mayRead(request.raw)) throw NOT_FOR_STRANGERS;
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await read());
  });
}

const NOT_FOR_STRANGERS = new CarillonError(
  'unauthorized',
  'Read metrics from this machine, or send Authorization: Bearer with the value of CARILLON_HEALTH_TOKEN.',
);

/** Asks again only after `span`; what failed is asked again at once. */
function keepFor(span: Duration, ask: () => Promise<string>): () => Promise<string> {
  let kept: { readonly text: Promise<string>; readonly until: number } | null = null;
  return () => {
    if (kept && performance.now() < kept.until) return kept.text;
    const mine = { text: ask(), until: performance.now() + span };
    kept = mine;
    mine.text.catch(() => (kept = kept === mine ? null : kept));
    return mine.text;
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function showsToken({ headers }: IncomingMessage, token: string): boolean {
  const shown = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(shown), digest(token));
}

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1)$/;
/** Headers added by proxies. Behind a proxy on this host every client would look local. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const;

/**
 * Returns true for a request from this machine itself, neither through a proxy nor from a page whose host name was
 * pointed here.
 */
function isFromThisMachine({ socket, headers }: IncomingMessage): boolean {
  const from = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  if (!LOOPBACK.test(from) || FORWARDED.some((name) => headers[name] !== undefined)) return false;
  const host = (headers.host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || LOOPBACK.test(host);
}
