import { describe, expect, it } from 'vitest';
import { backInEach, inEach } from '../src/api/in-each-workspace.ts';

const GROUPS = [{ workspace: 'shop' }, { workspace: 'care' }, { workspace: 'crm' }];
const refuse = (workspace: string) => Promise.reject<string>(new Error(`no ${workspace}.`));

describe('one thing in several workspaces', () => {
  it('is done in the others where some refuse, and says why those did', async () => {
    const outcome = await inEach(GROUPS, ({ workspace }) =>
      workspace === 'shop' ? refuse(workspace) : Promise.resolve(`undo of ${workspace}`),
    );
    expect(outcome).toEqual({
      done: [
        { workspace: 'care', answer: 'undo of care' },
        { workspace: 'crm', answer: 'undo of crm' },
      ],
      refused: [{ workspace: 'shop', error: new Error('no shop.') }],
    });
  });

  it('is taken back in the others where some refuse, and asked again of those alone', async () => {
    const done = GROUPS.map(({ workspace }) => ({ workspace, answer: `undo of ${workspace}` }));
    const asked: string[] = [];
    let isAway = true;
    const back = backInEach(done, (workspace, undo) => {
      asked.push(undo);
      return isAway && workspace === 'shop' ? refuse(workspace) : Promise.resolve('');
    });
    await expect(back()).rejects.toThrow('in shop: no shop. It is taken back in care, crm.');
    isAway = false;
    await back();
    await back();
    expect(asked).toEqual(['undo of shop', 'undo of care', 'undo of crm', 'undo of shop']);
  });

  it('says no name of a workspace where it was only one', async () => {
    const back = backInEach([{ workspace: 'shop', answer: '' }], refuse);
    await expect(back()).rejects.toThrow(/^no shop\.$/);
  });
});
