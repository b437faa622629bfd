import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify, OUTCOME_TABLE, STAGES } from '../src/index.ts';
import { parseReply, type SmtpReply } from '../src/reply.ts';

const stage = fc.constantFrom(...STAGES);
const enhanced = fc.oneof(
  fc.constant(null),
  fc.tuple(fc.constantFrom(2, 4, 5), fc.nat(9), fc.nat(40)).map((parts) => parts.join('.')),
);

const TEXTS = ['', 'no', 'User unknown', '<a@example.com>... User unknown', 'quota exceeded', 'blocked by policy'];
const anyReply = (min: number, max: number): fc.Arbitrary<SmtpReply> =>
  fc.record({ code: fc.integer({ min, max }), enhanced, text: fc.constantFrom(...TEXTS) });

describe('The outcome of a reply', () => {
  it('is defined for every code, enhanced code and stage', () => {
    fc.assert(
      fc.property(fc.option(anyReply(0, 999)), stage, (reply, at) => {
        expect(classify(reply, at).verdict).toMatch(/^(accepted|refused_|throttled|transient|ambiguous)/);
      }),
    );
  });

  it('is definite, and never acceptance, for any 4yz and 5yz', () => {
    fc.assert(
      fc.property(anyReply(400, 599), stage, (reply, at) => {
        const { verdict } = classify(reply, at);
        expect(['accepted', 'ambiguous']).not.toContain(verdict);
      }),
    );
  });

  it('is retryable for every 4yz', () => {
    fc.assert(
      fc.property(anyReply(400, 499), stage, (reply, at) => {
        expect(['throttled', 'transient']).toContain(classify(reply, at).verdict);
      }),
    );
  });

  it('is acceptance only for 2yz after the final dot', () => {
    fc.assert(
      fc.property(fc.option(anyReply(0, 999)), stage, (reply, at) => {
        const wanted = at === 'dot' && reply !== null && reply.code >= 200 && reply.code <= 299;
        expect(classify(reply, at).verdict === 'accepted').toBe(wanted);
      }),
    );
  });

  it('suppresses an address only after RCPT, and only if a code or text says so', () => {
    fc.assert(
      fc.property(fc.option(anyReply(0, 999)), stage, (reply, at) => {
        const { suppress, verdict } = classify(reply, at);
        if (!suppress) return;
        expect(verdict).toBe('refused_recipient');
        expect(reply?.enhanced !== null || /user unknown/i.test(reply.text)).toBe(true);
        expect(reply?.text).not.toMatch(/quota|policy/);
        expect(['rcpt', 'data', 'body', 'dot']).toContain(at);
      }),
    );
  });

  it('is definite without a reply before the final dot, and in doubt after it', () => {
    for (const at of STAGES) expect(classify(null, at).verdict).toBe(at === 'dot' ? 'ambiguous' : 'transient');
  });

  it('comes from a table in which no row hides another', () => {
    const reached = new Set<number>();
    for (let code = 400; code <= 599; code += 1) {
      for (const extra of [null, ...OUTCOME_TABLE.flatMap((row) => row.enhanced ?? [])]) {
        const exact = extra?.endsWith('.') === true ? `${extra}99` : extra;
        for (const at of STAGES) {
          for (const isDead of [false, true]) {
            reached.add(OUTCOME_TABLE.findIndex((row) => decides([row], code, exact, at, isDead)));
          }
        }
      }
    }
    expect([...OUTCOME_TABLE.keys()].filter((row) => !reached.has(row))).toEqual([]);
  });
});

function decides(
  rows: typeof OUTCOME_TABLE,
  code: number,
  extra: string | null,
  at: (typeof STAGES)[number],
  isDead: boolean,
): boolean {
  return rows.some(
    (row) =>
      (row.codes?.includes(code) ?? true) &&
      (row.family === undefined || String(code).startsWith(String(row.family))) &&
      (row.stages?.includes(at) ?? true) &&
      (row.deadMailbox === undefined || isDead) &&
      (row.enhanced?.some((known) => extra === known || (known.endsWith('.') && extra?.startsWith(known))) ?? true),
  );
}

describe('A reply', () => {
  it('is read with its enhanced code, over several lines', () => {
    expect(parseReply('550-5.1.1 no such\r\n550-5.1.1 mailbox\n550 5.1.1 here')).toEqual({
      code: 550,
      enhanced: '5.1.1',
      text: 'no such mailbox here',
    });
    expect(parseReply('250')).toEqual({ code: 250, enhanced: null, text: '' });
  });

  it('drops an enhanced code that contradicts its own class', () => {
    expect(parseReply('451 5.1.1 contradicts itself')).toMatchObject({ code: 451, enhanced: null });
  });

  it('is not recognized without a leading reply code', () => {
    for (const garbage of ['', 'hello', '55', '5501', '999 what', '2', '25x ok', '\0\0', 'HTTP/1.1 400 Bad Request']) {
      expect(parseReply(garbage)).toBeNull();
    }
  });
});
