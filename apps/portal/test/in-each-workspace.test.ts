import { describe, expect, it } from 'vitest';
import { inEach } from '../src/api/in-each-workspace.ts';

const GROUPS = [{ workspace: 'shop' }, { workspace: 'care' }, { workspace: 'crm' }];
const refuse = (workspace: string) => Promise.reject<string>(new Error(`no ${workspace}.`));

describe('an action in several workspaces', () => {
  it('continues in the others if some refuse, and lists the reasons', async () => {
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
});
