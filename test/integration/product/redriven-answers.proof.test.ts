import type { Embedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import { createRecordCodecs, type DeadLetterBody } from '@carillon/contracts';
import { newAsking, type Asking, type Lookup } from '@carillon/domain/lookups';
import type { TriggerId } from '@carillon/kernel';
import { newTask } from '@carillon/stages';
import { untilFound } from '@carillon/testing';
import { givenLookup, givenTrigger } from '@carillon/testing/given';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, restartOver, type Shop } from './shop.ts';

const DAY = 86_400_000;

let closed: () => Promise<void>;
let shop: Shop;

/** An answer for a rule that no configuration has, so that nothing can be made of it. */
const lost = (id: string, callId: string): Lookup =>
  givenLookup({ trigger: givenTrigger({ id: id as TriggerId, configNumber: 0, rule: 'order-paid.gone' }), callId });

/** What stands on the log and in the store when the product starts. */
async function write({ log, tasks, registry }: Pick<Embedded, 'log' | 'tasks' | 'registry'>): Promise<void> {
  const now = systemClock.now();
  const codecs = await createRecordCodecs(registry, systemClock.now);
  const record = (lookup: Lookup) => ({
    topic: 'carillon.lookups' as const,
    partition: 0,
    key: 'key',
    value: codecs.lookup.encode(lookup),
    headers: { workspace: 'shop' },
  });
  const later = record(lost('trg_TWICE', 'req_LATER'));
  const [, , place] = await log.append([
    record(lost('trg_LOST', 'req_1')),
    record(lost('trg_TWICE', 'req_FIRST')),
    later,
  ]);
  // The dead letter of an answer that came too late, as one that could not be read at first leaves it.
  const late = { ...later, id: 'dead_LATER', stage: 'resolve', offset: place ?? 0, reason: 'unknown_schema' } as const;
  // A trigger that was given up, redriven, and answered then.
  const trigger = givenTrigger({ id: 'trg_ANSWERED' as TriggerId });
  const ended = { kind: 'answered', reason: '', deadLetterId: null } as const;
  const asking: Asking = {
    ...newAsking(trigger, { partition: 0, offset: 0, key: 'key' }),
    trigger: null,
    ended,
  };
  await tasks.insert([{ ...newTask(trigger, asking, systemClock.now()), done: true }]);
  // Dead letters about triggers that nothing is known of any more, or not yet.
  const unknown = ([name, causedAt]: readonly [string, number]) => {
    const one = givenTrigger({ id: `trg_${name}` as TriggerId, rule: 'order-paid.gone', causedAt });
    return [
      { ...answered, id: `dead_TRIGGER_${name}`, value: codecs.trigger.encode(one) },
      { ...late, id: `dead_LOOKUP_${name}`, value: codecs.lookup.encode(givenLookup({ trigger: one })) },
    ] as const;
  };
  const answered = {
    ...later,
    topic: 'carillon.triggers',
    value: codecs.trigger.encode(trigger),
    id: 'dead_ANSWERED',
    stage: 'ask',
    offset: 0,
    reason: 'partner_refused',
  } as const;
  await log.append(
    [late, answered, ...unknown(['OLD', now - 30 * DAY]), ...unknown(['NEW', now - 29 * DAY])].map((letter) => ({
      topic: 'carillon.dead-letters',
      partition: 0,
      key: 'key',
      value: codecs.deadLetter.encode({ ...letter, workspace: 'shop', detail: '', at: systemClock.now() }),
      headers: {},
    })),
  );
}

beforeAll(async () => {
  const restarted = await restartOver(await openShop(), write);
  shop = restarted;
  closed = () => restarted.close();
});
afterAll(() => closed());

const letters = async (): Promise<readonly DeadLetterBody[]> =>
  (await shop.api<{ items: DeadLetterBody[] }>('GET', '/v1/workspaces/shop/dead-letters?limit=200')).body.items;
const letterOf = (what: string, is: (one: DeadLetterBody) => boolean): Promise<DeadLetterBody> =>
  untilFound(what, async () => (await letters()).find(is));

describe('An answer that was recorded, and that nothing could be made of', () => {
  it('is resolved again by redrive as the same answer, and returns while the cause remains', async () => {
    const lookups = (one: DeadLetterBody) => one.position === 'carillon.lookups/0@0' && one.stage === 'resolve';
    const letter = await letterOf('its dead letter', lookups);
    expect(letter.reason).toMatch(/^rule_gone: /);
    expect((await shop.run(['dead-letters', 'redrive', letter.id])).code).toBe(0);
    const back = await letterOf(
      'its return',
      (one) => one.stage === 'resolve' && one.position.startsWith('carillon.lookups/0@') && one.at > letter.at,
    );
    expect(back).toMatchObject({ reason: letter.reason, redriven_at: null });
    expect((await shop.run(['dead-letters', 'redrive', back.id])).code).toBe(0);
    await letterOf('its second return', (one) => one.reason === letter.reason && one.at > back.at);
  });

  it('cannot be redriven if another answer to the trigger counts; the refusal names that answer, and the letter stays open', async () => {
    await letterOf('its dead letter', ({ id }) => id === 'dead_LATER');
    const { code, stdout, stderr } = await shop.run(['dead-letters', 'redrive', 'dead_LATER']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('another answer to the same trigger counts, carillon.lookups/0@1');
    const answer = await shop.api('POST', '/v1/dead-letters/dead_LATER/redrive');
    expect(answer).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
    expect((await letters()).find(({ id }) => id === 'dead_LATER')?.redriven_at).toBeNull();
  });
});

it('A trigger whose partner has answered since its dead letter is not asked again, and the refusal says so', async () => {
  await letterOf('its dead letter', ({ id }) => id === 'dead_ANSWERED');
  const answer = await shop.api('POST', '/v1/dead-letters/dead_ANSWERED/redrive');
  expect(answer).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
  expect(answer.body.detail).toContain('its partner has answered since');
  expect((await letters()).find(({ id }) => id === 'dead_ANSWERED')?.redriven_at).toBeNull();
});

it.each(['TRIGGER', 'LOOKUP'])(
  'A %s without stored results is redriven only within the time for which results are kept',
  async (what) => {
    await letterOf('its dead letter', ({ id }) => id === `dead_${what}_NEW`);
    const old = await shop.api('POST', `/v1/dead-letters/dead_${what}_OLD/redrive`);
    expect(old).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
    expect(old.body.detail).toContain('its event is older than the 30d for which outcomes are kept');
    expect((await letters()).find(({ id }) => id === `dead_${what}_OLD`)?.redriven_at).toBeNull();
    expect((await shop.api('POST', `/v1/dead-letters/dead_${what}_NEW/redrive`)).status).toBe(200);
  },
);
