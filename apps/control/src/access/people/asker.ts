import type { PeopleRecord, Person } from '@carillon/domain/people';
import { CarillonError } from '@carillon/kernel';
import { sourceOf } from '@carillon/runtime';
import type { PeopleStore } from '@carillon/ports';
import type { FastifyRequest } from 'fastify';
import type { Access } from '../access.ts';
import { principalOf } from '../principal.ts';
import { audited } from '../../audit/facts.ts';

/** Identifies callers who change their own account. */
export function createAsker(access: Pick<Access, 'guessing' | 'passwords'>, people: Pick<PeopleStore, 'find'>) {
  /** Returns session and person. Throws `forbidden` for tokens, which have neither profile nor password. */
  async function asker(request: FastifyRequest): Promise<{
    readonly session: PeopleRecord<'session'>;
    readonly id: string;
    readonly person: Person;
  }> {
    const { session } = principalOf(request);
    const found = session && (await people.find('person', session.body.personId));
    if (!session || !found) throw new CarillonError('forbidden', 'a token has no profile: sign in as a person');
    audited(request, { target: found.id });
    return { session, id: found.id, person: found.body };
  }

  /** Requires the password, because a session may be open on an unattended device. Wrong passwords count as guesses. */
  async function prove(request: FastifyRequest, { id, person }: { id: string; person: Person }, password?: string) {
    const { password: stored } = person;
    if (stored === null) return;
    if (password === undefined) {
      throw new CarillonError('invalid_request', 'current_password: send your current password', {
        pointer: '/current_password',
      });
    }
    const source = sourceOf(request.ip);
    const right = await access.guessing.attempt(person.email ?? id, source, async (wrong) =>
      (await access.passwords.matches(password, stored.hash, { source, wrong })) ? true : null,
    );
    if (right === null) {
      throw new CarillonError('forbidden', 'current_password: this is not your password', {
        pointer: '/current_password',
      });
    }
  }

  return { asker, prove };
}
