import { afterEach, describe, expect, it } from 'vitest';
import { currentNotices, dropNotice, say, undoing, undoNewest, undoNotice } from '../src/ui/notices.ts';

const told = () => currentNotices().map(({ words, undo }) => [words, undo !== null]);
const settled = (): Promise<void> => new Promise((settle) => void setTimeout(settle, 0));

describe('an action with an undo', () => {
  afterEach(() => currentNotices().forEach(({ id }) => dropNotice(id)));

  it('is undone through the newest notice with an undo, once, however often undo is called', async () => {
    const done: string[] = [];
    say('The first.', async () => done.push('first'));
    say('The second.', async () => done.push('second'));
    say('The third.');
    undoNewest();
    undoNewest();
    await settled();
    expect(done).toEqual(['second']);
    expect(told()).toEqual([
      ['The first.', true],
      ['Undone.', false],
      ['The third.', false],
    ]);
  });

  it('says why it could not be undone, and allows another try', async () => {
    let isAway = true;
    let shown = 0;
    const undo = undoing(
      async () => {
        if (isAway) throw new Error('Carillon does not answer.');
      },
      () => (shown += 1),
    );
    say('Dismissed.', undo);
    const { id } = currentNotices()[0]!;
    await undoNotice(id);
    expect(told()).toEqual([['It could not be undone: Carillon does not answer.', true]]);
    isAway = false;
    await undoNotice(id);
    expect(told()).toEqual([['Undone.', false]]);
    // What is shown is read anew either way.
    expect(shown).toBe(2);
  });
});
