import { timingSafeEqual } from 'node:crypto';
import { CarillonError } from '@carillon/kernel';
import type { FastifyRequest } from 'fastify';
import type { ControlConfig, ControlPorts } from '../ports.ts';
import { deploymentOwner, type Principal } from './principal.ts';

/** Thirty days; the owner token ends every session when it is changed. */
const SESSION_SECONDS = 30 * 86_400;
/** Wrong words that one process hears out in a minute. Bearer tokens need none of it: nobody guesses 256 bits. */
const GUESSES = { most: 10, span: 60_000 } as const;

const same = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

/** Browsers keep the cookies of all ports of a host together: the port in the name keeps two deployments apart. */
const cookieName = (request: FastifyRequest): string => `carillon_session_${request.socket.localPort ?? 0}`;

function cookieOf(request: FastifyRequest): string | undefined {
  const wanted = cookieName(request);
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [name, value] = part.trim().split('=');
    if (name === wanted) return value;
  }
  return undefined;
}

/**
 * Whether a page of another origin makes the browser ask. SameSite does not see that: for it, every port of this
 * machine is one site, and a page on any of them could press our buttons. Programs send neither header.
 */
function isForeign({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (typeof site === 'string') return site !== 'same-origin' && site !== 'none';
  const { origin } = headers;
  return origin !== undefined && !(URL.canParse(origin) && new URL(origin).host === headers.host);
}

const isReading = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD';

export type Access = {
  /** On whose behalf the request is made; null where it carries no credential, or none that is good. */
  who(request: FastifyRequest): Principal | null;
  /** Answers the cookie for whoever shows the one-time word of the first start, or the owner token. */
  openSession(word: string, request: FastifyRequest): string;
};

/**
 * Who may use the management API: `Authorization: Bearer <owner token>`, or the cookie of a session. The cookie is
 * SameSite=Strict and HttpOnly, so another site can neither use nor read it.
 */
export function createAccess(
  config: Pick<ControlConfig, 'ownerToken' | 'welcome'>,
  ports: Pick<ControlPorts, 'ids' | 'clock'>,
): Access {
  const session = ports.ids.keyed('session', config.ownerToken);
  let welcome = config.welcome;
  let wrong: number[] = [];

  function refuseGuessing(): void {
    const now = ports.clock.now();
    // Guesses of the future were made before the clock was set back: they lock nobody out for longer.
    wrong = wrong.filter((at) => Math.abs(now - at) < GUESSES.span);
    const [oldest = now] = wrong;
    if (wrong.length < GUESSES.most) return;
    const retryAfter = oldest + GUESSES.span - now;
    throw new CarillonError('rate_limited', 'too many wrong words at the sign-in; wait a minute, then try again', {
      retryAfter,
    });
  }

  return {
    who(request) {
      const [scheme, token] = (request.headers.authorization ?? '').split(' ');
      if (token !== undefined && scheme?.toLowerCase() === 'bearer') {
        return same(token, config.ownerToken) ? deploymentOwner('owner_token') : null;
      }
      const cookie = cookieOf(request);
      if (cookie === undefined || !same(cookie, session)) return null;
      return isReading(request) || !isForeign(request) ? deploymentOwner('session') : null;
    },
    openSession(word, request) {
      refuseGuessing();
      const invited = welcome !== null && same(word, welcome);
      if (!invited && !same(word, config.ownerToken)) {
        wrong.push(ports.clock.now());
        throw new CarillonError(
          'unauthorized',
          'this link was used already or is not valid; sign in with the token in the file owner-token of the data folder',
        );
      }
      if (invited) welcome = null;
      // Behind a proxy that speaks TLS the cookie never travels in clear text; on this machine it has to.
      const secure = request.headers['x-forwarded-proto'] === 'https' ? '; Secure' : '';
      return `${cookieName(request)}=${session}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${SESSION_SECONDS}${secure}`;
    },
  };
}
