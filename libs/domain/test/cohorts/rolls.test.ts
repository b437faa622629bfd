import { ROLL_FROM } from '../../src/cohorts/index.ts';
import { cohortMessage, givenMembership, pageOf } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';

const people = (count: number, from = 0): string[] => Array.from({ length: count }, (_, at) => `user-${from + at}`);

describe('a long list of cohort members that a platform sends again and again', () => {
  it('writes no member document if it is the same; the next different list writes them all', () => {
    const cohort = givenMembership();
    cohort.say(cohortMessage({ userIds: people(1000) }));
    expect(cohort.written()).toBe(1000);
    for (let time = 0; time < 5; time += 1) expect(cohort.say(cohortMessage({ userIds: people(1000) }))).toEqual([]);
    expect(cohort.written()).toBe(1000);
    cohort.say(cohortMessage({ userIds: people(1001) }));
    expect(cohort.written()).toBe(2001);
  });

  it('reads no member document if no change came in between', () => {
    const cohort = givenMembership();
    const list = cohortMessage({ userIds: people(1000) });
    cohort.say(list);
    const before = cohort.looked();
    cohort.say(list);
    cohort.say(cohortMessage());
    cohort.say(list);
    expect(cohort.looked(), 'after an empty difference too').toBe(before);
    cohort.say(cohortMessage({ action: 'remove', userIds: ['user-1'] }));
    expect(cohort.say(list)).toEqual(['user-1 entered at first']);
    expect(cohort.looked()).toBeGreaterThan(before + 1000);
  });

  it('is compared with the member documents again after some members were removed', () => {
    const cohort = givenMembership(2);
    const list = cohortMessage({ userIds: people(5) });
    cohort.say(list);
    // An export of an empty cohort names nobody, and lets all of them go, in several chunks.
    expect(cohort.say(pageOf('s', 1, 1), 2)).toHaveLength(5);
    expect(cohort.say(list)).toHaveLength(5);
    expect(cohort.inside()).toHaveLength(5);
  });

  it('adds all members again if a worker died while it removed them', () => {
    const cohort = givenMembership(2);
    const list = cohortMessage({ userIds: people(5) });
    cohort.say(list);
    cohort.dies(1);
    cohort.say(pageOf('s', 1, 1), 2);
    cohort.say(list);
    expect(cohort.inside()).toHaveLength(5);
  });

  it('does not set back the time of its members if it is older and arrives late', () => {
    const cohort = givenMembership();
    const list = (time: number) => cohortMessage({ userIds: people(ROLL_FROM), time });
    cohort.pass(100);
    cohort.say(list(80_000));
    cohort.say(list(40_000));
    expect(cohort.say(cohortMessage({ action: 'remove', userIds: ['user-1'], time: 60_000 }))).toEqual([]);
  });

  it('updates the time of each member, so that an older late removal is ignored', () => {
    const cohort = givenMembership();
    cohort.say(cohortMessage({ userIds: people(ROLL_FROM) }));
    cohort.pass(10);
    cohort.say(cohortMessage({ userIds: people(ROLL_FROM) }));
    expect(cohort.say(cohortMessage({ action: 'remove', userIds: ['user-1'], time: 5_000 }))).toEqual([]);
    expect(cohort.say(cohortMessage({ action: 'remove', userIds: ['user-1'] }))).toEqual(['user-1 left']);
  });

  it('keeps its members if it arrives between the pages of a replacement that lacks them', () => {
    const cohort = givenMembership();
    cohort.say(cohortMessage({ userIds: [...people(ROLL_FROM), 'gone'] }));
    cohort.say(cohortMessage({ userIds: people(ROLL_FROM) }));
    cohort.say(pageOf('s', 1, 2, 'x'));
    cohort.say(cohortMessage({ userIds: people(ROLL_FROM) }));
    expect(cohort.say(pageOf('s', 2, 2, 'y'), 10)).toEqual(['y entered at first', 'gone left']);
    expect(cohort.inside()).toHaveLength(ROLL_FROM + 2);
  });

  it('lets a later replacement remove its members', () => {
    const cohort = givenMembership();
    cohort.say(cohortMessage({ userIds: people(ROLL_FROM) }));
    cohort.say(cohortMessage({ userIds: people(ROLL_FROM) }));
    expect(cohort.say(pageOf('s', 1, 1, 'x'), 10)).toHaveLength(ROLL_FROM + 1);
    expect(cohort.inside()).toEqual(['x']);
    expect(cohort.cohort()?.rolls).toEqual([]);
  });
});

describe('the long lists that are stored with a cohort', () => {
  const rolls = (cohort: ReturnType<typeof givenMembership>) => cohort.cohort()?.rolls ?? [];

  it('exclude short lists', () => {
    const cohort = givenMembership();
    cohort.say(cohortMessage({ userIds: people(ROLL_FROM - 1) }));
    expect(rolls(cohort)).toEqual([]);
  });

  it('exclude lists whose members were all written since', () => {
    const cohort = givenMembership();
    for (let more = 0; more < 5; more += 1) cohort.say(cohortMessage({ userIds: people(ROLL_FROM + more) }));
    expect(rolls(cohort)).toMatchObject([{ size: ROLL_FROM + 4 }]);
    cohort.say(cohortMessage({ action: 'remove', userIds: people(ROLL_FROM) }));
    expect(rolls(cohort)).toMatchObject([{ size: 4 }]);
  });

  it('are bounded in number, and a repeated list is not evicted', () => {
    const cohort = givenMembership(2);
    const list = (at: number) => cohortMessage({ userIds: people(2, at * 2) });
    cohort.say(list(0));
    cohort.pass(10);
    cohort.say(list(0));
    for (let at = 1; at <= 200; at += 1) cohort.say(list(at));
    expect(rolls(cohort)).toHaveLength(150);
    expect(cohort.say(cohortMessage({ action: 'remove', userIds: ['user-1'], time: 5_000 }))).toEqual([]);
    for (const at of people(200).keys()) {
      cohort.say(list(at + 1));
      cohort.say(list(at + 1));
    }
    for (let at = 201; at <= 400; at += 1) cohort.say(list(at));
    expect(rolls(cohort)).toHaveLength(150);
    expect(cohort.say(cohortMessage({ action: 'remove', userIds: ['user-1'], time: 5_000 }))).toEqual([]);
  });
});
