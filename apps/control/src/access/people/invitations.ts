import { emailKey, type Actor, type Invitation, type Membership, type PeopleRecord } from '@carillon/domain/people';
import { CarillonError, type Duration } from '@carillon/kernel';
import type { ControlPorts } from '../../ports.ts';
import { createDirectory } from './directory.ts';
import { mayGiveRole, rightsOf } from './rights.ts';
import { digestOf, newSecretToken } from './secret-tokens.ts';

/** Validity of an invitation, for one person. */
export const INVITATION_LASTS: Duration = 7 * 24 * 60 * 60_000;

export type InvitationRecord = PeopleRecord<'invitation'>;
type Ports = Pick<ControlPorts, 'people' | 'ids' | 'clock'>;

/** What an invitation grants. */
export type Promised = Pick<Invitation, 'email' | 'owner' | 'memberships'>;

const ended = (): CarillonError =>
  new CarillonError(
    'not_found',
    'This invitation was used, has ended or is not valid. Ask the person who invited you for a new invitation.',
  );

/**
 * Invitations by the digest of their token. Each creates one person: the invitation is claimed first, the person's id
 * derives from the invitation's, and an interrupted acceptance continues when the link is opened again.
 */
export function createInvitations(ports: Ports) {
  const { people, ids, clock } = ports;
  const directory = createDirectory(ports);

  const lasts = ({ body, endsAt }: InvitationRecord): boolean => {
    const now = clock.now();
    // A clock that was set back does not extend an invitation.
    return endsAt !== null && now < endsAt && Math.abs(now - body.createdAt) < INVITATION_LASTS;
  };

  /** Returns the invitation of a token with what it grants today. Throws `not_found` for any other token. */
  async function find(
    word: string,
    known: readonly string[],
  ): Promise<{ readonly record: InvitationRecord; readonly promised: Promised }> {
    const record = await people.findByKey('invitation', digestOf(word));
    if (!record || !lasts(record)) throw ended();
    const promised = await keptPromise(record, known, ports);
    if (!promised.owner && promised.memberships.length === 0) throw ended();
    return { record, promised };
  }

  /** Writes by compare-and-set. If two requests use an invitation at once, the later request is refused. */
  async function write(before: InvitationRecord, change: Partial<Pick<InvitationRecord, 'key' | 'body'>>) {
    const after = { ...before, version: before.version + 1, ...change };
    if ((await people.replace(after)) !== 'done') throw ended();
    return after;
  }

  const personOf = (record: InvitationRecord): string => ids.derive('person', 'invitation', record.id);

  /** Reserves the invitation for one person. Throws if it is reserved for another. */
  async function claim(record: InvitationRecord, usedBy: string): Promise<InvitationRecord> {
    if (record.body.usedBy === usedBy) return record;
    if (record.body.usedBy !== null) throw ended();
    return write(record, { body: { ...record.body, usedBy } });
  }

  /** Invalidates its token. */
  const finish = (record: InvitationRecord): Promise<unknown> => write(record, { key: null });

  return {
    lasts,
    find,
    personOf,
    lockedOut: (record: InvitationRecord) => lockedOut(record, ports),
    make: (promised: Promised, by: Actor) => makeInvitation(promised, by, ports),
    /** Gives a locked-out person the roles and a password. Without passwords (null) they only get a session. */
    async acceptAsLockedOut(
      { record, promised }: { readonly record: InvitationRecord; readonly promised: Promised },
      id: string,
      passwordHash: string | null,
    ): Promise<void> {
      if (await hasProvider(id, ports)) throw ended();
      const claimed = await claim(record, id);
      await directory.changePerson(id, (person) => {
        if (person.password !== null || person.state !== 'active') throw ended();
        return {
          ...person,
          password: passwordHash === null ? null : { hash: passwordHash, setAt: clock.now() },
          memberships: joined(person.memberships, promised.memberships),
          epoch: person.epoch + 1,
        };
      });
      if (promised.owner) await directory.appointOwner(id);
      await finish(claimed);
    },
    /** Creates the person. Throws `conflict` if the address is taken: its owner signs in and accepts the roles. */
    async acceptAsNew(
      { record, promised }: { readonly record: InvitationRecord; readonly promised: Promised },
      given: { readonly name: string; readonly passwordHash: string | null },
    ): Promise<string> {
      const { email, memberships, owner } = promised;
      const id = personOf(record);
      const other = await people.findByKey('person', emailKey(email));
      if (other && other.id !== id) {
        throw new CarillonError('conflict', 'this address has an account already: sign in, then open the link again');
      }
      const claimed = await claim(record, id);
      // Only one of two requests can do this write. The rest of an interrupted acceptance is completed here.
      if (other === null) await directory.addPerson({ ...given, email, memberships }, id);
      if (owner) await directory.appointOwner(id);
      await finish(claimed);
      if (other !== null) {
        throw new CarillonError('conflict', 'this invitation was accepted before and your account exists: sign in');
      }
      return id;
    },
    /** Gives the roles to an existing person. Throws `conflict` if the invitation is for another address. */
    async acceptAs(
      { record, promised }: { readonly record: InvitationRecord; readonly promised: Promised },
      id: string,
    ): Promise<void> {
      const found = await people.find('person', id);
      if (!found || found.body.email === null || emailKey(found.body.email) !== emailKey(promised.email)) {
        throw new CarillonError(
          'conflict',
          'this invitation is for another address: sign out first, or ask for an invitation to your address',
        );
      }
      const claimed = await claim(record, id);
      await directory.changePerson(id, (person) => ({
        ...person,
        memberships: joined(person.memberships, promised.memberships),
      }));
      if (promised.owner) await directory.appointOwner(id);
      await finish(claimed);
    },
  };
}

const joined = (own: readonly Membership[], more: readonly Membership[]): readonly Membership[] => [
  ...own,
  ...more.filter(({ workspace, role }) => !own.some((known) => known.workspace === workspace && known.role === role)),
];

/** Limits the roles of an invitation to what its author may grant today. An author who is no longer an owner makes no owner. */
async function keptPromise({ body }: InvitationRecord, known: readonly string[], ports: Ports): Promise<Promised> {
  const may = await rightsOf(body.by, ports);
  const memberships = body.memberships.filter(
    ({ workspace, role }) => known.includes(workspace) && mayGiveRole(may, role, workspace),
  );
  return { email: body.email, owner: body.owner && may('people', null), memberships };
}

/**
 * Returns the person with the invited address who lost their credentials. Only an owner of the deployment can give them
 * a new password, by a new invitation: the inviter sees the link, so any other inviter could enter another person's
 * account. A person who signs in through an identity provider has lost nothing and gets no second way in.
 */
async function lockedOut({ body }: InvitationRecord, ports: Ports): Promise<PeopleRecord<'person'> | null> {
  const found = await ports.people.findByKey('person', emailKey(body.email));
  if (!found || found.body.password !== null || found.body.state !== 'active' || body.by.kind === 'token') return null;
  const may = await rightsOf(body.by, ports);
  if (!may('people', null)) return null;
  return (await hasProvider(found.id, ports)) ? null : found;
}

const hasProvider = async (personId: string, { people }: Ports): Promise<boolean> =>
  (await people.list('identity', { of: personId }, 1)).items.length > 0;

/** Returns the record and its token, which is shown once. */
async function makeInvitation(
  promised: Promised,
  by: Actor,
  { people, ids, clock }: Ports,
): Promise<{ readonly record: InvitationRecord; readonly word: string }> {
  const word = newSecretToken('inv_');
  const now = clock.now();
  const record: InvitationRecord = {
    kind: 'invitation',
    id: ids.random('invitation'),
    version: 1,
    key: digestOf(word),
    of: null,
    endsAt: now + INVITATION_LASTS,
    body: { ...promised, by, createdAt: now, usedBy: null },
  };
  if ((await people.replace(record)) !== 'done')
    throw new Error('the new random id or token exists already; send the request again');
  return { record, word };
}
