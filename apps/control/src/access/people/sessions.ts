import type { PeopleRecord, SignInWay } from '@carillon/domain/people';
import type { Duration } from '@carillon/kernel';
import type { Clock, Ids, PeopleStore } from '@carillon/ports';
import type { FastifyRequest } from 'fastify';
import { digestOf } from './secret-tokens.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Lifetimes of a session: `idle` since its last use, `longest` since it was opened. */
export const SESSION_LASTS: { readonly idle: Duration; readonly longest: Duration } = {
  idle: 2 * DAY,
  longest: 30 * DAY,
};
/** Precision of a session's last use, because each update is a write. */
const TOUCHED_EVERY: Duration = MINUTE;
const LONGEST_AGENT = 200;

type Ports = { readonly people: PeopleStore; readonly ids: Ids; readonly clock: Clock };

export type NewSession = {
  readonly token: string;
  readonly personId: string;
  readonly epoch: number;
  readonly way: SignInWay;
  readonly request: FastifyRequest;
  /** Maximum lifetime, at most `longest`. */
  readonly span?: Duration;
};

export type SessionRecord = PeopleRecord<'session'>;

/** Sessions of people, by the digest of their token. */
export function createSessions({ people, ids, clock }: Ports) {
  /** Returns true if the session is valid. Setting the clock back by more than the idle time ends it. */
  function lasts({ body, endsAt }: SessionRecord): boolean {
    const now = clock.now();
    return Math.abs(now - body.usedAt) < SESSION_LASTS.idle && (endsAt === null || now < endsAt);
  }
  return {
    lasts,
    /** Returns the id of the session. */
    async open({ token, personId, epoch, way, request, span = SESSION_LASTS.longest }: NewSession): Promise<string> {
      const now = clock.now();
      const id = ids.random('session');
      const agent = (request.headers['user-agent'] ?? '').slice(0, LONGEST_AGENT);
      const from = { address: request.ip, agent };
      const done = await people.replace({
        kind: 'session',
        id,
        version: 1,
        key: digestOf(token),
        of: personId,
        endsAt: now + Math.min(span, SESSION_LASTS.longest),
        body: { personId, epoch, way, createdAt: now, usedAt: now, from },
      });
      if (done !== 'done') throw new Error('the new random id or token exists already; send the request again');
      return id;
    },
    async find(token: string): Promise<SessionRecord | null> {
      const found = await people.findByKey('session', digestOf(token));
      return found && lasts(found) ? found : null;
    },
    /** Records a use. A session that ended meanwhile stays ended. */
    async touch(session: SessionRecord): Promise<void> {
      const now = clock.now();
      if (Math.abs(now - session.body.usedAt) < TOUCHED_EVERY) return;
      await people.replace({ ...session, version: session.version + 1, body: { ...session.body, usedAt: now } });
    },
  };
}
