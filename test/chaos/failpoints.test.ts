import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFailpointLab, type FailpointLab } from './failpoint-run.ts';

let lab: FailpointLab;
beforeAll(async () => {
  lab = await openFailpointLab();
}, 60_000);
afterAll(() => lab.close());

const PLACES = [
  'events.append',
  'evaluations.append',
  'intents.append',
  'engine.checkpoint',
  'delivery.insert',
  'delivery.sending',
  'provider.send',
  'delivery.sent',
  'outcomes.append',
  'delivery.checkpoint',
  'projection.put',
  'control.checkpoint',
];
describe('x', () => {
  for (const action of ['kill', 'throw'])
    for (const place of PLACES)
      for (const side of ['before', 'after'])
        test(`${action} ${place}.${side}`, async () => {
          const at = Date.now();
          const out = await lab.run(`${place}.${side}:3:${action}`);
          console.log(action, `${place}.${side}`, JSON.stringify(out), Date.now() - at);
          expect(out.killed).toBe(action === 'kill');
        }, 60_000);
  test('verdict', async () => {
    expect(await lab.verdict()).toEqual([]);
  }, 60_000);
});
