import { listResources, signInOf, type IdentityProviderBody } from '@carillon/domain/configuration';
import type { PeopleRecord } from '@carillon/domain/people';
import { CarillonError, parseDuration, type Duration } from '@carillon/kernel';
import type { BegunProof, ProofFailure, ProvenIdentity } from '@carillon/ports';
import type { FastifyRequest } from 'fastify';
import type { ControlPorts } from '../../ports.ts';
import { createRate } from '../../rate.ts';
import type { Access, Opened } from '../access.ts';
import { begunSignInCookie, begunSignInOf } from '../cookies.ts';
import { createSessions } from '../people/sessions.ts';
import { admit } from './admission.ts';
import { identityClient } from './identity-client.ts';
import { createIdentities, type RoleChange } from './identities.ts';

export type ProviderPorts = Pick<
  ControlPorts,
  'people' | 'ids' | 'clock' | 'configuration' | 'identityProviders' | 'signInSealer' | 'secrets'
>;

/** Maximum time at the provider. Afterwards the sign-in must start again. */
const BEGUN_LASTS: Duration = 10 * 60_000;
/** Requests per source and minute, because each may call the provider. A company may share one address. */
const MAX_A_MINUTE = 120;
const SESSION_LASTS: Duration = 24 * 60 * 60_000;
const LONGEST_PATH = 500;

/** State of a sign-in, encrypted in the browser's cookie meanwhile. */
type Begun = BegunProof & {
  readonly at: number;
  readonly to: string;
  /** Session whose person connects the provider. Null for a sign-in. */
  readonly session: string | null;
};

export type CameBack = {
  /** Page of the portal to open afterwards. */
  readonly to: string;
  readonly personId: string;
  /** Null if the existing session continues. */
  readonly opened: Opened | null;
  readonly roles: RoleChange | null;
};

/** Sign-in through the configured identity providers. */
export function createProviderSignIn(access: Access, ports: ProviderPorts) {
  const { clock, people, signInSealer } = ports;
  const identities = createIdentities(ports);
  const sessions = createSessions(ports);
  const rate = createRate({ what: 'sign-ins from one address', most: MAX_A_MINUTE, span: 60_000 });

  function providerNamed(name: string): IdentityProviderBody {
    const found = signInOf(ports.configuration.current()).providers.find((provider) => provider.name === name);
    if (!found) throw new CarillonError('not_found', 'there is no identity provider of this name');
    return found;
  }

  async function begin(
    name: string,
    to: string,
    session: string | null,
    request: FastifyRequest,
  ): Promise<{ readonly location: string; readonly cookie: string }> {
    const provider = providerNamed(name);
    rate.take(request.ip, clock.now());
    const begun = await ports.identityProviders.begin(await identityClient(provider, ports));
    if (!begun.ok) throw refusalOf(provider, begun.error);
    const { location, proof } = begun.value;
    const begunSignIn: Begun = { ...proof, at: clock.now(), to: pathOf(to), session };
    const sealed = signInSealer.seal([name], JSON.stringify(begunSignIn));
    return { location, cookie: begunSignInCookie(request, sealed, BEGUN_LASTS / 1000) };
  }

  function begunIn(name: string, request: FastifyRequest): Begun {
    const sealed = begunSignInOf(request);
    const text = sealed === undefined ? null : signInSealer.open([name], sealed);
    // Content that decrypts was written by us.
    const begun = text === null ? null : (JSON.parse(text) as Begun);
    if (!begun || Math.abs(clock.now() - begun.at) >= BEGUN_LASTS) {
      throw new CarillonError(
        'unauthorized',
        'this browser started no sign-in within the last 10 minutes; start again',
      );
    }
    return begun;
  }

  /** Returns the session that started connecting, which may have ended meanwhile. */
  async function connecting(id: string): Promise<PeopleRecord<'session'>> {
    const session = await people.find('session', id);
    const person = session && (await people.find('person', session.body.personId));
    const goesOn =
      session && sessions.lasts(session) && person?.body.state === 'active' && person.body.epoch === session.body.epoch;
    if (!goesOn) throw new CarillonError('unauthorized', 'you were signed out meanwhile; sign in and connect it again');
    return session;
  }

  return {
    /** Returns the provider's URL and the cookie for the browser. Throws `provider_unavailable`. */
    begin: (name: string, to: string, request: FastifyRequest) => begin(name, to, null, request),
    /** Starts connecting the provider to the person of this session. */
    connect: (name: string, to: string, session: string, request: FastifyRequest) => begin(name, to, session, request),
    /** Signs in or connects the person who returns from the provider. Throws the reason of a refusal. */
    async comeBack(name: string, query: string, request: FastifyRequest): Promise<CameBack> {
      const provider = providerNamed(name);
      const begun = begunIn(name, request);
      rate.take(request.ip, clock.now());
      const wanted = [
        'email',
        'email_verified',
        'name',
        ...(provider.roles ? [provider.groups_claim ?? 'groups'] : []),
      ];
      const finished = await ports.identityProviders.finish(
        await identityClient(provider, ports),
        begun,
        query,
        wanted,
      );
      if (!finished.ok) throw refusalOf(provider, finished.error);
      const admission = admit(provider, finished.value, workspaces());
      const { personId, sessionId, epoch } = await whoComes(begun, finished.value, admission);
      const identity = await identities.find(finished.value);
      const roles = identity ? await identities.giveRoles(identity, admission) : null;
      if (sessionId !== null) return { to: begun.to, personId, opened: null, roles };
      const lasts = spanOf(provider.session) ?? SESSION_LASTS;
      // An event that ends all sessions of the person from here on ends this one too.
      const opened = await access.openFor(personId, 'provider', request, { epoch, lasts });
      return { to: begun.to, personId, opened, roles };
    },
    /** Returns the cookie that deletes the state. */
    forget: (request: FastifyRequest): string => begunSignInCookie(request, '', 0),
  };

  async function whoComes(
    { session }: Begun,
    proven: ProvenIdentity,
    admission: ReturnType<typeof admit>,
  ): Promise<{ readonly personId: string; readonly sessionId: string | null; readonly epoch?: number | undefined }> {
    if (session === null) {
      const { personId } = (await identities.comer(proven, admission)).body;
      return { personId, sessionId: null, epoch: (await people.find('person', personId))?.body.epoch };
    }
    const { body } = await connecting(session);
    await identities.connect(proven, body.personId);
    return { personId: body.personId, sessionId: session };
  }

  function workspaces(): readonly string[] {
    return listResources(ports.configuration.current(), 'workspace').map(({ ref }) => ref.workspace);
  }
}
export type ProviderSignIn = ReturnType<typeof createProviderSignIn>;

function refusalOf({ title, name }: IdentityProviderBody, { reason, detail }: ProofFailure): CarillonError {
  const who = title ?? name;
  if (reason === 'unavailable') {
    return new CarillonError('provider_unavailable', `the response of ${who} cannot be read: ${detail}`, {
      retryAfter: 5000,
    });
  }
  return new CarillonError('unauthorized', `the response of ${who} is not valid: ${detail}; start again`);
}

const spanOf = (text: string | undefined): Duration | null => {
  const read = text === undefined ? null : parseDuration(text);
  return read?.ok ? read.value : null;
};

/**
 * Returns the path if it leads to our portal, else the start page. Another URL could redirect a freshly signed-in
 * person to a foreign site.
 */
export function pathOf(to: string): string {
  const base = 'http://portal.invalid';
  if (to.length > LONGEST_PATH || !/^\/(?![/\\])[^\p{C}\\]*$/u.test(to) || !URL.canParse(to, base)) return '/';
  const { origin, pathname, search, hash } = new URL(to, base);
  return origin === base && !pathname.startsWith('//') ? pathname + search + hash : '/';
}
