import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPartner, readUsers } from '../src/partner.ts';

const KEY = 'a-long-random-key';
let app: FastifyInstance;
beforeEach(() => {
  app = createPartner({ key: KEY, users: readUsers(new URL('../users.json', import.meta.url)) });
});
afterEach(() => app.close());

const ask = (body: unknown, authorization: string | undefined = `Bearer ${KEY}`) =>
  app.inject({
    method: 'POST',
    url: '/recipients',
    headers: { ...(authorization && { authorization }) },
    body: body as object,
  });

describe('the endpoint', () => {
  it('answers with an item for each user it knows, with null where there is no data', async () => {
    const answer = await ask({ user_ids: ['alan', 'nobody', 'grace'] });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toContain('application/json');
    expect(answer.json()).toEqual([
      { to: { email: null, phone: null, token: 'device-token-of-alan' }, variables: { user_id: 'alan', name: 'Alan' } },
      {
        to: { email: 'grace@example.com', phone: null, token: null },
        variables: { user_id: 'grace', name: 'Grace', language: 'en', points: 120 },
      },
    ]);
  });

  it('answers an empty array where it knows nobody', async () => {
    expect((await ask({ user_ids: ['nobody'] })).json()).toEqual([]);
    expect((await ask({ user_ids: [] })).json()).toEqual([]);
  });

  it.each([
    ['Bearer with the key', `Bearer ${KEY}`, 200],
    ['Basic with the key word for word', `Basic ${KEY}`, 200],
    ['Basic with the key in base64', `Basic ${Buffer.from(KEY).toString('base64')}`, 200],
    ['a scheme in small letters', `bearer ${KEY}`, 200],
    ['another key', 'Bearer another-key', 401],
    ['Bearer with the key in base64', `Bearer ${Buffer.from(KEY).toString('base64')}`, 401],
    ['the key alone', KEY, 401],
    ['nothing', '', 401],
  ])('takes or refuses %s', async (_what, authorization, status) => {
    expect((await ask({ user_ids: ['ada'] }, authorization)).statusCode).toBe(status);
  });

  it.each([
    ['of three bytes', '€'],
    ['that JSON escapes', '\u0001'],
  ])('takes the largest call that there is, of characters %s', async (_what, character) => {
    const answer = await ask({ user_ids: Array.from({ length: 500 }, () => character.repeat(255)) });
    expect(answer.statusCode).toBe(200);
  });

  it('refuses what is no question, without saying whom it knows', async () => {
    for (const body of [{}, { user_ids: 'ada' }, { user_ids: [1] }, [], { user_ids: Array(501).fill('ada') }]) {
      const answer = await ask(body);
      expect(answer.statusCode).toBe(400);
      expect(answer.body).not.toContain('example.com');
    }
  });
});
