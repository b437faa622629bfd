import { canonicalEmail } from '../channels/email.ts';
import { canonicalPhone } from '../channels/sms.ts';
import { plainAddress } from '../channels/channel.ts';
import type { KeyedHash } from '../receipts/receipt-token.ts';

/** The person of an erasure, in one workspace or in all. */
export type ErasureSubject = {
  /** Null: all workspaces. */
  readonly workspace: string | null;
  /**
   * Keyed hashes of the names and addresses of the person, as `nameHash` makes them. So the list of erasures names nobody, and finds in an
   * older backup whom it removed.
   */
  readonly hashes: readonly string[];
};

/** Says what is of an erased person. */
export type ErasureMatcher = {
  readonly covers: (workspace: string | null) => boolean;
  /** Returns true for a user id or an address of the person, alone in a text. */
  readonly isPerson: (text: string) => boolean;
  /** Returns true for a text that holds an address of the person anywhere. */
  readonly mentions: (text: string) => boolean;
  /** Returns the keyed name under which lists keep a name or an address. The key of the deployment is needed to find it. */
  readonly nameInstead: (text: string) => string;
};

const HASHED_NAME = 'hashed:';

/** The form of a name that its hash is made of: an address in its canonical form, any other name as it is. */
const formOf = (text: string): string => plainAddress(text) ?? text;

/** Returns the keyed hash of a user id or an address. */
export const nameHash = (text: string, keyed: KeyedHash): string => keyed('erased', formOf(text));

/** Returns the name under which lists keep what an erased person said, and the log what anybody said. */
export const hashedName = (text: string, keyed: KeyedHash): string => HASHED_NAME + nameHash(text, keyed);

export const isHashedName = (text: string): boolean => text.startsWith(HASHED_NAME);

const EMAIL = /[\p{L}\p{N}._%+'-]+@[\p{L}\p{N}.-]+/gu;
const PHONE = /\+?\d[\d\s()./-]{5,24}\d/g;
/** Texts whose hash is remembered. Most texts of a log come again. */
const MAX_REMEMBERED = 10_000;

export function createErasureMatcher({ workspace, hashes }: ErasureSubject, keyed: KeyedHash): ErasureMatcher {
  const known = new Set(hashes);
  const remembered = new Map<string, boolean>();

  const isKnown = (form: string): boolean => {
    const before = remembered.get(form);
    if (before !== undefined) return before;
    const found = known.has(keyed('erased', form));
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(form, found);
    return found;
  };

  const holdsEmail = (text: string): boolean =>
    (text.match(EMAIL) ?? []).some((candidate) => {
      // A sentence may end in an address, and a quoted one may begin with a mark that addresses may hold.
      const forms = [
        candidate,
        candidate.replace(/[.'-]+$/, ''),
        candidate.replace(/^['%._-]+/, '').replace(/[.'-]+$/, ''),
      ];
      return forms.some((form) => isKnown(canonicalEmail(form) ?? form));
    });

  const holdsPhone = (text: string): boolean =>
    (text.match(PHONE) ?? []).some((candidate) => {
      // Numbers of events are times and ids more often than phone numbers, and reading one as a phone number takes 20 µs.
      if (!candidate.startsWith('+')) return isKnown(`+${candidate.replace(/\D/g, '').replace(/^00/, '')}`);
      const number = canonicalPhone(candidate);
      return number !== null && isKnown(number);
    });

  const decoded = (text: string): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };

  const mentions = (text: string): boolean => {
    if (text.includes('@') && holdsEmail(text)) return true;
    if (text.includes('%40') && holdsEmail(decoded(text))) return true;
    if (/\d{3}/.test(text) && holdsPhone(text)) return true;
    return false;
  };

  return {
    covers: (other) => workspace === null || other === workspace,
    isPerson: (text) => text !== '' && isKnown(formOf(text)),
    mentions,
    nameInstead: (text) => hashedName(text, keyed),
  };
}
