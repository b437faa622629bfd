import { emailKey, type Identity, type Membership, type PeopleRecord } from '@carillon/domain/people';
import { CarillonError, isCarillonError, type Instant } from '@carillon/kernel';
import type { ProvenIdentity } from '@carillon/ports';
import type { ControlPorts } from '../../ports.ts';
import { createDirectory } from '../people/directory.ts';
import { digestOf } from '../people/secret-tokens.ts';
import { isSame, type Admission } from './admission.ts';

/** The roles of a person before and after a sign-in, for the audit. */
export type RoleChange = { readonly before: readonly Membership[]; readonly after: readonly Membership[] };

/** Returns the id of an identity, from issuer and subject only. */
export const identityId = ({ issuer, subject }: Pick<ProvenIdentity, 'issuer' | 'subject'>): string =>
  digestOf(JSON.stringify([issuer, subject]));

const newIdentity = (proven: ProvenIdentity, personId: string, boundAt: Instant): PeopleRecord<'identity'> => ({
  kind: 'identity',
  id: identityId(proven),
  version: 1,
  key: null,
  of: personId,
  endsAt: null,
  body: {
    issuer: proven.issuer,
    subject: proven.subject,
    personId,
    boundAt,
    granted: [],
    grantedOwner: false,
  },
});

/** Maps identities of providers to people. */
export function createIdentities(ports: Pick<ControlPorts, 'people' | 'ids' | 'clock'>) {
  const { people, ids, clock } = ports;
  const directory = createDirectory(ports);

  async function change(record: PeopleRecord<'identity'>, body: Identity): Promise<PeopleRecord<'identity'>> {
    const next = { ...record, version: record.version + 1, body };
    if ((await people.replace(next)) === 'done') return next;
    throw new CarillonError('conflict', 'you signed in twice at the same time; sign in again');
  }

  /**
   * Returns the identity of a person who signs in. Creates it with a new person if allowed. An existing address proves
   * nothing: its owner must connect the provider in their profile.
   */
  async function comer(proven: ProvenIdentity, admission: Admission): Promise<PeopleRecord<'identity'>> {
    const known = await people.find('identity', identityId(proven));
    if (known && (await people.find('person', known.body.personId))) return known;
    const { email, mayCome, name } = admission;
    if (!mayCome) {
      throw new CarillonError('forbidden', 'you have no access yet: ask an owner for an invitation or a role');
    }
    if (email === null) {
      throw new CarillonError(
        'forbidden',
        'the provider sent no verified address for you; verify your address there first',
      );
    }
    if (await people.findByKey('person', emailKey(email))) throw addressKnown();
    // Writes the identity with the future person's id first, so that concurrent sign-ins create the same person.
    const made = newIdentity(proven, ids.random('person'), clock.now());
    if (!known && (await people.replace(made)) !== 'done') return comer(proven, admission);
    const identity = known ?? made;
    try {
      await directory.addPerson({ name, email, memberships: [], passwordHash: null }, identity.body.personId);
    } catch (error) {
      if (!isCarillonError(error) || error.code !== 'conflict') throw error;
      if (await people.find('person', identity.body.personId)) return identity;
      await people.remove('identity', identity.id);
      throw addressKnown();
    }
    return identity;
  }

  /** Grants the roles of groups, and removes roles that groups granted earlier and no longer do. */
  async function giveRoles(identity: PeopleRecord<'identity'>, admission: Admission): Promise<RoleChange | null> {
    const { personId, granted, grantedOwner } = identity.body;
    const person = await people.find('person', personId);
    if (!person) return null;
    const wanted = admission.memberships;
    const isIn = (list: readonly Membership[], one: Membership): boolean => list.some((other) => isSame(one, other));
    const added = wanted.filter((one) => !isIn(person.body.memberships, one));
    const gone = granted.filter((one) => !isIn(wanted, one));
    const { owners } = await directory.roster();
    const appoints = admission.owner && !owners.includes(personId);
    const dismisses = grantedOwner && !admission.owner;
    const kept = granted.filter((one) => isIn(wanted, one));
    const grants = [...kept, ...added.filter((one) => !isIn(kept, one))];
    if (added.length === 0 && gone.length === 0 && !appoints && !dismisses) return null;
    // Records grants before they apply, so that after a crash they can still be removed.
    const noted = await change(identity, {
      ...identity.body,
      granted: [...grants, ...gone],
      grantedOwner: grantedOwner || appoints,
    });
    const after = await directory.changePerson(personId, (before) => ({
      ...before,
      memberships: [...before.memberships.filter((one) => !isIn(gone, one)), ...added].filter(
        (one, at, all) => all.findIndex((other) => isSame(one, other)) === at,
      ),
    }));
    if (appoints) await directory.appointOwner(personId);
    const isGranted = dismisses ? !(await dismiss(personId)) : grantedOwner || appoints;
    await change(noted, { ...noted.body, granted: grants, grantedOwner: isGranted });
    return { before: person.body.memberships, after: after.memberships };
  }

  /** Returns false for the last owner, who stays, so that a mistake in groups cannot lock everyone out. */
  async function dismiss(personId: string): Promise<boolean> {
    try {
      await directory.dismissOwner(personId);
      return true;
    } catch (error) {
      if (isCarillonError(error) && error.code === 'wrong_state') return false;
      throw error;
    }
  }

  return {
    find: (proven: ProvenIdentity) => people.find('identity', identityId(proven)),
    comer,
    giveRoles,
    /** Connects an identity to a signed-in person. Throws `conflict` if it belongs to another. */
    async connect(proven: ProvenIdentity, personId: string): Promise<PeopleRecord<'identity'>> {
      const made = newIdentity(proven, personId, clock.now());
      const known = await people.find('identity', made.id);
      if (known?.body.personId === personId) return known;
      const isLeft = known !== null && (await people.find('person', known.body.personId)) === null;
      if (known && !isLeft) {
        throw new CarillonError('conflict', 'this provider account belongs to another person here');
      }
      const next = { ...made, version: (known?.version ?? 0) + 1 };
      if ((await people.replace(next)) === 'done') return next;
      throw new CarillonError('conflict', 'this account was connected at the same moment; look at your profile');
    },
  };
}

const addressKnown = (): CarillonError =>
  new CarillonError(
    'conflict',
    'your address has an account here already. If it is yours, sign in as before and connect this provider account in your profile',
  );
