import type { AuditAction } from '@carillon/domain/audit';
import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * What the audit says was done; false: the route changes nothing. The control role does not start with a route that
     * writes (any method but GET and HEAD) and does not say so. What reads declares it where reading is audited.
     */
    readonly audit?: AuditAction | false;
    /** What a change is made to, where a body says it: then the record before the change names it too. */
    readonly auditTarget?: (request: FastifyRequest) => string;
    /** Returns what is done if that depends on the thing that it is done to. The record before the change says so too. */
    readonly auditAs?: (request: FastifyRequest) => Promise<AuditAction>;
  }
}

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** From here on a route that writes without saying what the audit calls it is refused, and with it the start. */
export function demandAudit(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    const methods = typeof method === 'string' ? [method] : method;
    if (config?.audit !== undefined || methods.every((one) => READING.has(one))) return;
    throw new Error(
      `the route ${methods.join(',')} ${url} writes and declares no audit: config: { audit: 'delivery.resend' }, or false where it changes nothing`,
    );
  });
}
