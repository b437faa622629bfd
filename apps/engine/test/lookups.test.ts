import { describe, expect, it } from 'vitest';
import { lookupFixture } from './lookup-fixture.ts';

const fixture = lookupFixture();

describe('a rule that asks a partner', () => {
  it('sends the ids, and makes a message for each item of the answer', async () => {
    await fixture.configure();
    const engine = await fixture.start();
    await fixture.topology().event({ order_id: 'A-1', watchers: ['ada', 7], extra: 'not used' });
    const made = await fixture.intents(2);
    expect(made.map(({ to, person }) => `${person}: ${to}`).toSorted()).toEqual([
      '7: 7@example.com',
      'ada: ada@example.com',
    ]);
    expect(made[0]?.variables).toMatchObject({ order_id: 'A-1' });
    expect(fixture.partner().calls.map(({ userIds }) => userIds)).toEqual([['ada', '7']]);
    expect(fixture.partner().calls[0]).toMatchObject({
      method: 'POST',
      path: '/recipients',
      headers: {
        authorization: 'Bearer key-1',
        accept: 'application/json',
        'content-type': 'application/json',
        'x-request-id': expect.stringMatching(/^req_/) as string,
      },
    });
    const [lookup] = await fixture.lookups(1);
    expect(lookup).toMatchObject({ status: 200, calls: 1, sharedBy: 1, problems: [] });
    expect(lookup?.trigger.event).toEqual({ order_id: 'A-1' });
    expect(engine.troubles).toEqual([]);
  });
});
