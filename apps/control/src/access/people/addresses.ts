import { emailKey, type Person } from '@carillon/domain/people';
import type { Clock, PeopleStore } from '@carillon/ports';
import type { FastifyRequest } from 'fastify';
import type { Rate } from '../../rate.ts';
import type { Access } from '../access.ts';
import { addressTaken, type Directory } from './directory.ts';
import { notifyPerson } from './notices.ts';

type Asked = {
  readonly who: { readonly id: string; readonly person: Person };
  readonly email: string;
  /** Whether the person owns the deployment: an owner confirms addresses, so their own counts at once. */
  readonly isOwner: boolean;
  readonly request: FastifyRequest;
};
type Parts = {
  readonly people: PeopleStore;
  readonly clock: Clock;
  readonly directory: Directory;
  readonly rate: Rate;
};

/** Takes a new address of a person. Mails a link to it and a notice to the old one; the old one counts until the link is opened. */
export async function requestAddress(
  { who, email, isOwner, request }: Asked,
  access: Pick<Access, 'mail' | 'links'>,
  { people, clock, directory, rate }: Parts,
): Promise<void> {
  const { id, person } = who;
  const isSame = person.email !== null && emailKey(email) === emailKey(person.email);
  if (isOwner || isSame) return changeAddress(id, email, access, directory, request);
  // Count the request first: it mails an address that may be a stranger's, and its refusal reveals that an address is taken.
  rate.take(id, clock.now());
  if (await people.findByKey('person', emailKey(email))) throw addressTaken();
  await access.links.make(
    { purpose: 'address', personId: id, email },
    {
      subject: 'Confirm your address for Carillon',
      text: (link, endsAt) => `A Carillon user entered this address as theirs.

Open this link to confirm it:

${link}

The link works once, until ${endsAt}. If this was not you, ignore this mail.
`,
    },
  );
  notifyPerson(access.mail, person, 'address_requested', request);
}

/** Confirms a new address, and notifies the old one. Throws `conflict` if another person has the address. */
export async function changeAddress(
  personId: string,
  email: string,
  { mail, links }: Pick<Access, 'mail' | 'links'>,
  directory: Directory,
  request: FastifyRequest,
): Promise<void> {
  let old: string | null = null;
  await directory.changePerson(personId, (person) => {
    old = person.email;
    return { ...person, email };
  });
  await links.drop(personId, 'address');
  if (old !== email) notifyPerson(mail, { email: old }, 'address_changed', request);
}
