import {
  applyCohortMessage,
  countPages,
  hasAllPages,
  withPage,
  type Cohort,
  type CohortMember,
  type CohortMessage,
} from '../../src/cohorts/index.ts';
import type { LogId } from '@carillon/kernel';
import { cohortMessage, givenMembership, pageOf } from '@carillon/testing/given';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const users = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 6 });
const difference = fc
  .tuple(fc.constantFrom('add' as const, 'remove' as const), users)
  .map(([action, userIds]) => cohortMessage({ action, userIds }));
let sessions = 0;
/** A whole replacement: its pages in any order, some of them twice. */
const replacement = fc.array(users, { minLength: 1, maxLength: 4 }).chain((pages) => {
  sessions += 1;
  const messages = pages.map((page, at) => pageOf(`s${sessions}`, at + 1, pages.length, ...page));
  return fc
    .tuple(fc.shuffledSubarray(messages, { minLength: messages.length }), fc.subarray(messages))
    .map(([all, again]) => [...all, ...again]);
});
const talk = fc.array(
  fc.oneof(
    difference.map((one) => [one]),
    replacement,
  ),
  { maxLength: 12 },
);

describe('membership of a cohort (a group of users from an analytics platform)', () => {
  it('follows the platform’s messages, whatever is repeated and in whatever order pages arrive', () => {
    fc.assert(
      fc.property(talk, (parts) => {
        const cohort = givenMembership();
        let wanted = new Set<string>();
        for (const part of parts) {
          for (const message of part) cohort.say(message, 2);
          const [first] = part;
          if (first?.action === 'replace') wanted = new Set(part.flatMap(({ userIds }) => userIds));
          else for (const user of first?.userIds ?? []) wanted[first?.action === 'add' ? 'add' : 'delete'](user);
        }
        expect(cohort.inside()).toEqual([...wanted].toSorted());
      }),
    );
  });

  it('reports entered and left alternately for each user', () => {
    fc.assert(
      fc.property(talk, (parts) => {
        const cohort = givenMembership();
        const told = parts.flat().flatMap((message) => cohort.say(message, 2));
        for (const user of 'abcdef') {
          const own = told.filter((line) => line.startsWith(`${user} `)).map((line) => line.split(' ')[1]);
          expect(own.every((kind, at) => kind === (at % 2 === 0 ? 'entered' : 'left'))).toBe(true);
        }
      }),
    );
  });

  it('stays the same if a batch is repeated after all or part of it was saved', () => {
    fc.assert(
      fc.property(
        fc.array(difference, { minLength: 1, maxLength: 8 }),
        fc.infiniteStream(fc.boolean()),
        (talk_, saved) => {
          const members = new Map<string, CohortMember>();
          const first = run(talk_, null, members);
          const kept = new Map([...members].filter(() => saved.next().value));
          const again = run(talk_, null, kept);
          expect(kept).toEqual(members);
          expect(first.told).toEqual(expect.arrayContaining(again.told));
          expect(run(talk_, null, kept).told).toEqual([]);
        },
      ),
    );
  });
});

describe('members stored as one list', () => {
  const sets = fc.constantFrom(
    [],
    ['a', 'b', 'c', 'd'],
    ['a', 'b', 'c'],
    ['d', 'e'],
    ['a'],
    ['a', 'b', 'c', 'd', 'e', 'f'],
  );
  /** Seconds after the first message; a message cannot be of the future. */
  const time = fc.option(fc.integer({ min: 0, max: 40 }), { nil: null });
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.tuple(
        fc.constantFrom('add' as const, 'add' as const, 'remove' as const),
        sets,
        time,
        fc.nat({ max: 2 }),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constant('replace' as const), sets, fc.constantFrom('one', 'two'), fc.nat({ max: 2 })),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constant('session' as const), sets, fc.constantFrom('one', 'two'), fc.nat({ max: 2 })),
    },
    { weight: 1, arbitrary: fc.tuple(fc.constant('times' as const), sets, fc.nat({ max: 40 }), fc.nat({ max: 2 })) },
  );
  const messagesOf = ([kind, userIds, more, again]: typeof step extends fc.Arbitrary<infer One> ? One : never) => {
    const message =
      kind === 'replace'
        ? pageOf(`replace ${more}`, (again % 2) + 1, 2, ...userIds)
        : kind === 'session'
          ? cohortMessage({ session: more, page: { number: again + 1, of: 3 }, userIds })
          : kind === 'times'
            ? cohortMessage({ time: userIds.map((_, at) => (more + at) * 1000), userIds })
            : cohortMessage({ action: kind, userIds, time: more === null ? null : more * 1000 });
    return Array.from({ length: kind === 'replace' ? 1 : again + 1 }, () => message);
  };

  it('behave as if each had a document that every message writes', () => {
    let saved = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const [together, each] = [givenMembership(1), givenMembership(Infinity)];
        for (const message of steps.flatMap(messagesOf)) {
          expect(together.say(message, 2)).toEqual(each.say(message, 2));
          expect(together.inside()).toEqual(each.inside());
        }
        saved += each.written() - together.written();
      }),
      { numRuns: 2_000 },
    );
    expect(saved).toBeGreaterThan(1_000);
  });

  it('are correct wherever a worker dies between writing the members and the cohort', () => {
    const deaths = fc.array(fc.option(fc.nat({ max: 4 }), { nil: null, freq: 2 }), { minLength: 10 });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), deaths, (steps, dying) => {
        const [together, each] = [givenMembership(1), givenMembership(Infinity)];
        for (const [at, message] of steps.flatMap(messagesOf).entries()) {
          const dead = dying[at % dying.length] ?? null;
          if (dead !== null) together.dies(dead);
          together.say(message, 2);
          each.say(message, 2);
          expect(together.inside()).toEqual(each.inside());
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('are correct if a batch is repeated after part of it was saved', () => {
    const said = fc.tuple(fc.constantFrom('add' as const, 'add' as const, 'remove' as const), sets, time);
    const batches = fc.array(fc.array(said, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(batches, fc.infiniteStream(fc.boolean()), (all, saved) => {
        const [together, each] = [new Map<string, CohortMember>(), new Map<string, CohortMember>()];
        const states: [Cohort | null, Cohort | null] = [null, null];
        let from = 0;
        for (const batch of all) {
          const messages = batch.map(([action, userIds, at]) =>
            cohortMessage({ action, userIds, time: at === null ? null : at * 1000 }),
          );
          const tried = new Map(together);
          run(messages, states[0], tried, { from, rollFrom: 1 });
          for (const [user, member] of tried) if (saved.next().value) together.set(user, member);
          states[0] = run(messages, states[0], together, { from, rollFrom: 1 }).cohort;
          states[1] = run(messages, states[1], each, { from, rollFrom: Infinity }).cohort;
          expect(insideOf(together)).toEqual(insideOf(each));
          from += messages.length;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

it('members get the newest time when a repeated batch repeats a list', () => {
  const list = cohortMessage({ userIds: ['a', 'b'] });
  const members = new Map<string, CohortMember>();
  const first = run([list], null, members, { rollFrom: 1 }).cohort;
  const batch = [cohortMessage({ action: 'remove', userIds: ['a'] }), list];
  // All of its members were saved, and the cohort was not.
  run(batch, first, members, { from: 1, rollFrom: 1 });
  const second = run(batch, first, members, { from: 1, rollFrom: 1 }).cohort;
  const late = cohortMessage({ action: 'remove', userIds: ['a'], time: 2_500 });
  run([list, late], second, members, { from: 3, rollFrom: 1 });
  expect(insideOf(members)).toEqual(['a', 'b']);
});

const insideOf = (members: ReadonlyMap<string, CohortMember>): readonly string[] =>
  [...members.values()]
    .filter(({ inside }) => inside)
    .map(({ user }) => user)
    .toSorted();

/** The pages of one export by additions, in any order, some of them twice; `lost`: never the last one to come. */
const additions = (session: string, pages: readonly string[][], lost: boolean) => {
  const messages = pages.map((userIds, at) =>
    cohortMessage({ session, page: { number: at + 1, of: pages.length }, userIds }),
  );
  const kept = fc.shuffledSubarray(
    messages,
    lost ? { maxLength: messages.length - 1 } : { minLength: messages.length },
  );
  return fc
    .tuple(kept, fc.subarray(messages))
    .map(([all, again]) => [...all, ...again.filter((message) => all.includes(message))]);
};

describe('a first sync of a cohort by additions', () => {
  const pages = fc.array(
    users.map((some) => [...some, 'z']),
    { minLength: 1, maxLength: 4 },
  );
  const tries = fc
    .tuple(fc.array(pages, { maxLength: 4 }), pages)
    .chain(([broken, whole]) =>
      fc.tuple(...broken.map((some, at) => additions(`try ${at}`, some, true)), additions('whole', whole, false)),
    );

  it('reports nobody as newly entered, whatever is lost, repeated or restarted; later additions are reported', () => {
    fc.assert(
      fc.property(tries, fc.array(fc.nat({ max: 3 })), (exports, late) => {
        const cohort = givenMembership();
        const told = exports.flat().flatMap((message) => cohort.say(message));
        for (const at of late)
          told.push(
            ...exports
              .flat()
              .slice(at, at + 1)
              .flatMap((message) => cohort.say(message)),
          );
        expect(told.every((line) => line.endsWith(' entered at first'))).toBe(true);
        const named = new Set(exports.flat().flatMap(({ userIds }) => userIds));
        expect(cohort.inside()).toEqual([...named].toSorted());
        const later = cohortMessage({ session: 'later', page: { number: 1, of: 1 }, userIds: ['new', 'z'] });
        expect(cohort.say(later)).toEqual(['new entered']);
      }),
    );
  });
});

/** One export of the whole cohort, of which pages were lost. */
const brokenReplacement = fc.array(users, { minLength: 2, maxLength: 4 }).chain((pages) => {
  sessions += 1;
  const messages = pages.map((page, at) => pageOf(`broken${sessions}`, at + 1, pages.length, ...page));
  return fc.shuffledSubarray(messages, { maxLength: messages.length - 1 });
});
/** A difference as Mixpanel sends it: of one page, with a session of its own, or of several. */
const pagedDifference = fc.tuple(users, fc.integer({ min: 1, max: 2 })).map(([userIds, of]) => {
  sessions += 1;
  return [cohortMessage({ session: `diff${sessions}`, page: { number: 1, of }, userIds })];
});

it('an unknown user is not reported as entered up to the first complete replacement, and is reported after it', () => {
  const before = fc.array(
    fc.oneof(
      difference.map((one) => [one]),
      pagedDifference,
      brokenReplacement,
    ),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(before, replacement, fc.nat({ max: 7200 }), (parts, whole, seconds) => {
      const cohort = givenMembership();
      const heard = new Set<string>();
      for (const message of [...parts, whole].flat()) {
        cohort.pass(seconds);
        const told = cohort.say(message).filter((line) => line.endsWith(' entered'));
        if (message.action === 'replace')
          expect(told.filter((line) => !heard.has(line.split(' ')[0] ?? ''))).toEqual([]);
        for (const user of message.userIds) heard.add(user);
      }
      const everybody = [...cohort.inside(), 'new'];
      expect(cohort.say(pageOf('later', 1, 1, ...everybody))).toEqual(['new entered']);
    }),
  );
});

it('a replacement removes users only if it names a user, or if the cohort is empty', () => {
  const shares = fc.array(fc.record({ userIds: users, skipped: fc.nat({ max: 2 }) }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(shares, (pages) => {
      const cohort = givenMembership();
      cohort.say(pageOf('first', 1, 1, 'a', 'z'));
      const told = pages.flatMap((page, at) => cohort.say({ ...pageOf('s', at + 1, pages.length), ...page }));
      const named = new Set(pages.flatMap(({ userIds }) => userIds));
      const nobody = named.size === 0 && pages.some(({ skipped }) => skipped > 0);
      expect(told.includes('z left')).toBe(!nobody);
      expect(cohort.inside()).toEqual(nobody ? ['a', 'z'] : [...named].toSorted());
    }),
  );
});

/** Applies messages from this offset on, a second each. */
function run(
  talk_: readonly CohortMessage[],
  before: Cohort | null,
  members: Map<string, CohortMember>,
  { from = 0, rollFrom }: { readonly from?: number; readonly rollFrom?: number } = {},
) {
  let cohort = before;
  const told: unknown[] = [];
  for (const [at, message] of talk_.entries()) {
    const offset = from + at;
    const place = { logId: 'log_1' as LogId, partition: 0, offset, digest: JSON.stringify(message.userIds) };
    const applied = applyCohortMessage(
      cohort,
      { message, at: offset * 1000, ...place },
      (user) => members.get(user),
      rollFrom,
    );
    cohort = applied.cohort;
    for (const member of applied.members) members.set(member.user, member);
    told.push(...applied.changes.map((change) => ({ offset, ...change })));
  }
  return { told, cohort };
}

it('pages of a replacement are counted once each, in any order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 30 })), fc.integer({ min: 1, max: 30 }), (pages, of) => {
      const ranges = pages.reduce(withPage, [] as ReturnType<typeof withPage>);
      const wanted = new Set(pages);
      expect(countPages(ranges)).toBe(wanted.size);
      expect(hasAllPages(ranges, of)).toBe(
        Array.from({ length: of }, (_, at) => at + 1).every((one) => wanted.has(one)),
      );
    }),
  );
});
