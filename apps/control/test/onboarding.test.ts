import { afterEach, expect, test } from 'vitest';
import { foldOnboarding } from '../src/audit/onboarding.ts';
import { accessOf, openControl, personWith, TOKEN, type Ground } from './control-ground.ts';

let open: Ground | undefined;
afterEach(() => open?.control.app.close());

const entry = (id: string, target: string) => ({
  actor: { kind: 'person', id } as const,
  target,
  outcome: 'done' as const,
});

test('Each person counts once for a step, by the first time, and is stopped where they went no further', () => {
  // As the audit is listed: the newest first.
  const numbers = foldOnboarding([
    entry('per_2', 'event/300s/20'),
    entry('per_1', 'message/900s/90'),
    entry('per_1', 'message/60s/11'),
    entry('per_1', 'event/50s/9'),
    entry('per_2', 'came/0s/0'),
    entry('per_1', 'came/0s/0'),
    { ...entry('per_3', 'came/0s/0'), outcome: 'refused' as const },
    entry('per_3', 'words of a later version'),
  ]);
  expect(numbers.people).toBe(2);
  expect(numbers.steps.filter(({ reached }) => reached > 0)).toEqual([
    { step: 'came', reached: 2, stopped: 0, seconds: 0, clicks: 0 },
    { step: 'event', reached: 2, stopped: 1, seconds: 50, clicks: 9 },
    { step: 'message', reached: 1, stopped: 1, seconds: 60, clicks: 11 },
  ]);
});

test('A step is noted by whoever reaches it, and read by owners alone', async () => {
  open = await openControl();
  const owner = { authorization: `Bearer ${TOKEN}` };
  const { app } = open.control;
  const url = '/v1/workspaces/shop/onboarding';
  const key = {
    method: 'POST',
    url: '/v1/workspaces/shop/api-keys',
    headers: owner,
    payload: { name: 'first' },
  } as const;
  expect((await app.inject(key)).statusCode).toBe(201);
  const step = { step: 'message', seconds: 42, clicks: 11 };
  expect((await app.inject({ method: 'POST', url, headers: owner, payload: step })).json()).toEqual({ noted: true });
  const wrong = await app.inject({ method: 'POST', url, headers: owner, payload: { ...step, step: 'gone' } });
  expect(wrong.statusCode).toBe(400);
  const read = await app.inject({ method: 'GET', url: '/v1/onboarding', headers: owner });
  expect(read.json()).toMatchObject({ people: 1, complete: true });
  expect(read.json<{ steps: object[] }>().steps.at(-1)).toEqual({
    step: 'message',
    reached: 1,
    stopped: 1,
    seconds: 42,
    clicks: 11,
  });
  await app.close();

  open = await openControl(accessOf(personWith('ann', ['read', 'configure', 'bodies', 'operate', 'audit'])));
  const refused = await open.control.app.inject({ method: 'GET', url: '/v1/onboarding' });
  expect(refused.json()).toMatchObject({ code: 'forbidden_role' });
});
