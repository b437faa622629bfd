import type { RotationState } from '@carillon/ports';
import { expect, it } from 'vitest';
import { secretChecks } from './secret-checks.ts';

const key = (id: string, more: object = {}) => ({ id, held: true, starts: false, dataKeys: 3, alone: 0, ...more });
const checked = async (more: Partial<RotationState>) => {
  const whole: RotationState = {
    source: 'environment',
    masterKeys: [key('OLD', { starts: true, alone: 3 })],
    dataKeys: 3,
    values: 1,
    valuesBehind: 0,
    unreadable: [],
    ...more,
  };
  const [step] = await secretChecks({ state: async () => whole });
  return step;
};

it('doctor shows whether one or two master keys are active, and the next step', async () => {
  expect(await checked({})).toEqual({
    step: 'master key',
    ok: true,
    detail: 'one counts, for 3 data keys, 1 stored secret',
  });
  const both = [key('OLD', { starts: true }), key('NEW')];
  expect(await checked({ masterKeys: both })).toMatchObject({
    ok: true,
    detail: expect.stringContaining('put the new one where roles take theirs from, restart them') as unknown,
  });
  expect(await checked({ masterKeys: [key('OLD'), key('NEW', { starts: true })] })).toMatchObject({
    ok: true,
    detail: expect.stringContaining(
      'restart the other roles with it too, then npx carillon secret rotate --finish',
    ) as unknown,
  });
});

it.each([
  [{ masterKeys: [key('OLD', { alone: 2 }), key('NEW')] }, 'two count, and 2 data keys need the old one'],
  [{ masterKeys: [key('OLD'), key('NEW', { held: false, alone: 1 })] }, '1 data key rest under NEW alone'],
  [{ unreadable: [{ workspace: 'shop', name: 'A' }] }, 'npx carillon secret set A --workspace shop'],
  [{ unreadable: [{ workspace: '', name: 'A' }] }, 'npx carillon secret set A --deployment'],
  [{ valuesBehind: 4 }, '4 values were not encrypted again: continue with npx carillon secret rotate --values'],
] as const)('doctor reports %j', async (state, words) => {
  expect(await checked(state)).toMatchObject({ ok: false, detail: expect.stringContaining(words) as unknown });
});

it('doctor reports if the check itself failed', async () => {
  const [step] = await secretChecks({ state: () => Promise.reject(new Error('the store is away')) });
  expect(step).toMatchObject({ ok: false, detail: 'the store is away' });
});
