import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decide,
  fold,
  consentLookupNames,
  optOutFor,
  personName,
  publishedWords,
  type Consents,
  type ConsentTarget,
  type ConsentEntry,
  type Decision,
} from '../../src/consent/index.ts';

const PERSON = { workspace: 'shop', person: 'ada' };
const derive = (_kind: string, ...parts: readonly string[]): string => parts.join('|');
const at = (now: number) => ({ now, derive });
const ALL: ConsentTarget = { kind: 'all' };
const ORDERS: ConsentTarget = { kind: 'category', name: 'orders' };
const PAID: ConsentTarget = { kind: 'notification', name: 'ntf_paid' };
const out = (target: ConsentTarget, channel: Decision['channel'] = null): Decision => ({
  target,
  channel,
  optedOut: true,
  way: 'page',
});
const back = (target: ConsentTarget, channel: Decision['channel'] = null): Decision => ({
  ...out(target, channel),
  optedOut: false,
});
const saying = (...decisions: readonly Decision[]): Consents => {
  const made = decide(null, PERSON, decisions, at(10));
  if (!made) throw new Error('nothing was decided');
  return made;
};

const NEWS: ConsentTarget = { kind: 'category', name: 'news' };
const targets = fc.constantFrom(ALL, ORDERS, PAID, NEWS);
const channels = fc.constantFrom('email', 'sms', null);
const decisions: fc.Arbitrary<Decision> = fc.record({
  target: targets,
  channel: channels,
  optedOut: fc.boolean(),
  way: fc.constantFrom('one_click', 'page', 'api', 'import'),
});
const words: fc.Arbitrary<ConsentEntry> = fc.record({
  id: fc.string({ maxLength: 3 }),
  workspace: fc.constant('shop'),
  person: fc.constant('ada'),
  target: targets,
  channel: channels,
  optedOut: fc.boolean(),
  way: fc.constantFrom('one_click', 'page'),
  at: fc.integer({ min: 0, max: 5 }),
});
const standing = (document: Consents | undefined) =>
  document?.words.map(({ target, channel, optedOut, at: when }) => ({ target, channel, optedOut, when }));

describe('the opt-out decisions of a person', () => {
  it('are reduced to the newest decision per target and channel, in any order and batching', () => {
    fc.assert(
      fc.property(
        fc
          .array(words, { minLength: 1, maxLength: 12 })
          .chain((made) =>
            fc.tuple(
              fc.constant(made),
              fc.shuffledSubarray(made, { minLength: made.length, maxLength: made.length }),
              fc.nat(made.length),
            ),
          ),
        ([made, shuffled, cut]) => {
          const whole = fold(null, PERSON, made, 1);
          const first = fold(null, PERSON, shuffled.slice(0, cut), 1);
          const second = fold(first ?? null, PERSON, shuffled.slice(cut), 2) ?? first;
          expect(standing(second)).toEqual(standing(whole));
          // Again changes nothing.
          expect(fold(second ?? null, PERSON, made, 3)).toBeUndefined();
          for (const word of whole?.words ?? []) {
            const rivals = made.filter(
              (one) => JSON.stringify([one.target, one.channel]) === JSON.stringify([word.target, word.channel]),
            );
            expect(word.at).toBe(Math.max(...rivals.map((one) => one.at)));
          }
        },
      ),
    );
  });

  it('are restored from the log if a backup lacks them, whatever was decided since', () => {
    fc.assert(
      fc.property(fc.array(decisions, { minLength: 1, maxLength: 10 }), fc.nat(10), (made, kept) => {
        let document: Consents | undefined;
        let backup: Consents | undefined;
        const log: ConsentEntry[] = [];
        for (const [place, decision] of made.entries()) {
          const next = decide(document ?? null, PERSON, [decision], at(5));
          if (next) {
            log.push(...next.unpublished.filter((word) => !log.some(({ id }) => id === word.id)));
            document = next;
          }
          if (place < kept) backup = document;
        }
        const restored = fold(backup ?? null, PERSON, log, 9) ?? backup;
        expect(standing(restored)).toEqual(standing(document));
      }),
    );
  });

  it('get a time after all stored ones, even if the clock of another process ran ahead', () => {
    const ahead = decide(null, PERSON, [out(ORDERS)], at(1_000));
    const later = decide(ahead ?? null, PERSON, [back(ORDERS)], at(10));
    expect(
      optOutFor(later ? [later] : [], { notificationId: 'x', categories: ['orders'], channel: 'email' }),
    ).toBeNull();
    expect(standing(later)).toMatchObject([{ optedOut: false, when: 1_001 }]);
  });

  it('are written with a new time if they repeat the current choice, because a restored store may lack those between', () => {
    const stopped = saying(out(ORDERS));
    const allowed = decide(stopped, PERSON, [back(ORDERS)], at(100));
    // The backup was taken in between: the log alone knows of the word that allows.
    const again = decide(stopped, PERSON, [out(ORDERS)], at(200));
    const caughtUp = fold(again ?? stopped, PERSON, allowed?.unpublished ?? [], 300) ?? again;
    expect(standing(caughtUp)).toMatchObject([{ optedOut: true, when: 200 }]);
  });

  it('replace an equal decision that is not on the log yet', () => {
    const again = decide(saying(out(ORDERS), out(PAID)), PERSON, [out(ORDERS)], at(20));
    expect(again?.unpublished).toMatchObject([{ target: PAID }, { target: ORDERS, at: 20 }]);
  });

  it('are not written if they withdraw an opt-out that does not exist', () => {
    expect(decide(null, PERSON, [back(ALL)], at(20))).toBeUndefined();
    expect(decide(saying(out(ORDERS)), PERSON, [back(ALL)], at(20))).toBeUndefined();
  });

  it('stay unpublished until they are on the log, and publishing removes no others', () => {
    const first = saying(out(ORDERS));
    const both = decide(first, PERSON, [out(PAID)], at(20));
    if (!both) throw new Error('nothing was decided');
    const left = publishedWords(both, new Set(first.unpublished.map(({ id }) => id)));
    expect(left).toMatchObject({ version: 3, unpublished: [{ target: PAID }] });
    expect(left?.words).toEqual(both.words);
    expect(publishedWords(both, new Set(['another']))).toBeUndefined();
  });
});

describe('an opt-out', () => {
  const question = { notificationId: 'ntf_paid', categories: ['orders'], channel: 'email' } as const;
  it.each([
    ['of everything on all channels', out(ALL), true],
    ['of everything on this channel', out(ALL, 'email'), true],
    ['of everything on another channel', out(ALL, 'sms'), false],
    ['of the category', out(ORDERS), true],
    ['of the category on this channel', out(ORDERS, 'email'), true],
    ['of another category', out({ kind: 'category', name: 'news' }), false],
    ['of the notification', out(PAID), true],
    ['of a notification that is called as the category', out({ kind: 'notification', name: 'orders' }), false],
    ['of a category that is called as the notification', out({ kind: 'category', name: 'ntf_paid' }), false],
  ])('%s blocks a message: %o', (_what, decision, held) => {
    expect(optOutFor([saying(decision)], question) !== null).toBe(held);
  });

  it('blocks nothing after it is withdrawn, and leaves opt-outs of other targets', () => {
    const document = decide(saying(out(ALL), out(ORDERS)), PERSON, [back(ALL)], at(20));
    expect(optOutFor(document ? [document] : [], question)).toMatchObject({ target: ORDERS });
    expect(optOutFor(document ? [document] : [], { ...question, categories: [] })).toBeNull();
  });
});

describe('the name by which a person’s opt-outs are stored', () => {
  const keyed = (...parts: readonly string[]): string => `h${parts.join('').length}`;
  it('is the normalized address, or any other text unchanged', () => {
    expect(personName('Ada@BÜCHER.example.', keyed)).toBe('ada@xn--bcher-kva.example');
    expect(personName('+49 (30) 123-456', keyed)).toBe('+4930123456');
    expect(personName('User 42', keyed)).toBe('User 42');
    expect(personName('x'.repeat(200), keyed)).toBe('x'.repeat(200));
    expect(personName('x'.repeat(201), keyed)).toBe('hash:h207');
    expect(personName('ü'.repeat(101), keyed)).toBe('hash:h107');
  });

  it('is looked up together with the address of the message', () => {
    expect(consentLookupNames({ person: 'user 42', to: 'Ada@example.com' }, 'email', keyed)).toEqual([
      'user 42',
      'ada@example.com',
    ]);
    expect(consentLookupNames({ person: 'ADA@example.com', to: 'ada@example.com' }, 'email', keyed)).toEqual([
      'ada@example.com',
    ]);
    expect(consentLookupNames({ person: 'user 42', to: null }, 'email', keyed)).toEqual(['user 42']);
    // Earlier versions kept wishes under the number with its trunk zero.
    expect(consentLookupNames({ person: 'user 42', to: '+49 (0) 30 123456' }, 'sms', keyed)).toEqual([
      'user 42',
      '+4930123456',
      '+49030123456',
    ]);
    expect(consentLookupNames({ person: '+49030123456', to: null }, 'email', keyed)).toEqual([
      '+4930123456',
      '+49030123456',
    ]);
  });
});
