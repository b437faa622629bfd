import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { at, DeliveryStory, givenIntent, HOUR, MINUTE, PLAIN_SETTINGS } from '@carillon/testing/given';
import type { InDoubtPolicy } from '../../src/configuration/index.ts';
import { type Delivery, type ProviderVerdict, decideCustody } from '../../src/deliveries/index.ts';

const TOKENS = ['t1', 't2', 't3', 't4', 't5', 't6'] as const;
const VERDICTS: readonly ProviderVerdict[] = [
  'accepted',
  'refused_recipient',
  'refused_content',
  'refused_account',
  'throttled',
  'transient',
  'ambiguous',
];

type Told = {
  readonly story: DeliveryStory;
  readonly policy: InDoubtPolicy;
  accepted: number;
  waivers: number;
  begun: number;
};
type Command = { readonly name: string; readonly run: (told: Told) => void };

/** What can happen to a delivery, in any order; a step that the product refuses is no step. */
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.constantFrom('main', 'backup').map((account) => ({
    name: `begin over ${account}`,
    run(told: Told) {
      const token = TOKENS[told.begun];
      if (token === undefined) return;
      told.story.begins(token, account);
      told.begun += 1;
    },
  })),
  fc
    .tuple(fc.nat(5), fc.constantFrom(...VERDICTS), fc.boolean(), fc.boolean())
    .map(([which, verdict, another, stopped]) => ({
      name: `answer ${verdict} to t${which + 1}`,
      run(told: Told) {
        const token = TOKENS[which] ?? 't1';
        const attempt = told.story.delivery.attempts.find((one) => one.token === token);
        // A provider answers each call once; what the product wrote down itself is no answer.
        if (!attempt || (attempt.result !== null && attempt.result.verdict !== 'ambiguous')) return;
        if (verdict === 'accepted') told.accepted += 1;
        const code = verdict === 'transient' && stopped ? 'stopped' : '';
        const settings = { inDoubt: told.policy };
        told.story.answers(token, verdict, { settings, anotherAccount: another, code });
      },
    })),
  fc.constantFrom('sweep', 'renew', 'publish', 'cancel', 'postpone').map((name) => ({
    name,
    run({ story, policy }: Told) {
      if (name === 'sweep') story.losesItsSender({ inDoubt: policy });
      if (name === 'renew') story.renews(story.delivery.token ?? '');
      if (name === 'publish') story.isPublished();
      if (name === 'cancel') story.isCancelledByOperator();
      if (name === 'postpone') story.isPostponed(story.now + MINUTE);
    },
  })),
  fc.constantFrom('SUPPRESSED', 'EXPIRED', 'FAILED').map((state) => ({
    name: state,
    run: ({ story }: Told) => void story.ends(state, 'rule_withdrawn'),
  })),
  fc.constantFrom('sent', 'failed').map((as) => ({
    name: `dismiss as ${as}`,
    run: ({ story }: Told) => void story.isDismissedByOperator(as),
  })),
  fc.constant({
    name: 'operator resends',
    run(told: Told) {
      told.story.isResentByOperator();
      told.waivers += 1;
    },
  }),
  fc.constantFrom('second', 'third', 'fourth').map((name) => ({
    name: `judge ${name}`,
    run: ({ story }: Told) => void story.judges(givenIntent(name)),
  })),
  fc.constantFrom(MINUTE, HOUR, 30 * HOUR).map((span) => ({
    name: `${span} ms pass`,
    run: ({ story }: Told) => void story.passes(span),
  })),
);

/** Runs commands, and hands each write to the law: the document before and after. */
function tell(
  commands: readonly Command[],
  policy: InDoubtPolicy,
  law: (before: Delivery, after: Delivery, told: Told) => void,
): Told {
  const told: Told = { story: new DeliveryStory(), policy, accepted: 0, waivers: 0, begun: 0 };
  for (const { run } of commands) {
    const before = told.story.delivery;
    try {
      run(told);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('refused')) throw error;
    }
    if (told.story.delivery !== before) law(before, told.story.delivery, told);
  }
  return told;
}

const commands = fc.array(command, { minLength: 4, maxLength: 30 });
const anyPolicy = fc.constantFrom<InDoubtPolicy>('hold', 'resend', 'drop');
function holds(law: (before: Delivery, after: Delivery, told: Told) => void, policies = anyPolicy): void {
  const property = fc.property(commands, policies, (list, policy) => void tell(list, policy, law));
  fc.assert(property, { numRuns: 1500 });
}

describe('a delivery under any sequence of commands', () => {
  it('increments its version by exactly one with every write', () => {
    holds((before, after) => expect(after.version).toBe(before.version + 1));
  });

  it('has a token and a lease when SENDING, and a lease in no other state', () => {
    holds((_, { state, token, leaseUntil }) => {
      if (state === 'SENDING') expect(token !== null && leaseUntil !== null).toBe(true);
      else expect(leaseUntil).toBeNull();
    });
  });

  it('has a due time only when WAITING, at most just after not_after', () => {
    holds(({ notAfter }, { state, nextAt }, { story }) => {
      const latest = Math.max(notAfter, story.delivery.notAfter, story.now) + 1;
      if (state === 'WAITING') expect(nextAt).toBeLessThanOrEqual(latest);
      else expect(nextAt).toBeNull();
    });
  });

  it('is WAITING or SENDING if its reason is new, and SENT if its reason is accepted', () => {
    // Stores rely on it: what these two reasons have in common with a state, they find by the state alone.
    holds((_, { state, reason }) => {
      if (reason === 'new') expect(['WAITING', 'SENDING']).toContain(state);
      if (reason === 'accepted') expect(state).toBe('SENT');
    });
  });

  it('is never sent again after it was SENT', () => {
    holds((before, after) => {
      if (before.state === 'SENT' || before.state === 'DELIVERED') expect(after.state).toBe(before.state);
    });
  });

  it('never becomes replaceable again once it may have been sent', () => {
    holds((before, after) => {
      if (!before.clean) expect(after.clean).toBe(false);
    });
  });

  it('begins no call after not_after', () => {
    holds((before, after, { story }) => {
      if (after.state === 'SENDING' && before.state !== 'SENDING')
        expect(story.now).toBeLessThanOrEqual(after.notAfter);
    });
  });

  it('changes not_after only by an operator or with a message that replaces it', () => {
    holds((before, after) => {
      const allowed = after.reason === 'operator_resend' || after.intent.id !== before.intent.id;
      if (!allowed) expect(after.notAfter).toBe(before.notAfter);
    });
  });

  it('never uses more attempts than it is allowed', () => {
    holds((_, { attemptsUsed }) => {
      expect(attemptsUsed).toBeGreaterThanOrEqual(0);
      expect(attemptsUsed).toBeLessThanOrEqual(PLAIN_SETTINGS.retry.attempts);
    });
  });

  it('has a unique id for every outcome, and an outcome for each end in a new state', () => {
    const property = fc.property(commands, anyPolicy, (list, policy) => {
      const seen = new Set<string>();
      tell(list, policy, (before, after) => {
        const known = new Set(before.unpublished.map((outcome) => outcome.id));
        const fresh = after.unpublished.filter((outcome) => !known.has(outcome.id));
        for (const { id } of fresh) {
          expect(seen.has(id)).toBe(false);
          seen.add(id);
        }
        const told = after.state !== before.state && after.state !== 'SENDING' && after.intent.id === before.intent.id;
        if (told) expect(fresh).toMatchObject([{ state: after.state, reason: after.reason }]);
      });
    });
    fc.assert(property, { numRuns: 1500 });
  });

  it('is replaced by another message only if no attempt was ever accepted or in doubt', () => {
    holds((before, after) => {
      if (after.intent.id === before.intent.id) return;
      expect(['SUPPRESSED', 'EXPIRED', 'FAILED']).toContain(before.state);
      const verdicts = before.attempts.map((attempt) => attempt.result?.verdict);
      expect(verdicts).not.toContain('accepted');
      expect(verdicts).not.toContain('ambiguous');
      expect(verdicts).not.toContain(undefined);
    });
  });

  it('is accepted by the provider at most once, unless an operator or `in_doubt: resend` permits a second send', () => {
    const property = fc.property(commands, fc.constantFrom('hold', 'drop'), (list, policy: InDoubtPolicy) => {
      const told = tell(list, policy, () => undefined);
      expect(told.accepted).toBeLessThanOrEqual(1 + told.waivers);
    });
    fc.assert(property, { numRuns: 3000 });
  });

  it('is not sent again once it is known to be accepted, even under `in_doubt: resend`', () => {
    holds((before, after, told) => {
      const proven = before.attempts.some((attempt) => attempt.result?.verdict === 'accepted');
      if (told.waivers === 0 && proven && before.state !== 'SENDING') expect(after.state).not.toBe('SENDING');
    }, fc.constant('resend'));
  });

  it('decides the same if a message request is evaluated twice against the same document', () => {
    holds((before, _, { story }) => {
      const intent = givenIntent('twice');
      const judge = () => decideCustody(before, intent, 'carillon.intents/0@9', at(story.now));
      expect(judge()).toEqual(judge());
    });
  });
});
