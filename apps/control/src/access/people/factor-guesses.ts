import type { PeopleRecord } from '@carillon/domain/people';
import { CarillonError, type Duration } from '@carillon/kernel';
import type { Clock, PeopleStore } from '@carillon/ports';
import { addGuess, guessesOf } from './guessing.ts';
import type { MailedLinks } from './mailed-links.ts';
import { digestOf } from './secret-tokens.ts';

/** Wrong codes within the span that lock a person's second factor. The sender knows the password. */
export const MAX_WRONG_CODES = 100;
const SPAN: Duration = 24 * 60 * 60_000;
/** A locked account gets at most one mail in this span. */
const MAIL_EVERY: Duration = 60 * 60_000;

/** Counts wrong codes of second factors over all sources. */
export function createFactorGuesses(
  ports: { readonly people: PeopleStore; readonly clock: Clock },
  links: MailedLinks,
) {
  const { people, clock } = ports;
  const tallyOf = (personId: string) => ({ id: digestOf(JSON.stringify(['factor', personId])), span: SPAN });

  /** Mails the unlock link. Returns true if the person has a mail to look for. */
  async function mailUnlock({ id, body: { email } }: PeopleRecord<'person'>): Promise<boolean> {
    if (email === null) return false;
    const sent = await links.pending(id, 'unlock');
    if (sent && Math.abs(clock.now() - sent.body.createdAt) < MAIL_EVERY) return true;
    const mailText = {
      subject: 'Your Carillon account is locked',
      text: (
        link: string,
        endsAt: string,
      ) => `Somebody entered your password and then ${MAX_WRONG_CODES} wrong authenticator codes within a day. Sign-in is locked.

Open this link to unlock it:

${link}

The link works once, until ${endsAt}. If you did not enter the codes, set a new password afterwards.
`,
    };
    const { mailed } = await links.make({ purpose: 'unlock', personId: id, email }, mailText);
    if (mailed === 'sent') return true;
    // The next sign-in tries again instead of pointing to a mail that was never sent.
    await links.drop(id, 'unlock');
    return false;
  }

  return {
    count: (personId: string): Promise<void> => addGuess(people, clock, tallyOf(personId)),
    forget: (personId: string): Promise<unknown> => people.remove('guesses', tallyOf(personId).id),
    /** Throws `forbidden` after {@link MAX_WRONG_CODES}, for a right code too, and mails the link that unlocks. */
    async refuseLocked(person: PeopleRecord<'person'>): Promise<void> {
      if ((await guessesOf(people, clock, tallyOf(person.id))) < MAX_WRONG_CODES) return;
      const way = (await mailUnlock(person))
        ? 'open the link that was mailed to your address, then sign in'
        : 'no mail can be sent to you: ask an owner for a new link (owners: npx carillon owner-link --email ADDRESS), or try again after 24 hours';
      throw new CarillonError('forbidden', `there were ${MAX_WRONG_CODES} wrong codes within 24 hours; ${way}`);
    },
  };
}
export type FactorGuesses = ReturnType<typeof createFactorGuesses>;
