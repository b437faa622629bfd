import { createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createFingerprints,
  createTextSealer,
  freshDataKey,
  masterKeyOf,
  openValue,
  sealValue,
  unwrapKey,
  wrapKey,
} from '../src/sealer.ts';

const key = createSecretKey(new Uint8Array(32).fill(5));
const other = createSecretKey(new Uint8Array(32));
const SMTP = { workspace: 'shop', name: 'SMTP', version: 3 };

describe('A sealed value', () => {
  it('opens to the original, and is different each time it is sealed', () => {
    const named = fc.record({ workspace: fc.string(), name: fc.string(), version: fc.nat() });
    fc.assert(
      fc.property(named, fc.string({ unit: 'grapheme' }), (which, value) => {
        const sealed = sealValue(key, which, value);
        expect(openValue(key, which, sealed)).toBe(value);
        expect(sealValue(key, which, value)).not.toBe(sealed);
      }),
    );
  });

  it('opens for no other workspace, name, version or key', () => {
    const sealed = sealValue(key, SMTP, 'hunter2');
    expect(openValue(key, { ...SMTP, workspace: 'shop2' }, sealed)).toBeNull();
    expect(openValue(key, { ...SMTP, workspace: '' }, sealed)).toBeNull();
    expect(openValue(key, { ...SMTP, name: 'SMTP2' }, sealed)).toBeNull();
    expect(openValue(key, { ...SMTP, version: 2 }, sealed)).toBeNull();
    expect(openValue(other, SMTP, sealed)).toBeNull();
    const ambiguous = sealValue(key, { workspace: 'a","b', name: 'c', version: 1 }, 'hunter2');
    expect(openValue(key, { workspace: 'a', name: 'b","c', version: 1 }, ambiguous)).toBeNull();
  });

  it('is refused after any change, and reveals nothing of its content', () => {
    const sealed = sealValue(key, SMTP, 'hunter2 and more');
    expect(sealed).not.toContain('hunter2');
    const parts = sealed.split('.');
    for (const [at, part] of parts.entries()) {
      const changed = parts.with(at, (part.startsWith('A') ? 'B' : 'A') + part.slice(1)).join('.');
      expect(openValue(key, SMTP, changed)).toBeNull();
    }
    const short = parts.with(2, (parts[2] ?? '').slice(0, 6)).join('.');
    for (const text of ['', 'v2', 'v2...', `${sealed}.x`, short, sealed.replace('v2', 'v1')]) {
      expect(openValue(key, SMTP, text)).toBeNull();
    }
  });
});

describe('A data key', () => {
  const [one, two] = [masterKeyOf(new Uint8Array(32).fill(1)), masterKeyOf(new Uint8Array(32).fill(2))];
  it('opens only under the master key that wrapped it, for its workspace and id', () => {
    const fresh = freshDataKey();
    const name = { id: 'dk_1', workspace: 'shop' };
    const wrapped = wrapKey(one, name, fresh);
    expect(unwrapKey(one, name, wrapped)?.equals(fresh)).toBe(true);
    expect(unwrapKey(two, name, wrapped)).toBeNull();
    expect(unwrapKey(one, { ...name, workspace: 'club' }, wrapped)).toBeNull();
    expect(unwrapKey(one, { ...name, id: 'dk_2' }, wrapped)).toBeNull();
    expect(unwrapKey(one, name, wrapped.slice(0, -2))).toBeNull();
    // What seals values wraps no keys, and the other way round.
    expect(openValue(one.key, { workspace: 'shop', name: 'dk_1', version: 1 }, wrapped)).toBeNull();
  });

  it('names its master key without revealing it', () => {
    expect(one.id).not.toBe(two.id);
    expect(one.id).toMatch(/^[0-9A-Z]{26}$/);
    expect(JSON.stringify(one)).not.toContain('0101');
  });
});

it('Fingerprints differ for different values, and are equal for the same value of the same secret', () => {
  const of = createFingerprints(new Uint8Array(32).fill(7));
  expect(of('shop', 'SMTP', 'a')).toMatch(/^[0-9A-Z]{4}$/);
  expect(of('shop', 'SMTP', 'a')).toBe(of('shop', 'SMTP', 'a'));
  expect(of('shop', 'SMTP', 'a')).not.toBe(of('shop', 'SMTP', 'b'));
  expect(of('club', 'SMTP', 'a')).not.toBe(of('shop', 'SMTP', 'a'));
});

it('A text sealed for one purpose opens only for that purpose and binding', () => {
  const root = new Uint8Array(32).fill(9);
  const codes = createTextSealer(root, 'codes');
  const sealed = codes.seal(['per_1'], 'JBSWY3DP');
  expect(codes.open(['per_1'], sealed)).toBe('JBSWY3DP');
  expect(codes.open(['per_2'], sealed)).toBeNull();
  expect(createTextSealer(root, 'links').open(['per_1'], sealed)).toBeNull();
  expect(createTextSealer(new Uint8Array(32), 'codes').open(['per_1'], sealed)).toBeNull();
});
