import { describe, expect, it } from 'vitest';
import { MAX_USED_PASSWORDS } from './most-used-passwords.ts';
import { refuseWeak, SHORTEST_PASSWORD } from './passwords.ts';

const nobody = { email: null, name: 'Ada' };

describe('refuseWeak', () => {
  it('refuses each of the 3,000 most used passwords, in capitals too', () => {
    expect(MAX_USED_PASSWORDS.size).toBe(3000);
    for (const word of MAX_USED_PASSWORDS) {
      expect(() => refuseWeak(word, nobody), word).toThrow(/password: /);
      expect(() => refuseWeak(word.toUpperCase(), nobody), word).toThrow(/password: /);
    }
  });

  it('names the reason for one that is long enough', () => {
    const long = [...MAX_USED_PASSWORDS].filter((word) => word.length >= SHORTEST_PASSWORD);
    expect(long).toContain('1qaz2wsx3edc');
    for (const word of long) expect(() => refuseWeak(word, nobody)).toThrow('one of the most used ones');
    expect(() => refuseWeak(' 1Qaz2wsx3edC ', nobody)).toThrow('one of the most used ones');
    expect(() => refuseWeak('correct horse battery staple', nobody)).not.toThrow();
  });
});
