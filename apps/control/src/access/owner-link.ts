import { CarillonError, type Duration, type Instant } from '@carillon/kernel';
import { timingSafeEqual } from 'node:crypto';
import type { ControlPorts } from '../ports.ts';
import type { Directory } from './people/directory.ts';
import { digestOf, newSecretToken } from './people/secret-tokens.ts';

/** Validity of a sign-in link, which works once. */
export const LINK_LASTS: Duration = 15 * 60_000;
/**
 * Wrong tokens per minute that are refused as wrong. Further wrong tokens are refused with a time to wait. A right token is always accepted,
 * so guessing cannot lock others out. 256-bit tokens cannot be guessed; this only bounds the log.
 */
const WRONG_WORDS = { most: 10, span: 60_000 } as const;

/** Compares two secrets in constant time. */
export const isSameSecret = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

export type SignInLink = { readonly word: string; readonly endsAt: Instant };

export type OwnerLinks = {
  /** Makes a link for a person, or for the only owner. An unused earlier link ends. */
  readonly make: (personId: string | null) => Promise<SignInLink>;
  readonly use: (word: string) => Promise<string | null | undefined>;
  readonly onlyOwner: () => Promise<string>;
  readonly refusal: () => CarillonError;
};

/** Sign-in links, and the owner who is signed in by a link or the owner token. */
export function createOwnerLinks(
  directory: Directory,
  { people, clock }: Pick<ControlPorts, 'people' | 'clock'>,
): OwnerLinks {
  let wrong: number[] = [];

  /** Returns the refusal of a wrong token. */
  function refusal(): CarillonError {
    const now = clock.now();
    // Ignores guesses with a future time, made before the clock was set back.
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
   * Returns the owner for a token without a person: the only owner, or the first one, created here. Throws `forbidden`
   * if there are several, because the actions of the session would be recorded under the wrong name.
   */
  async function onlyOwner(): Promise<string> {
    const { owners: past } = await directory.roster();
    // Disabled or removed owners do not count.
    const [first, ...others] = await directory.activeOf(past);
    if (others.length > 0) {
      throw new CarillonError(
        'forbidden',
        `there are ${others.length + 1} owners, and the link does not name one: make a link for one owner with npx carillon owner-link --email ADDRESS`,
      );
    }
    if (first !== undefined) return first;
    const { id } = await directory.addPerson({ name: 'Owner', email: null, memberships: [], passwordHash: null });
    const isNew = (owner: string): boolean => !past.includes(owner);
    const after = await directory.changeRoster((roster) =>
      roster.owners.some(isNew) ? null : { ...roster, owners: [...roster.owners, id] },
    );
    const [chosen = id] = after.owners.filter(isNew);
    // Two concurrent first links create one owner.
    if (chosen !== id) await people.remove('person', id);
    return chosen;
  }

  /** Uses up a link. Returns its person; undefined if the token is no valid link. */
  async function use(word: string): Promise<string | null | undefined> {
    const digest = digestOf(word);
    let found: string | null | undefined;
    await directory.changeRoster((roster) => {
      found = undefined;
      const { link } = roster;
      if (link === null || !isSameSecret(link.digest, digest)) return null;
      // A clock that was set back does not extend a link.
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
