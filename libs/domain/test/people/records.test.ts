import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalEmail } from '../../src/channels/index.ts';
import { asRead, emailKey } from '../../src/people/index.ts';

describe('the key by which a person’s sign-in address is looked up', () => {
  it.each([
    ['Ada@Example.com', 'ada@example.com'],
    ['  ada@example.com ', 'ada@example.com'],
    ['ａda@example.com', 'ada@example.com'],
    ['ada@BÜCHER.example.', 'ada@xn--bcher-kva.example'],
  ])('of %s is %s', (written, key) => {
    expect(emailKey(written)).toBe(key);
  });

  it('is the normalized address, or the text as it is if it is no valid address', () => {
    expect(emailKey(' Ada@Localhost')).toBe('ada@localhost');
    fc.assert(
      fc.property(fc.oneof(fc.emailAddress(), fc.string()), (text) => {
        expect(emailKey(text)).toBe(canonicalEmail(text) ?? asRead(text));
        expect(emailKey(emailKey(text))).toBe(emailKey(text));
      }),
    );
  });
});
