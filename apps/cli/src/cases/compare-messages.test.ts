import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareMessages, type TimedMessage } from './compare-messages.ts';

const TEN = '2026-01-05T10:00:00.000Z';
const ELEVEN = '2026-01-05T11:00:00.000Z';
const message = (email: string, subject = 'Hello', at = TEN): TimedMessage => ({ at, fields: { email, subject } });

describe('messages of a case', () => {
  it('are compared in the fields that the expected message names', () => {
    expect(compareMessages([{ at: TEN, fields: { email: 'a' } }], [message('a')])).toEqual([]);
    expect(compareMessages([{ at: TEN, fields: { phone: '1' } }], [message('a')])).toHaveLength(1);
  });

  it('differ if a message is missing, unlisted, or sent at another time', () => {
    expect(compareMessages([message('a')], [])).toEqual([{ expected: message('a'), actual: null }]);
    expect(compareMessages([], [message('a')])).toEqual([{ expected: null, actual: message('a') }]);
    const late = message('a', 'Hello', ELEVEN);
    expect(compareMessages([late], [message('a')])).toEqual([{ expected: late, actual: message('a') }]);
  });

  it('are paired by their time', () => {
    const [late, other] = [message('b', 'Hello', ELEVEN), message('c')];
    expect(compareMessages([message('a')], [late, other])).toEqual([
      { expected: message('a'), actual: other },
      { expected: null, actual: late },
    ]);
  });

  it('differ if a message could not be rendered, even if all named fields match', () => {
    const broken = { ...message('a'), error: 'text: the rendered text is empty' };
    expect(compareMessages([message('a')], [broken])).toEqual([{ expected: message('a'), actual: broken }]);
    expect(compareMessages([], [broken])).toEqual([{ expected: null, actual: broken }]);
  });

  it('take each actual message once', () => {
    expect(compareMessages([message('a'), message('a')], [message('a')])).toEqual([
      { expected: message('a'), actual: null },
    ]);
  });

  it('match in any order at one time, and fail with a message more or less', () => {
    const messages = fc.array(
      fc.constantFrom('a', 'b', 'c').map((email) => message(email)),
      { minLength: 1 },
    );
    const shuffled = messages.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([expected, actual]) => {
        expect(compareMessages(expected, actual)).toEqual([]);
        expect(compareMessages(expected, actual.slice(1))).toHaveLength(1);
        expect(compareMessages(expected.slice(1), actual)).toHaveLength(1);
      }),
    );
  });
});
