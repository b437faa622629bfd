import { randomBytes, timingSafeEqual } from 'node:crypto';
import { CarillonError, type Duration, type Instant } from '@carillon/kernel';
import type { FastifyRequest } from 'fastify';
import type { ControlConfig, ControlPorts } from '../ports.ts';
import { deploymentOwner, type Principal } from './principal.ts';

/** Thirty days; the owner token ends every session when it is changed. */
const SESSION_SECONDS = 30 * 86_400;
/** A sign-in link is good for one use, and for no longer than this. */
export const LINK_LASTS: Duration = 15 * 60_000;
/**
 * Wrong words that are told so in a minute; more are told to wait, and a right word is taken all the same: whoever guesses
 * cannot keep others out. Nobody guesses 144 bits, so that this only keeps the log short.
 */
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

export type SignInLink = { readonly word: string; readonly endsAt: Instant };

export type Access = {
  /** On whose behalf the request is made; null where it carries no credential, or none that is good. */
  who(request: FastifyRequest): Principal | null;
  /** A new word for `/welcome#…`, for one use within LINK_LASTS; the word before it, if nobody has used it, ends. */
  makeLink(): SignInLink;
  /**
   * Answers the cookie for whoever shows the word of a link, or the owner token. Throws `unauthorized` for any other word, and
   * `rate_limited` where there were many of them.
   */
  openSession(word: string, request: FastifyRequest): string;
  /** Answers the cookie that ends the session of this browser. */
  closeSession(request: FastifyRequest): string;
};

/**
 * Who may use the management API: `Authorization: Bearer <owner token>`, or the cookie of a session. The cookie is
 * SameSite=Strict and HttpOnly, so another site can neither use nor read it.
 */
export function createAccess(
  config: Pick<ControlConfig, 'ownerToken'>,
  ports: Pick<ControlPorts, 'ids' | 'clock'>,
): Access {
  const session = ports.ids.keyed('session', config.ownerToken);
  let link: SignInLink | null = null;
  let wrong: number[] = [];

  /** What a wrong word is told. */
  function refusal(): CarillonError {
    const now = ports.clock.now();
    // Guesses of the future were made before the clock was set back: they count no longer.
    wrong = wrong.filter((at) => Math.abs(now - at) < GUESSES.span);
    const [oldest = now] = wrong;
    if (wrong.length >= GUESSES.most) {
      const retryAfter = oldest + GUESSES.span - now;
      return new CarillonError('rate_limited', 'too many wrong words at the sign-in; wait a minute', { retryAfter });
    }
    wrong.push(now);
    return new CarillonError(
      'unauthorized',
      'this link was used already, has ended or is not valid; make another one with npx carillon owner-link, or sign in with the token in the file owner-token of the data folder',
    );
  }

  function isLink(word: string): boolean {
    if (link === null || !same(word, link.word)) return false;
    // A clock that was set back makes no link last longer.
    return Math.abs(link.endsAt - LINK_LASTS - ports.clock.now()) < LINK_LASTS;
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
    makeLink() {
      link = { word: randomBytes(18).toString('base64url'), endsAt: ports.clock.now() + LINK_LASTS };
      return link;
    },
    openSession(word, request) {
      const invited = isLink(word);
      if (!invited && !same(word, config.ownerToken)) throw refusal();
      if (invited) link = null;
      return cookieFor(request, session, SESSION_SECONDS);
    },
    closeSession: (request) => cookieFor(request, '', 0),
  };
}

/** Behind a proxy that speaks TLS the cookie never travels in clear text; on this machine it has to. */
function cookieFor(request: FastifyRequest, value: string, seconds: number): string {
  const secure = request.headers['x-forwarded-proto'] === 'https' ? '; Secure' : '';
  return `${cookieName(request)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
}
