import {
  emailKey,
  ROSTER_ID,
  type Membership,
  type PeopleBodies,
  type PeopleKind,
  type PeopleRecord,
  type Person,
  type Roster,
} from '@carillon/domain/people';
import { CarillonError } from '@carillon/kernel';
import type { Clock, Ids, PeopleStore } from '@carillon/ports';

type Ports = { readonly people: PeopleStore; readonly ids: Ids; readonly clock: Clock };

const NOBODY: Roster = { owners: [], link: null };
const PAGE = 500;

/** Returns the changed record, or null for no change. */
type Change<Kind extends PeopleKind> = (before: PeopleBodies[Kind]) => PeopleBodies[Kind] | null;

export const addressTaken = (): CarillonError =>
  new CarillonError('conflict', 'email: another person has this address already', { pointer: '/email' });

const EMPTY_ROSTER: PeopleRecord<'roster'> = {
  kind: 'roster',
  id: ROSTER_ID,
  version: 0,
  key: null,
  of: null,
  endsAt: null,
  body: NOBODY,
};

/** Reads and writes people and owners without losing concurrent writes. */
export function createDirectory({ people, ids, clock }: Ports) {
  const rosterRecord = async (): Promise<PeopleRecord<'roster'>> =>
    (await people.find('roster', ROSTER_ID)) ?? EMPTY_ROSTER;

  /** Changes the roster, repeating after concurrent writes. Returns the new roster. */
  async function changeRoster(change: Change<'roster'>): Promise<Roster> {
    for (;;) {
      const before = await rosterRecord();
      const body = change(before.body);
      if (body === null) return before.body;
      if ((await people.replace({ ...before, version: before.version + 1, body })) === 'done') return body;
    }
  }

  /**
   * Changes a person, repeating after concurrent writes. Throws `not_found`, and `conflict` if the address is taken.
   */
  async function changePerson(id: string, change: Change<'person'>): Promise<Person> {
    for (;;) {
      const before = await people.find('person', id);
      if (!before) throw new CarillonError('not_found', 'there is no person with this id');
      const body = change(before.body);
      if (body === null) return before.body;
      const key = body.email === null ? null : emailKey(body.email);
      const done = await people.replace({ ...before, version: before.version + 1, key, body });
      if (done === 'taken') throw addressTaken();
      if (done === 'done') return body;
    }
  }

  /** Adds a person with this id unless one exists. Throws `conflict` if the address is taken. */
  async function addPerson(
    given: { readonly name: string; readonly email: string | null; readonly memberships: readonly Membership[] } & {
      readonly passwordHash: string | null;
    },
    id = ids.random('person'),
  ): Promise<{ readonly id: string; readonly body: Person }> {
    const now = clock.now();
    const { name, email, memberships, passwordHash } = given;
    const body: Person = {
      name,
      email,
      state: 'active',
      memberships,
      password: passwordHash === null ? null : { hash: passwordHash, setAt: now },
      totp: null,
      recoveryCodes: [],
      epoch: 1,
      createdAt: now,
    };
    const key = email === null ? null : emailKey(email);
    const done = await people.replace({ kind: 'person', id, version: 1, key, of: null, endsAt: null, body });
    if (done === 'taken') throw addressTaken();
    if (done === 'stale') throw new CarillonError('conflict', 'a person with this id exists already');
    return { id, body };
  }

  /** Returns all records of a kind. A deployment has hundreds of people, tokens and invitations, not millions. */
  async function all<Kind extends PeopleKind>(kind: Kind, of?: string): Promise<readonly PeopleRecord<Kind>[]> {
    const found: PeopleRecord<Kind>[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await people.list(kind, of === undefined ? {} : { of }, PAGE, cursor);
      found.push(...page.items);
      if (page.next === null) return found;
      cursor = page.next;
    }
  }

  /** Returns the owners who can sign in, in order. */
  async function activeOf(owners: readonly string[]): Promise<readonly string[]> {
    const found = await Promise.all(owners.map((id) => people.find('person', id)));
    return found.flatMap((person) => (person?.body.state === 'active' ? [person.id] : []));
  }

  /** Removes an owner of the deployment. Throws `wrong_state` for the last owner who can sign in. */
  async function dismissOwner(id: string): Promise<Roster> {
    const active = await activeOf((await rosterRecord()).body.owners);
    return changeRoster((roster) => {
      if (!roster.owners.includes(id)) return null;
      const owners = roster.owners.filter((owner) => owner !== id);
      if (owners.some((owner) => active.includes(owner))) return { ...roster, owners };
      throw new CarillonError(
        'wrong_state',
        'this is the last owner of the deployment: make another person an owner first',
      );
    });
  }

  /**
   * Makes a person an owner of the deployment. Throws if they were disabled or removed meanwhile, because they would
   * count as an owner who can sign in.
   */
  async function appointOwner(id: string): Promise<void> {
    await changeRoster((roster) => (roster.owners.includes(id) ? null : { ...roster, owners: [...roster.owners, id] }));
    const person = await people.find('person', id);
    if (person?.body.state === 'active') return;
    await changeRoster((roster) => ({ ...roster, owners: roster.owners.filter((owner) => owner !== id) }));
    throw new CarillonError('wrong_state', 'this person was disabled or removed at the same time');
  }

  return {
    roster: async () => (await rosterRecord()).body,
    changeRoster,
    changePerson,
    addPerson,
    all,
    activeOf,
    dismissOwner,
    appointOwner,
    /**
     * Removes a person with sessions and identities. The id stays in records without a name. Throws for the last owner.
     */
    async removePerson(id: string): Promise<void> {
      await dismissOwner(id);
      // Removes the person first, so that no new session can start meanwhile.
      if (!(await people.remove('person', id))) throw new CarillonError('not_found', 'there is no person with this id');
      await people.removeOf('session', id);
      await people.removeOf('identity', id);
      await people.removeOf('mailed_link', id);
    },
  };
}
export type Directory = ReturnType<typeof createDirectory>;
