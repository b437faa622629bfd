import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { CarillonError } from '@carillon/kernel';
import { asRead } from '@carillon/domain/people';
import { MAX_USED_PASSWORDS } from './most-used-passwords.ts';
import { createSignInAdmission, type Asker } from './sign-in-admission.ts';

/** Costs of argon2id: the second recommendation of RFC 9106 with OWASP's memory: 19 MiB, 2 passes, 1 lane. */
const COSTS = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const HASH_BYTES = 32;
const SALT_BYTES = 16;
/** Concurrent computations; each uses a thread and its memory. */
const CONCURRENCY = 2;
/** Maximum waiting computations. The last one already waits some seconds. */
const MAX_WAITING = 128;

/** Minimum length (NIST SP 800-63B requires 8 with a second factor, 15 without). */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 200;

export type Passwords = {
  /** Resolves to a hash in PHC format. */
  hash(password: string, source: string): Promise<string>;
  /** Resolves to true if the password matches. A null hash takes the same time and never matches. */
  matches(password: string, hash: string | null, asker: Asker): Promise<boolean>;
};

type Costs = { readonly memory: number; readonly passes: number; readonly parallelism: number };

/** Hashes passwords with argon2id. Rejects with `overloaded` if too many tries of a source wait. */
export function createPasswords(costs: Costs = COSTS): Passwords {
  const admission = createSignInAdmission({ atOnce: CONCURRENCY, waiting: MAX_WAITING });

  const derive = (password: string, nonce: Uint8Array, { memory, passes, parallelism }: Costs, tagLength: number) =>
    new Promise<Buffer>((resolve, reject) => {
      // Different keyboards may encode one letter differently.
      const message = Buffer.from(password.normalize('NFKC'));
      argon2('argon2id', { message, nonce, memory, passes, parallelism, tagLength }, (error, tag) =>
        error ? reject(error) : resolve(tag),
      );
    });

  const nobody = { salt: randomBytes(SALT_BYTES), hash: randomBytes(HASH_BYTES), costs };
  return {
    async hash(password, source) {
      const salt = randomBytes(SALT_BYTES);
      return phc(
        costs,
        salt,
        await admission.take({ source, wrong: 0 }, () => derive(password, salt, costs, HASH_BYTES)),
      );
    },
    async matches(password, hash, asker) {
      const wanted = hash === null ? nobody : readPhc(hash);
      const work = () => derive(password, wanted.salt, wanted.costs, wanted.hash.length);
      const found = await admission.take(asker, work);
      return timingSafeEqual(found, wanted.hash) && hash !== null;
    },
  };
}

const unpadded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');
const phc = ({ memory, passes, parallelism }: Costs, salt: Uint8Array, hash: Uint8Array): string =>
  `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`;

function readPhc(text: string): { readonly salt: Uint8Array; readonly hash: Uint8Array; readonly costs: Costs } {
  const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(text);
  if (!parts) throw new Error('the stored password hash of this person has an unknown format');
  const [, memory, passes, parallelism, salt = '', hash = ''] = parts;
  return {
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
    costs: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
  };
}

/** Throws `invalid_request` for a password that is too easily guessed. */
export function refuseWeak(password: string, of: { readonly email: string | null; readonly name: string }): void {
  const refuse = (why: string): CarillonError =>
    new CarillonError('invalid_request', `password: ${why}`, { pointer: '/password' });
  if ([...password].length < SHORTEST_PASSWORD) throw refuse(`take at least ${SHORTEST_PASSWORD} characters`);
  const plain = asRead(password);
  const [local = ''] = of.email === null ? [] : asRead(of.email).split('@');
  const own = [of.email === null ? '' : asRead(of.email), local, asRead(of.name)].filter((part) => part.length > 3);
  const rest = own.reduce((left, part) => left.replaceAll(part, ''), plain);
  if (MAX_USED_PASSWORDS.has(plain))
    throw refuse('this password is one of the most used ones, which attackers try first');
  if ([...rest].length < SHORTEST_PASSWORD / 2)
    throw refuse('this password is your own name or address, which attackers try first');
  if (new Set(plain).size < 5) throw refuse('this password repeats the same few characters');
}
