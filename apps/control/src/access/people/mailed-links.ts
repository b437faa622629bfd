import type { MailedLink, PeopleRecord } from '@carillon/domain/people';
import { CarillonError, formatInstant, type Duration, type Instant } from '@carillon/kernel';
import type { Clock, PeopleStore } from '@carillon/ports';
import type { Mailed, PersonMail } from './person-mail.ts';
import { digestOf, newSecretToken } from './secret-tokens.ts';

/** A mailed link opens once, within this span. */
export const MAILED_LINK_LASTS: Duration = 24 * 60 * 60_000;

type Ports = { readonly people: PeopleStore; readonly clock: Clock };
type LinkRecord = PeopleRecord<'mailed_link'>;
type Words = { readonly subject: string; readonly text: (link: string, endsAt: string) => string };

const ended = (): CarillonError =>
  new CarillonError('not_found', 'This link was used, has ended or is not valid. Ask for a new link in the portal.');

/** Links that prove access to a mailbox. One per person and purpose; a new link replaces the old one. */
export function createMailedLinks({ people, clock }: Ports, mail: PersonMail) {
  const idOf = (personId: string, purpose: MailedLink['purpose']): string =>
    digestOf(JSON.stringify([purpose, personId]));

  const lasts = ({ key, endsAt, body }: LinkRecord): boolean => {
    const now = clock.now();
    // The distance between now and the creation is compared, so that setting the clock back does not make a link valid
    // for longer.
    return key !== null && endsAt !== null && now < endsAt && Math.abs(now - body.createdAt) < MAILED_LINK_LASTS;
  };

  /** Returns the unopened link of this purpose, or null. */
  async function pending(personId: string, purpose: MailedLink['purpose']): Promise<LinkRecord | null> {
    const found = await people.find('mailed_link', idOf(personId, purpose));
    return found && lasts(found) ? found : null;
  }

  return {
    pending,
    /** Stores the link, then mails it. Keeps the link if the mail fails, because an owner can confirm the address. */
    async make(
      link: Omit<MailedLink, 'createdAt'>,
      { subject, text }: Words,
    ): Promise<{ readonly mailed: Mailed; readonly endsAt: Instant }> {
      const token = newSecretToken('eml_');
      const createdAt = clock.now();
      const endsAt = createdAt + MAILED_LINK_LASTS;
      const id = idOf(link.personId, link.purpose);
      for (;;) {
        const before = await people.find('mailed_link', id);
        const version = (before?.version ?? 0) + 1;
        const body = { ...link, createdAt };
        const record = {
          kind: 'mailed_link',
          id,
          version,
          key: digestOf(token),
          of: link.personId,
          endsAt,
          body,
        } as const;
        if ((await people.replace(record)) === 'done') break;
      }
      const letter = { id: `link-${id.slice(0, 20)}-${createdAt}`, to: link.email, subject, notAfter: endsAt };
      const mailed = await mail.sendLink({
        ...letter,
        path: `/confirm#${token}`,
        text: (url) => text(url, formatInstant(endsAt)),
      });
      return { mailed, endsAt };
    },
    /** Throws `not_found` for an invalid token. */
    async find(token: string): Promise<LinkRecord> {
      const found = await people.findByKey('mailed_link', digestOf(token));
      if (!found || !lasts(found)) throw ended();
      return found;
    },
    /** Removes the link of this purpose, if any. */
    drop: (personId: string, purpose: MailedLink['purpose']): Promise<unknown> =>
      people.remove('mailed_link', idOf(personId, purpose)),
    /** Invalidates a link. Throws `not_found` if another request has used it. */
    async use(record: LinkRecord): Promise<void> {
      const done = await people.replace({ ...record, version: record.version + 1, key: null });
      if (done !== 'done') throw ended();
    },
  };
}
export type MailedLinks = ReturnType<typeof createMailedLinks>;
