import { timingSafeEqual } from 'node:crypto';
import { CarillonError } from '@carillon/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ControlContext } from './ports.ts';

export const SESSION_COOKIE = 'carillon_session';
/** Thirty days; the owner token ends every session when it is changed. */
const SESSION_SECONDS = 30 * 86_400;

const same = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

function cookieOf(request: FastifyRequest): string | undefined {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [name, value] = part.trim().split('=');
    if (name === SESSION_COOKIE) return value;
  }
  return undefined;
}

export type Access = {
  /** Whether the request carries the owner token or a session made from it. */
  allows(request: FastifyRequest): boolean;
  /** Sets the cookie for whoever shows the one-time word of the first start, or the owner token. */
  openSession(word: string): string;
};

/**
 * Who may use the management API: `Authorization: Bearer <owner token>`, or the cookie of a session. The cookie is
 * SameSite=Strict and HttpOnly, so another site can neither use nor read it.
 */
export function createAccess({ config, ports }: ControlContext): Access {
  const session = ports.ids.keyed('session', config.ownerToken);
  let welcome = config.welcome;
  return {
    allows(request) {
      const [scheme, token] = (request.headers.authorization ?? '').split(' ');
      if (token !== undefined && scheme?.toLowerCase() === 'bearer') return same(token, config.ownerToken);
      const cookie = cookieOf(request);
      return cookie !== undefined && same(cookie, session);
    },
    openSession(word) {
      const invited = welcome !== null && same(word, welcome);
      if (!invited && !same(word, config.ownerToken)) {
        throw new CarillonError(
          'unauthorized',
          'this link was used already or is not valid; sign in with the token in the file owner-token of the data folder',
        );
      }
      if (invited) welcome = null;
      return `${SESSION_COOKIE}=${session}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${SESSION_SECONDS}`;
    },
  };
}

/** Everything below `/v1` needs a token, but for opening a session. */
export function guard(app: FastifyInstance, access: Access): void {
  app.addHook('onRequest', async (request) => {
    const path = request.url.split('?')[0] ?? '';
    const open = path === '/v1/session' || !(path.startsWith('/v1') || path.startsWith('/docs'));
    if (open) return;
    if (access.allows(request)) return;
    throw new CarillonError(
      'unauthorized',
      'send Authorization: Bearer with the token in the file owner-token of the data folder, or sign in to the portal',
    );
  });
}
