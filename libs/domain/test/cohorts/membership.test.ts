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

describe('a cohort difference (a message that adds or removes users)', () => {
  it('adds and removes users, and reports only actual changes', () => {
    const cohort = settled('ada');
    expect(cohort.say(add('ada', 'bob', 'cleo'))).toEqual(['bob entered', 'cleo entered']);
    expect(cohort.say(remove('bob', 'nobody'))).toEqual(['bob left']);
    expect(cohort.inside()).toEqual(['ada', 'cleo']);
  });

  it('changes nothing if it is empty or repeated', () => {
    const cohort = settled('ada');
    expect(cohort.say(add())).toEqual([]);
    expect(cohort.say(add('bob'))).toEqual(['bob entered']);
    expect(cohort.say(add('bob'))).toEqual([]);
  });

  it('is ignored for a user if a newer message about that user has arrived', () => {
    const cohort = settled();
    cohort.pass(100);
    const at = (second: number) => ({ time: second * 1000 });
    expect(cohort.say({ ...add('ada'), ...at(50) })).toEqual(['ada entered']);
    expect(cohort.say({ ...remove('ada'), ...at(49) })).toEqual([]);
    expect(cohort.say({ ...remove('ada'), ...at(51) })).toEqual(['ada left']);
    expect(cohort.say({ ...add('ada', 'bob'), time: [50_000, 50_000] })).toEqual(['bob entered']);
  });

  it('remembers the removal of an unknown user, so that an older addition does not add the user', () => {
    const cohort = settled();
    cohort.pass(100);
    cohort.say({ ...remove('ada'), time: 60_000 });
    expect(cohort.say({ ...add('ada'), time: 59_000 })).toEqual([]);
  });

  it('from a clock that is ahead does not make later differences count as old', () => {
    const cohort = settled();
    expect(cohort.say({ ...add('ada'), time: 9e15 })).toEqual(['ada entered']);
    expect(cohort.say(remove('ada'))).toEqual(['ada left']);
  });
});

describe('a cohort replacement (pages with the whole list of users)', () => {
  it('adds users with each page, and removes missing users after the last page', () => {
    const cohort = settled('ada', 'bob');
    expect(cohort.say(pageOf('s', 1, 2, 'cleo'))).toEqual(['cleo entered']);
    expect(cohort.say(pageOf('s', 2, 2, 'ada'))).toEqual(['bob left']);
    expect(cohort.inside()).toEqual(['ada', 'cleo']);
  });

  it('accepts its pages in any order and more than once', () => {
    const cohort = settled('ada', 'bob');
    expect(cohort.say(pageOf('s', 3, 3, 'cleo'))).toEqual(['cleo entered']);
    expect(cohort.say(pageOf('s', 1, 3, 'ada'))).toEqual([]);
    expect(cohort.say(pageOf('s', 1, 3, 'ada'))).toEqual([]);
    expect(cohort.say(pageOf('s', 2, 3))).toEqual(['bob left']);
    expect(cohort.say(pageOf('s', 3, 3, 'cleo'))).toEqual([]);
  });

  it('removes nobody if a page is lost; the next complete replacement does', () => {
    const cohort = settled('ada', 'bob');
    cohort.say(pageOf('broken', 1, 3, 'ada'));
    cohort.say(pageOf('broken', 3, 3, 'dora'));
    expect(cohort.inside()).toEqual(['ada', 'bob', 'dora']);
    expect(cohort.say(pageOf('next', 1, 1, 'ada'))).toEqual(['bob left', 'dora left']);
  });

  it('may state its number of pages only on the last page', () => {
    const cohort = settled('ada', 'bob');
    expect(cohort.say(pageOf('poll', 1, null, 'ada'))).toEqual([]);
    expect(cohort.say(pageOf('poll', 2, 2))).toEqual(['bob left']);
  });

  it('removes everybody if it is empty', () => {
    expect(settled('ada', 'bob').say(pageOf('s', 1, 1))).toEqual(['ada left', 'bob left']);
  });

  it('removes nobody if it is complete but names no user, because the mapped field is wrong', () => {
    const cohort = settled('ada', 'bob');
    const unnamed = (session: string, number: number, of: number) => ({ ...pageOf(session, number, of), skipped: 3 });
    expect([unnamed('s', 1, 2), unnamed('s', 2, 2), unnamed('s', 2, 2)].flatMap((page) => cohort.say(page))).toEqual(
      [],
    );
    expect(cohort.inside()).toEqual(['ada', 'bob']);
    expect(cohort.cohort()?.skipped).toBe(9);
  });

  it('must arrive completely again after the mapped field is corrected, if it named nobody before', () => {
    const cohort = settled('ada', 'bob');
    for (const number of [1, 2]) cohort.say({ ...pageOf('s', number, 2), skipped: 3 });
    expect(cohort.say(pageOf('s', 2, 2, 'cleo'))).toEqual(['cleo entered']);
    expect(cohort.say(pageOf('s', 1, 2, 'ada'))).toEqual(['bob left']);
  });

  it('counts as usual if only some of its pages name nobody', () => {
    const cohort = settled('ada', 'bob');
    cohort.say({ ...pageOf('s', 1, 2), skipped: 3 });
    expect(cohort.say(pageOf('s', 2, 2, 'ada'))).toEqual(['bob left']);
  });

  it('removes users in chunks of limited size', () => {
    const cohort = settled('a', 'b', 'c', 'd', 'e');
    expect(cohort.say(pageOf('s', 1, 1, 'c'), 2)).toEqual(['a left', 'b left', 'd left', 'e left']);
    expect(cohort.cohort()?.settling).toBeNull();
  });

  it('keeps additions and removals that arrive between its pages', () => {
    const cohort = settled('ada');
    cohort.say(pageOf('s', 1, 2, 'ada'));
    cohort.say(add('bob'));
    cohort.say(remove('ada'));
    expect(cohort.say(pageOf('s', 2, 2, 'ada'))).toEqual([]);
    expect(cohort.inside()).toEqual(['bob']);
  });

  it('does not undo a later difference if one of its pages is repeated', () => {
    const cohort = settled('ada', 'bob');
    cohort.say(pageOf('s', 1, 1, 'ada', 'bob'));
    cohort.say(cohortMessage({ action: 'remove', session: 'diff', userIds: ['bob'] }));
    expect(cohort.say(pageOf('s', 1, 1, 'ada', 'bob'))).toEqual([]);
    expect(cohort.inside()).toEqual(['ada']);
  });

  it('adds nobody by a page that arrives after a newer complete replacement', () => {
    const cohort = settled('ada');
    cohort.say(pageOf('old', 1, 2, 'ada'));
    cohort.say(pageOf('new', 1, 1, 'ada'));
    expect(cohort.say(pageOf('old', 2, 2, 'bob'))).toEqual([]);
    expect(cohort.inside()).toEqual(['ada']);
  });

  it('keeps the time since which a user has been a member', () => {
    const cohort = settled('ada');
    const { since } = cohort.member('ada') ?? {};
    cohort.pass(60);
    cohort.say(pageOf('s', 1, 1, 'ada'));
    expect(since).toBe(1000);
    expect(cohort.member('ada')?.since).toBe(1000);
  });
});

describe('the first sync of a cohort (it reports nobody as entered)', () => {
  it('covers all pages of a replacement and of its second try, and then ends', () => {
    const cohort = givenMembership();
    expect(cohort.say(pageOf('one', 1, 2, 'ada'))).toEqual(['ada entered at first']);
    expect(cohort.say(pageOf('two', 1, 2, 'ada', 'bob'))).toEqual(['bob entered at first']);
    expect(cohort.say(pageOf('two', 2, 2, 'cleo'))).toEqual(['cleo entered at first']);
    expect(cohort.say(pageOf('three', 1, 1, 'ada', 'bob', 'cleo', 'dora'))).toEqual(['dora entered']);
  });

  it('of differences without pages covers the session of the first addition, and a time span', () => {
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

  it('also covers the first complete replacement if a difference arrived before it', () => {
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

  it('reports a user as entered who left before and is in the first complete replacement', () => {
    const cohort = givenMembership();
    cohort.say(additions('diff', 1, 1, 'ada', 'bob'));
    cohort.say(cohortMessage({ action: 'remove', session: 'diff', userIds: ['bob'] }));
    expect(cohort.say(pageOf('full', 1, 1, 'ada', 'bob', 'cleo'))).toEqual(['bob entered', 'cleo entered at first']);
  });

  it('also covers the first replacement after additions without a session', () => {
    const cohort = givenMembership();
    cohort.say(add('ada'));
    cohort.pass(7200);
    expect(cohort.say(pageOf('all', 1, 1, 'ada', 'bob'))).toEqual(['bob entered at first']);
    expect(cohort.say(add('cleo'))).toEqual(['cleo entered']);
  });

  it('by additions ends with the first complete export, however often the platform restarts it', () => {
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

  it('by additions continues across empty differences', () => {
    const cohort = givenMembership();
    cohort.say(additions('one', 1, 2, 'ada'));
    cohort.say(additions('empty', 1, 1));
    expect(cohort.say(additions('one', 2, 2, 'bob'))).toEqual(['bob entered at first']);
    expect(cohort.say(additions('three', 1, 1, 'cleo'))).toEqual(['cleo entered']);
  });

  it('by additions with a lost page ends with the next complete export', () => {
    const cohort = givenMembership();
    cohort.say(additions('one', 1, 2, 'ada'));
    expect(cohort.say(additions('two', 1, 1, 'bob'))).toEqual(['bob entered at first']);
    expect(cohort.say(additions('three', 1, 1, 'cleo'))).toEqual(['cleo entered']);
  });

  it('does not end with an export that names nobody, but with the next one with the corrected field', () => {
    for (const message of [additions, pageOf]) {
      const cohort = givenMembership();
      cohort.say({ ...message('typo', 1, 1), skipped: 2 });
      expect(cohort.say(message('mended', 1, 1, 'ada'))).toEqual(['ada entered at first']);
      expect(cohort.say(message('next', 1, 1, 'ada', 'bob'))).toEqual(['bob entered']);
    }
  });

  it('may begin with one kind of export and end with the other', () => {
    const cohort = givenMembership();
    cohort.say(additions('one', 1, 2, 'ada'));
    expect(cohort.say(pageOf('two', 1, 1, 'ada', 'bob'))).toEqual(['bob entered at first']);
    expect(cohort.say(additions('three', 1, 1, 'cleo'))).toEqual(['cleo entered']);
  });

  it('of messages without a session is a time span', () => {
    const cohort = givenMembership();
    expect(cohort.say(add('ada'))).toEqual(['ada entered at first']);
    cohort.pass(3598);
    expect(cohort.say(add('bob'))).toEqual(['bob entered at first']);
    expect(cohort.say(add('cleo'))).toEqual(['cleo entered']);
  });

  it('ends at once for an empty cohort, so that the first later user is reported as entered', () => {
    expect(settled().say(add('ada'))).toEqual(['ada entered']);
  });
});

it('a cohort keeps its members when it is renamed', () => {
  const cohort = settled('ada');
  expect(cohort.say({ ...pageOf('s', 1, 1, 'ada'), name: 'Best buyers' })).toEqual([]);
  expect(cohort.cohort()?.name).toBe('Best buyers');
});

it('a renamed cohort does not get its old name back from a late page', () => {
  const cohort = settled();
  cohort.say(pageOf('old', 1, 2, 'ada'));
  cohort.say({ ...additions('new', 1, 1, 'bob'), name: 'Best buyers' });
  cohort.say(pageOf('old', 2, 2, 'cleo'));
  expect(cohort.cohort()?.name).toBe('Best buyers');
});

it('a late page counts as old as its session, through three days of half-hourly syncs', () => {
  const cohort = settled('ada');
  cohort.say(additions('diff', 1, 1, 'bob'));
  cohort.say(cohortMessage({ action: 'remove', session: 'other', userIds: ['bob'] }));
  for (let at = 0; at < 3 * 48; at += 1) cohort.say(additions(`sync ${at}`, 1, 1, `user ${at}`));
  expect(cohort.say(additions('diff', 1, 1, 'bob'))).toEqual([]);
});

it('a late page still counts as old after many empty differences', () => {
  const cohort = settled('ada');
  cohort.say(additions('diff', 1, 1, 'bob'));
  cohort.say(cohortMessage({ action: 'remove', session: 'other', userIds: ['bob'] }));
  for (let at = 0; at < 500; at += 1) {
    cohort.say(additions(`empty ${at}`, 1, 1));
    cohort.say(cohortMessage({ action: 'remove', session: `empty ${at}`, userIds: [] }));
  }
  expect(cohort.say(additions('diff', 1, 1, 'bob'))).toEqual([]);
});
