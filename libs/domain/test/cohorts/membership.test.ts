import { cohortMessage, givenMembership, pageOf } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';

const add = (...userIds: string[]) => cohortMessage({ action: 'add', userIds });
const remove = (...userIds: string[]) => cohortMessage({ action: 'remove', userIds });
/** One page of an export that adds, as Mixpanel may send its first sync. */
const additions = (session: string, number: number, of: number, ...userIds: string[]) =>
  cohortMessage({ session, page: { number, of }, userIds });
/** A cohort whose first sync is over. */
function settled(...userIds: string[]) {
  const membership = givenMembership();
  membership.say(pageOf('first', 1, 1, ...userIds));
  return membership;
}

describe('a difference', () => {
  it('lets users enter and leave, each only where it is a change', () => {
    const cohort = settled('ada');
    expect(cohort.say(add('ada', 'bob', 'cleo'))).toEqual(['bob entered', 'cleo entered']);
    expect(cohort.say(remove('bob', 'nobody'))).toEqual(['bob left']);
    expect(cohort.inside()).toEqual(['ada', 'cleo']);
  });

  it('that is empty, or comes again, changes nothing', () => {
    const cohort = settled('ada');
    expect(cohort.say(add())).toEqual([]);
    expect(cohort.say(add('bob'))).toEqual(['bob entered']);
    expect(cohort.say(add('bob'))).toEqual([]);
  });

  it('that is older than the newest word about a user changes nothing', () => {
    const cohort = settled();
    cohort.pass(100);
    const at = (second: number) => ({ time: second * 1000 });
    expect(cohort.say({ ...add('ada'), ...at(50) })).toEqual(['ada entered']);
    expect(cohort.say({ ...remove('ada'), ...at(49) })).toEqual([]);
    expect(cohort.say({ ...remove('ada'), ...at(51) })).toEqual(['ada left']);
    expect(cohort.say({ ...add('ada', 'bob'), time: [50_000, 50_000] })).toEqual(['bob entered']);
  });

  it('that removes somebody unknown is remembered, so that an older word does not let them in', () => {
    const cohort = settled();
    cohort.pass(100);
    cohort.say({ ...remove('ada'), time: 60_000 });
    expect(cohort.say({ ...add('ada'), time: 59_000 })).toEqual([]);
  });

  it('from a clock that is ahead does not make everything after it old', () => {
    const cohort = settled();
    expect(cohort.say({ ...add('ada'), time: 9e15 })).toEqual(['ada entered']);
    expect(cohort.say(remove('ada'))).toEqual(['ada left']);
  });
});

describe('a replacement', () => {
  it('lets users enter page by page, and leave when all pages have come', () => {
    const cohort = settled('ada', 'bob');
    expect(cohort.say(pageOf('s', 1, 2, 'cleo'))).toEqual(['cleo entered']);
    expect(cohort.say(pageOf('s', 2, 2, 'ada'))).toEqual(['bob left']);
    expect(cohort.inside()).toEqual(['ada', 'cleo']);
  });

  it('may come in any order, and pages twice', () => {
    const cohort = settled('ada', 'bob');
    expect(cohort.say(pageOf('s', 3, 3, 'cleo'))).toEqual(['cleo entered']);
    expect(cohort.say(pageOf('s', 1, 3, 'ada'))).toEqual([]);
    expect(cohort.say(pageOf('s', 1, 3, 'ada'))).toEqual([]);
    expect(cohort.say(pageOf('s', 2, 3))).toEqual(['bob left']);
    expect(cohort.say(pageOf('s', 3, 3, 'cleo'))).toEqual([]);
  });

  it('whose page was lost lets nobody leave; the next one does', () => {
    const cohort = settled('ada', 'bob');
    cohort.say(pageOf('broken', 1, 3, 'ada'));
    cohort.say(pageOf('broken', 3, 3, 'dora'));
    expect(cohort.inside()).toEqual(['ada', 'bob', 'dora']);
    expect(cohort.say(pageOf('next', 1, 1, 'ada'))).toEqual(['bob left', 'dora left']);
  });

  it('may learn only on its last page how many there are', () => {
    const cohort = settled('ada', 'bob');
    expect(cohort.say(pageOf('poll', 1, null, 'ada'))).toEqual([]);
    expect(cohort.say(pageOf('poll', 2, 2))).toEqual(['bob left']);
  });

  it('that is empty lets everybody leave', () => {
    expect(settled('ada', 'bob').say(pageOf('s', 1, 1))).toEqual(['ada left', 'bob left']);
  });

  it('that is whole and names nobody lets nobody leave: the field that is mapped is a wrong one', () => {
    const cohort = settled('ada', 'bob');
    const unnamed = (session: string, number: number, of: number) => ({ ...pageOf(session, number, of), skipped: 3 });
    expect([unnamed('s', 1, 2), unnamed('s', 2, 2), unnamed('s', 2, 2)].flatMap((page) => cohort.say(page))).toEqual(
      [],
    );
    expect(cohort.inside()).toEqual(['ada', 'bob']);
    expect(cohort.cohort()?.skipped).toBe(9);
  });

  it('that named nobody has to come again whole once the field is right', () => {
    const cohort = settled('ada', 'bob');
    for (const number of [1, 2]) cohort.say({ ...pageOf('s', number, 2), skipped: 3 });
    expect(cohort.say(pageOf('s', 2, 2, 'cleo'))).toEqual(['cleo entered']);
    expect(cohort.say(pageOf('s', 1, 2, 'ada'))).toEqual(['bob left']);
  });

  it('of which some pages name nobody counts as any other', () => {
    const cohort = settled('ada', 'bob');
    cohort.say({ ...pageOf('s', 1, 2), skipped: 3 });
    expect(cohort.say(pageOf('s', 2, 2, 'ada'))).toEqual(['bob left']);
  });

  it('lets leave in chunks', () => {
    const cohort = settled('a', 'b', 'c', 'd', 'e');
    expect(cohort.say(pageOf('s', 1, 1, 'c'), 2)).toEqual(['a left', 'b left', 'd left', 'e left']);
    expect(cohort.cohort()?.settling).toBeNull();
  });

  it('does not touch who was added while its pages came', () => {
    const cohort = settled('ada');
    cohort.say(pageOf('s', 1, 2, 'ada'));
    cohort.say(add('bob'));
    cohort.say(remove('ada'));
    expect(cohort.say(pageOf('s', 2, 2, 'ada'))).toEqual([]);
    expect(cohort.inside()).toEqual(['bob']);
  });

  it('of which a page comes again after a later difference does not undo it', () => {
    const cohort = settled('ada', 'bob');
    cohort.say(pageOf('s', 1, 1, 'ada', 'bob'));
    cohort.say(cohortMessage({ action: 'remove', session: 'diff', userIds: ['bob'] }));
    expect(cohort.say(pageOf('s', 1, 1, 'ada', 'bob'))).toEqual([]);
    expect(cohort.inside()).toEqual(['ada']);
  });

  it('of which a page comes after a newer whole one lets nobody in', () => {
    const cohort = settled('ada');
    cohort.say(pageOf('old', 1, 2, 'ada'));
    cohort.say(pageOf('new', 1, 1, 'ada'));
    expect(cohort.say(pageOf('old', 2, 2, 'bob'))).toEqual([]);
    expect(cohort.inside()).toEqual(['ada']);
  });

  it('keeps since when they are in', () => {
    const cohort = settled('ada');
    const { since } = cohort.member('ada') ?? {};
    cohort.pass(60);
    cohort.say(pageOf('s', 1, 1, 'ada'));
    expect(since).toBe(1000);
    expect(cohort.member('ada')?.since).toBe(1000);
  });
});

describe('the first sync', () => {
  it('of a replacement is all of its pages, also of a second try, and then it is over', () => {
    const cohort = givenMembership();
    expect(cohort.say(pageOf('one', 1, 2, 'ada'))).toEqual(['ada entered at first']);
    expect(cohort.say(pageOf('two', 1, 2, 'ada', 'bob'))).toEqual(['bob entered at first']);
    expect(cohort.say(pageOf('two', 2, 2, 'cleo'))).toEqual(['cleo entered at first']);
    expect(cohort.say(pageOf('three', 1, 1, 'ada', 'bob', 'cleo', 'dora'))).toEqual(['dora entered']);
  });

  it('of differences without pages is the session of the first one that lets anybody in, and a span of time', () => {
    const cohort = givenMembership();
    const of = (session: string, ...userIds: string[]) => cohortMessage({ session, userIds });
    cohort.say(of('zero'));
    cohort.say(cohortMessage({ action: 'remove', session: 'zero', userIds: ['x'] }));
    expect(cohort.say(of('one', 'ada'))).toEqual(['ada entered at first']);
    // The first one broke off, and the platform computed anew.
    expect(cohort.say(of('two', 'ada', 'bob'))).toEqual(['bob entered at first']);
    cohort.pass(3600);
    expect(cohort.say(of('three', 'cleo'))).toEqual(['cleo entered']);
    expect(cohort.say(of('one', 'dora'))).toEqual(['dora entered at first']);
  });

  it('is also the first whole export where a difference was heard before it', () => {
    const cohort = givenMembership();
    cohort.say(additions('diff', 1, 1, 'ada'));
    expect(cohort.say(additions('next diff', 1, 1, 'bob'))).toEqual(['bob entered']);
    expect(cohort.say(pageOf('broken', 1, 2, 'cleo'))).toEqual(['cleo entered at first']);
    const whole = [pageOf('full', 1, 2, 'ada', 'bob', 'dora'), pageOf('full', 2, 2, 'cleo', 'eve')];
    expect(whole.flatMap((page) => cohort.say(page))).toEqual(['dora entered at first', 'eve entered at first']);
    expect(cohort.say(pageOf('later', 1, 1, 'ada', 'bob', 'finn'))).toEqual([
      'finn entered',
      'cleo left',
      'dora left',
      'eve left',
    ]);
  });

  it('tells of who left and is back in the first whole export: of them was heard', () => {
    const cohort = givenMembership();
    cohort.say(additions('diff', 1, 1, 'ada', 'bob'));
    cohort.say(cohortMessage({ action: 'remove', session: 'diff', userIds: ['bob'] }));
    expect(cohort.say(pageOf('full', 1, 1, 'ada', 'bob', 'cleo'))).toEqual(['bob entered', 'cleo entered at first']);
  });

  it('is also the first replacement after additions without a session', () => {
    const cohort = givenMembership();
    cohort.say(add('ada'));
    cohort.pass(7200);
    expect(cohort.say(pageOf('all', 1, 1, 'ada', 'bob'))).toEqual(['bob entered at first']);
    expect(cohort.say(add('cleo'))).toEqual(['cleo entered']);
  });

  it('by additions is over when one export is whole, however often the platform began anew', () => {
    const cohort = givenMembership();
    const told = [
      additions('one', 1, 3, 'ada'),
      additions('one', 3, 3, 'cleo'),
      additions('one', 3, 3, 'cleo'),
      // The second page was lost, and the platform begins anew.
      additions('two', 2, 3, 'bob'),
      additions('two', 1, 3, 'ada', 'dora'),
      additions('two', 3, 3, 'cleo', 'eve'),
      // A late page is as old as its session.
      additions('one', 2, 3, 'finn'),
      additions('two', 3, 3, 'gil'),
    ].flatMap((message) => cohort.say(message));
    expect(told.filter((line) => !line.endsWith('entered at first'))).toEqual([]);
    expect(told).toHaveLength(7);
    expect(cohort.say(additions('three', 1, 1, 'ada', 'hal'))).toEqual(['hal entered']);
  });

  it('by additions goes on over empty differences', () => {
    const cohort = givenMembership();
    cohort.say(additions('one', 1, 2, 'ada'));
    cohort.say(additions('empty', 1, 1));
    expect(cohort.say(additions('one', 2, 2, 'bob'))).toEqual(['bob entered at first']);
    expect(cohort.say(additions('three', 1, 1, 'cleo'))).toEqual(['cleo entered']);
  });

  it('by additions of which a page was lost for good ends with the next whole export', () => {
    const cohort = givenMembership();
    cohort.say(additions('one', 1, 2, 'ada'));
    expect(cohort.say(additions('two', 1, 1, 'bob'))).toEqual(['bob entered at first']);
    expect(cohort.say(additions('three', 1, 1, 'cleo'))).toEqual(['cleo entered']);
  });

  it('that names nobody is none: the one with the right field is', () => {
    for (const message of [additions, pageOf]) {
      const cohort = givenMembership();
      cohort.say({ ...message('typo', 1, 1), skipped: 2 });
      expect(cohort.say(message('mended', 1, 1, 'ada'))).toEqual(['ada entered at first']);
      expect(cohort.say(message('next', 1, 1, 'ada', 'bob'))).toEqual(['bob entered']);
    }
  });

  it('may begin as one kind of export and end as the other', () => {
    const cohort = givenMembership();
    cohort.say(additions('one', 1, 2, 'ada'));
    expect(cohort.say(pageOf('two', 1, 1, 'ada', 'bob'))).toEqual(['bob entered at first']);
    expect(cohort.say(additions('three', 1, 1, 'cleo'))).toEqual(['cleo entered']);
  });

  it('of messages without a session is a span of time', () => {
    const cohort = givenMembership();
    expect(cohort.say(add('ada'))).toEqual(['ada entered at first']);
    cohort.pass(3598);
    expect(cohort.say(add('bob'))).toEqual(['bob entered at first']);
    expect(cohort.say(add('cleo'))).toEqual(['cleo entered']);
  });

  it('of a cohort that was empty then lets the first one enter as any other', () => {
    expect(settled().say(add('ada'))).toEqual(['ada entered']);
  });
});

it('a cohort that is renamed stays the same one', () => {
  const cohort = settled('ada');
  expect(cohort.say({ ...pageOf('s', 1, 1, 'ada'), name: 'Best buyers' })).toEqual([]);
  expect(cohort.cohort()?.name).toBe('Best buyers');
});

it('a cohort that was renamed does not get its old name back from a page that comes late', () => {
  const cohort = settled();
  cohort.say(pageOf('old', 1, 2, 'ada'));
  cohort.say({ ...additions('new', 1, 1, 'bob'), name: 'Best buyers' });
  cohort.say(pageOf('old', 2, 2, 'cleo'));
  expect(cohort.cohort()?.name).toBe('Best buyers');
});

it('a page that comes late is as old as its session for three days of half-hourly syncs', () => {
  const cohort = settled('ada');
  cohort.say(additions('diff', 1, 1, 'bob'));
  cohort.say(cohortMessage({ action: 'remove', session: 'other', userIds: ['bob'] }));
  for (let at = 0; at < 3 * 48; at += 1) cohort.say(additions(`sync ${at}`, 1, 1, `user ${at}`));
  expect(cohort.say(additions('diff', 1, 1, 'bob'))).toEqual([]);
});

it('empty differences do not make a page that comes late look new', () => {
  const cohort = settled('ada');
  cohort.say(additions('diff', 1, 1, 'bob'));
  cohort.say(cohortMessage({ action: 'remove', session: 'other', userIds: ['bob'] }));
  for (let at = 0; at < 500; at += 1) {
    cohort.say(additions(`empty ${at}`, 1, 1));
    cohort.say(cohortMessage({ action: 'remove', session: `empty ${at}`, userIds: [] }));
  }
  expect(cohort.say(additions('diff', 1, 1, 'bob'))).toEqual([]);
});
