import { emailKey, type PeopleRecord, type Person, type SignInWay } from '@carillon/domain/people';
import { CarillonError, type Duration } from '@carillon/kernel';
import { sourceOf } from '@carillon/runtime';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { ControlConfig, ControlPorts } from '../ports.ts';
import { sessionCookie, sessionWordOf } from './cookies.ts';
import { isForged, refuseForeign } from './origin.ts';
import { createOwnerLinks, isSameSecret, type SignInLink } from './owner-link.ts';
import { createDirectory, type Directory } from './people/directory.ts';
import { createFactorGuesses, type FactorGuesses } from './people/factor-guesses.ts';
import { createGuessing, type Guessing } from './people/guessing.ts';
import { createMailedLinks, type MailedLinks } from './people/mailed-links.ts';
import { noteSignIn } from './people/notices.ts';
import { NO_MAIL, type PersonMail } from './people/person-mail.ts';
import { createPasswords, type Passwords } from './people/passwords.ts';
import type { Asker } from './people/sign-in-admission.ts';
import { createSessions, SESSION_LASTS } from './people/sessions.ts';
import { hasSecondFactor, secondFactor } from './people/second-factor.ts';
import { tokenPrincipal } from './people/tokens.ts';
import { digestOf, newSecretToken } from './people/secret-tokens.ts';
import { deploymentOwner, personPrincipal, type Principal } from './principal.ts';

/** Credentials of a sign-in. */
export type SignIn =
  | { readonly word: string }
  | { readonly email: string; readonly password: string; readonly code?: string | undefined };

/** A new session: the cookie for the browser. */
export type Opened = {
  readonly cookie: string;
  readonly sessionId: string;
  readonly personId: string;
  readonly way: SignInWay;
};

export type SessionBounds = { readonly epoch?: number | undefined; readonly lasts?: Duration | undefined };

export type AccessPorts = Pick<ControlPorts, 'ids' | 'clock' | 'people' | 'factorSealer'>;

export type AccessSettings = {
  readonly passwords?: Passwords;
  /** Waits between guesses. Replaced in tests. */
  readonly pause?: (span: Duration) => Promise<unknown>;
  /** Mails people about their account. Defaults to no mail. */
  readonly mail?: PersonMail;
  /** Returns true if passwords may sign in. If false, only links and identity providers can. */
  readonly localPasswords?: () => boolean;
};

export type Access = {
  /**
   * Returns who makes the request. Null without a valid credential. The caller must also call {@link refuseForgery},
   * because another site may make a browser with a session send writes.
   */
  who(request: FastifyRequest): Promise<Principal | null>;
  /**
   * Returns who makes a request that was admitted before and is still open. Does not extend the session, because the
   * person is not active.
   */
  stillWho(request: FastifyRequest): Promise<Principal | null>;
  /** Makes a new token for `/welcome#…`, valid once within LINK_LASTS. An unused earlier token ends. */
  makeLink(personId?: string | null): Promise<SignInLink>;
  /**
   * Opens a session and ends this browser's previous one. Rejects with `unauthorized` for wrong credentials,
   * `second_factor` for a missing code, and `rate_limited` after many tries.
   */
  openSession(given: SignIn, request: FastifyRequest): Promise<Opened>;
  /**
   * Opens a session for a person who was verified otherwise. `epoch`: the person's epoch at verification, so that an
   * event that ended all sessions since ends this one too; defaults to the current one. `lasts`: maximum duration of
   * the session, if shorter than usual.
   */
  openFor(personId: string, way: SignInWay, request: FastifyRequest, bounds?: SessionBounds): Promise<Opened>;
  /** Returns the cookie that ends this browser's session. */
  closeSession(request: FastifyRequest): Promise<string>;
  readonly passwords: Passwords;
  readonly guessing: Guessing;
  readonly mail: PersonMail;
  /** Mailed links of people. */
  readonly links: MailedLinks;
  /** Counts of wrong second-factor codes. */
  readonly factors: FactorGuesses;
};

/**
 * Authenticates requests to the management API: `Authorization: Bearer` with the owner token or a service token, or a
 * session cookie.
 */
export function createAccess(
  config: Pick<ControlConfig, 'ownerToken'>,
  ports: AccessPorts,
  settings: AccessSettings = {},
): Access {
  const { people, clock } = ports;
  const { passwords = createPasswords(), pause = sleep, localPasswords = () => true, mail = NO_MAIL } = settings;
  const directory = createDirectory(ports);
  const ownerLinks = createOwnerLinks(directory, ports);
  const sessions = createSessions(ports);
  const principalOf = createIdentification({ ownerToken: config.ownerToken, ports, sessions, directory });
  const guessing = createGuessing(people, clock, pause);
  const links = createMailedLinks(ports, mail);
  const factors = createFactorGuesses(ports, links);

  async function openWithWord(token: string, request: FastifyRequest): Promise<Opened> {
    if (isSameSecret(token, config.ownerToken)) return openFor(await ownerLinks.onlyOwner(), 'owner_token', request);
    const meant = await ownerLinks.use(token);
    if (meant === undefined) throw ownerLinks.refusal();
    return openFor(meant ?? (await ownerLinks.onlyOwner()), 'link', request);
  }

  /** An unknown or disabled account, or one without password, costs the same time, so that timing reveals nothing. */
  async function checkPassword(
    { password, code }: Extract<SignIn, { email: string }>,
    found: PeopleRecord<'person'> | null,
    asker: Asker,
  ): Promise<string | null> {
    const right = await passwords.matches(password, found?.body.password?.hash ?? null, asker);
    if (!right || !found || found.body.state !== 'active') return null;
    if (hasSecondFactor(found.body)) await factors.refuseLocked(found);
    if (await secondFactor(found.id, code, directory, ports)) return found.id;
    await factors.count(found.id);
    return null;
  }

  async function openWithPassword(given: Extract<SignIn, { email: string }>, request: FastifyRequest): Promise<Opened> {
    if (!localPasswords()) {
      throw new CarillonError('forbidden', 'passwords are switched off here: sign in with the identity provider');
    }
    const source = sourceOf(request.ip);
    const personId = await guessing.attempt(given.email, source, async (wrongBefore) => {
      const found = await people.findByKey('person', emailKey(given.email));
      const id = await checkPassword(given, found, { source, wrong: wrongBefore });
      return id === null ? null : { id, epoch: found?.body.epoch ?? 0 };
    });
    if (personId === null) {
      throw new CarillonError('unauthorized', 'the address, the password or the code is wrong');
    }
    // The epoch belongs to the checked password, so that a password set meanwhile ends this session.
    return opened(personId.id, personId.epoch, 'password', request);
  }

  async function opened(
    personId: string,
    epoch: number,
    way: SignInWay,
    request: FastifyRequest,
    lasts: Duration = SESSION_LASTS.longest,
  ): Promise<Opened> {
    await endOwn(request);
    const token = newSecretToken('');
    const sessionId = await sessions.open({ token, personId, epoch, way, request, span: lasts });
    await noteSignIn(personId, request, { ids: ports.ids, directory, mail });
    return { cookie: sessionCookie(request, token, lasts / 1000), sessionId, personId, way };
  }

  async function openFor(
    personId: string,
    way: SignInWay,
    request: FastifyRequest,
    { epoch, lasts }: SessionBounds = {},
  ): Promise<Opened> {
    const person = await people.find('person', personId);
    if (!person || person.body.state !== 'active') {
      throw new CarillonError('unauthorized', 'this person was removed or disabled; ask an owner');
    }
    return opened(personId, epoch ?? person.body.epoch, way, request, lasts);
  }

  /** Ends the browser's session, if any, so that a new session never continues an old token. */
  async function endOwn(request: FastifyRequest): Promise<void> {
    const token = sessionWordOf(request);
    const found = token === undefined ? null : await people.findByKey('session', digestOf(token));
    if (found) await people.remove('session', found.id);
  }

  return {
    who: (request) => principalOf(request, (session) => sessions.touch(session)),
    stillWho: (request) => principalOf(request, async () => undefined),
    makeLink: (personId = null) => ownerLinks.make(personId),
    async openSession(given, request) {
      refuseForeign(request);
      return 'word' in given ? openWithWord(given.word, request) : openWithPassword(given, request);
    },
    openFor,
    async closeSession(request) {
      await endOwn(request);
      return sessionCookie(request, '', 0);
    },
    passwords,
    guessing,
    mail,
    links,
    factors,
  };
}

type IdentificationParts = {
  readonly ownerToken: string;
  readonly ports: AccessPorts;
  readonly sessions: ReturnType<typeof createSessions>;
  readonly directory: Directory;
};

/**
 * Returns the author of a request: the bearer of a token, or the person of a session. Calls `used` with the session.
 */
function createIdentification({ ownerToken, ports, sessions, directory }: IdentificationParts) {
  async function bearer(token: string): Promise<Principal | null> {
    if (isSameSecret(token, ownerToken)) return deploymentOwner('owner_token');
    if (!token.startsWith('svc_')) return null;
    return tokenPrincipal(token, ports);
  }

  async function inSession(
    request: FastifyRequest,
    used: (session: PeopleRecord<'session'>) => Promise<unknown>,
  ): Promise<Principal | null> {
    const token = sessionWordOf(request);
    const session = token === undefined ? null : await sessions.find(token);
    if (!session) return null;
    const { personId, epoch } = session.body;
    const [person, roster] = await Promise.all([ports.people.find('person', personId), directory.roster()]);
    if (!person || !mayGoOn(person.body, epoch)) return null;
    if (!isForged(request)) await used(session);
    return personPrincipal(person, roster.owners.includes(personId), session);
  }

  async function principalOf(
    request: FastifyRequest,
    used: (session: PeopleRecord<'session'>) => Promise<unknown>,
  ): Promise<Principal | null> {
    const [scheme, token] = (request.headers.authorization ?? '').split(' ');
    if (token !== undefined && scheme?.toLowerCase() === 'bearer') return bearer(token);
    return inSession(request, used);
  }

  return principalOf;
}

const mayGoOn = (person: Person, epoch: number): boolean => person.state === 'active' && person.epoch === epoch;
