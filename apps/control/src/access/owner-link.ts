import { CarillonError, type Duration, type Instant } from '@carillon/kernel';
import { timingSafeEqual } from 'node:crypto';
import type { ControlPorts } from '../ports.ts';
import type { Directory } from './people/directory.ts';
import { digestOf, newSecretToken } from './people/words.ts';

/** A sign-in link is good for one use, and for no longer than this. */
export const LINK_LASTS: Duration = 15 * 60_000;
/**
 * Wrong words that are told so in a minute; more are told to wait, and a right word is taken all the same: whoever guesses
 * cannot keep others out. Nobody guesses 256 bits, so that this only keeps the log short.
 */
const WRONG_WORDS = { most: 10, span: 60_000 } as const;

/** Compares two secrets in constant time. */
export const isSameSecret = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

export type SignInLink = { readonly word: string; readonly endsAt: Instant };

export type OwnerLinks = {
  /** Makes a link for a person, or for the only owner. A link that was not used before ends. */
  readonly make: (personId: string | null) => Promise<SignInLink>;
  readonly use: (word: string) => Promise<string | null | undefined>;
  readonly onlyOwner: () => Promise<string>;
  readonly refusal: () => CarillonError;
};

/** Sign-in links, and the owner whom a link or the owner token signs in. */
export function createOwnerLinks(
  directory: Directory,
  { people, clock }: Pick<ControlPorts, 'people' | 'clock'>,
): OwnerLinks {
  let wrong: number[] = [];

  /** What a wrong word is told. */
  function refusal(): CarillonError {
    const now = clock.now();
    // Guesses of the future were made before the clock was set back: they count no longer.
    wrong = wrong.filter((at) => Math.abs(now - at) < WRONG_WORDS.span);
    const [oldest = now] = wrong;
    if (wrong.length >= WRONG_WORDS.most) {
      const retryAfter = oldest + WRONG_WORDS.span - now;
      return new CarillonError('rate_limited', 'too many wrong tokens or passwords; wait a minute', { retryAfter });
    }
    wrong.push(now);
    return new CarillonError(
      'unauthorized',
      'This link was used already, has ended or is not valid. Make another one with npx carillon owner-link, or sign in with the token in the file owner-token of the data folder.',
    );
  }

  /**
   * The owner whom a word signs in that names nobody: the only one there is, or the first one, who is made here. Throws `forbidden` where
   * there are several: what is done in the session would stand under the name of somebody who did not do it.
   */
  async function onlyOwner(): Promise<string> {
    const { owners: past } = await directory.roster();
    // One who is disabled or gone keeps nobody else out.
    const [first, ...others] = await directory.activeOf(past);
    if (others.length > 0) {
      throw new CarillonError(
        'forbidden',
        `there are ${others.length + 1} owners, and the link does not name one: make a link for one owner with npx carillon owner-link --email ADDRESS`,
      );
    }
    if (first !== undefined) return first;
    const { id } = await directory.addPerson({ name: 'Owner', email: null, memberships: [], passwordHash: null });
    const isNew = (one: string): boolean => !past.includes(one);
    const after = await directory.changeRoster((roster) =>
      roster.owners.some(isNew) ? null : { ...roster, owners: [...roster.owners, id] },
    );
    const [chosen = id] = after.owners.filter(isNew);
    // Two first links at once make one owner.
    if (chosen !== id) await people.remove('person', id);
    return chosen;
  }

  /** Whom the link of this word signs in; undefined where it is no link that is good. It is used up by that. */
  async function use(word: string): Promise<string | null | undefined> {
    const digest = digestOf(word);
    let found: string | null | undefined;
    await directory.changeRoster((roster) => {
      found = undefined;
      const { link } = roster;
      if (link === null || !isSameSecret(link.digest, digest)) return null;
      // A clock that was set back makes no link last longer.
      if (Math.abs(link.endsAt - LINK_LASTS - clock.now()) >= LINK_LASTS) return null;
      found = link.personId;
      return { ...roster, link: null };
    });
    return found;
  }

  async function make(personId: string | null): Promise<SignInLink> {
    const word = newSecretToken('');
    const endsAt = clock.now() + LINK_LASTS;
    await directory.changeRoster((roster) => ({ ...roster, link: { digest: digestOf(word), endsAt, personId } }));
    return { word, endsAt };
  }

  return { make, use, onlyOwner, refusal };
}
