import type { AuditAction } from '@carillon/domain/audit';
import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Action of the route in the audit; false if it changes nothing. The control role does not start if a writing route
     * (any method but GET and HEAD) has none. Reading routes set it if reads are audited.
     */
    readonly audit?: AuditAction | false;
    /** Returns the target from a body, so that the record before the change names it too. */
    readonly auditTarget?: (request: FastifyRequest) => string;
    /** Returns the action if it depends on the target. The record before the change uses it too. */
    readonly auditAs?: (request: FastifyRequest) => Promise<AuditAction>;
  }
}

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Prevents the start if a writing route that is added later has no audit action. */
export function demandAudit(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    const methods = typeof method === 'string' ? [method] : method;
    if (config?.audit !== undefined || methods.every((each) => READING.has(each))) return;
    throw new Error(
      `the route ${methods.join(',')} ${url} writes and declares no audit: config: { audit: 'delivery.resend' }, or false where it changes nothing`,
    );
  });
}
