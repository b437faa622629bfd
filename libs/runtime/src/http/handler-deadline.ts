import type { CarillonError, Duration } from '@carillon/kernel';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { lateRequest } from './request-faults.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer may take any time once it has begun. A connection on which nothing moves is still cut. */
    readonly streams?: boolean;
  }
}

/**
 * Refuses requests that are not answered within `span`, at once: what is read of their bodies later is of no use. The
 * framework's own `handlerTimeout` makes an abort signal for each request and aborts it at its end, with an error and
 * its stack: 6 % of what the gateway did for an event.
 */
export function refuseLateRequests(
  app: FastifyInstance,
  span: Duration,
  refuse: (reply: FastifyReply, fault: CarillonError) => void,
): void {
  const end = (reply: FastifyReply): void => {
    if (reply.sent) return;
    // A problem cannot follow half an answer.
    if (!reply.raw.headersSent) refuse(reply, lateRequest(reply.request, span));
    else if (reply.request.routeOptions.config.streams !== true) reply.raw.destroy();
  };
  app.addHook('onRequest', (_request, reply, done) => {
    const timer = setTimeout(end, span, reply);
    reply.raw.on('close', () => clearTimeout(timer));
    done();
  });
}
