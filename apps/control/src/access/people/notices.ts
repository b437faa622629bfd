import type { Person } from '@carillon/domain/people';
import type { Ids } from '@carillon/ports';
import { sourceOf } from '@carillon/runtime';
import type { FastifyRequest } from 'fastify';
import type { Directory } from './directory.ts';
import type { PersonMail } from './person-mail.ts';

/** Known networks per person. A sign-in from another network is reported by mail. */
const MAX_PLACES = 20;
const MAX_AGENT = 120;

const SUBJECTS = {
  password_set: 'The password of your Carillon account was changed',
  factor_added: 'An authenticator was added to your Carillon account',
  factor_removed: 'The authenticator of your Carillon account was removed',
  recovery_codes_renewed: 'The recovery codes of your Carillon account were renewed',
  credentials_reset: 'An owner took password, authenticator and connected accounts from your Carillon account',
  address_requested: 'The address of your Carillon account is about to change',
  address_changed: 'The address of your Carillon account was changed',
  new_place: 'A sign-in to your Carillon account from a new place',
} as const;
export type AccountChange = keyof typeof SUBJECTS;

/** Mails a person what changed about how they sign in, in the background. Does nothing for a person without an address. */
export function notifyPerson(
  mail: PersonMail,
  { email }: Pick<Person, 'email'>,
  change: AccountChange,
  request: FastifyRequest,
): void {
  if (email === null) return;
  const subject = SUBJECTS[change];
  // The user agent is untrusted text, so only one short line is shown.
  const agent = (request.headers['user-agent'] ?? '').replaceAll(/\p{C}/gu, ' ').slice(0, MAX_AGENT);
  const text = `${subject}.

From: ${request.ip}${agent === '' ? '' : `, ${agent}`}

If you or an owner of your deployment did this, ignore this mail.
If not, contact an owner. If you can still sign in, set a new password in Settings, Profile. This ends all other sessions.
`;
  mail.notify({ to: email, subject, text });
}

/** Remembers the network of a sign-in, and mails the person if it is a new one. The first one ever is only remembered. */
export async function noteSignIn(
  personId: string,
  request: FastifyRequest,
  { ids, directory, mail }: { readonly ids: Ids; readonly directory: Directory; readonly mail: PersonMail },
): Promise<void> {
  const place = ids.keyed('sign-in place', sourceOf(request.ip));
  let known: readonly string[] | undefined;
  const person = await directory.changePerson(personId, (before) => {
    known = before.places;
    if (known?.includes(place)) return null;
    return { ...before, places: [...(known ?? []), place].slice(-MAX_PLACES) };
  });
  if (known !== undefined && !known.includes(place)) notifyPerson(mail, person, 'new_place', request);
}
