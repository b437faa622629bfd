import { createHmac } from 'node:crypto';
import type { CohortMessage } from '@carillon/domain/cohorts';
import type { EventLog, LogRecord } from '@carillon/ports';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { amplitudePayload as amplitude, mixpanelPayload as mixpanel, segmentTrack } from '@carillon/testing/given';
import type { GatewayConfig, GatewayPorts, RunningGateway } from '../src/index.ts';
import { prepareFixture, type Fixture } from './gateway-fixture.ts';

let fixture: Fixture;
let gateway: RunningGateway;
/** Places of the records that were there before. */
let before: ReadonlySet<string>;
const placeOf = ({ partition, offset }: LogRecord): string => `${partition}@${offset}`;
beforeAll(async () => {
  fixture = await prepareFixture();
});
beforeEach(async () => {
  gateway = await fixture.start();
  before = new Set((await fixture.records('carillon.cohorts')).map(placeOf));
});
afterEach(() => fixture.stopGateways());

/** Members as they come from somebody who keeps no addresses. */
const withoutMail = ({ parameters, ...body }: ReturnType<typeof mixpanel>) => ({
  ...body,
  parameters: { ...parameters, members: parameters.members.map((member) => ({ ...member, email: undefined })) },
});
type Headers = Readonly<Record<string, string>>;
const bearer = (key = 'first-secret'): Headers => ({ authorization: `Bearer ${key}` });
const basic = (text: string): Headers => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const signed = (text: string, secret = 'first-secret'): Headers => ({
  'x-signature': createHmac('sha1', secret).update(text).digest('hex'),
});

async function send(name: string, body: unknown, headers: Headers) {
  const answer = await fetch(`${gateway.address}/cohorts/shop/${name}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  const type = answer.headers.get('content-type') ?? '';
  return { status: answer.status, type, body: (await answer.json()) as Record<string, unknown> };
}
/** What this test put on the log, by message; what is said of one cohort is in its order. */
async function appended(): Promise<readonly CohortMessage[]> {
  const records = (await fixture.records('carillon.cohorts')).filter((record) => !before.has(placeOf(record)));
  return records.flatMap((record) => {
    const read = fixture.backend.codecs.cohort.decode(record.value);
    return read.ok ? [read.value] : [];
  });
}
async function restart(config: Partial<GatewayConfig>, ports: Partial<GatewayPorts> = {}): Promise<void> {
  await fixture.stopGateways();
  gateway = await fixture.start(config, ports);
}

describe('Mixpanel', () => {
  it.each(['members', 'add_members', 'remove_members'] as const)('gets its own answer to %s', async (action) => {
    const answer = await send('mixpanel', mixpanel(action, ['u1', 'u2']), basic('carillon:first-secret'));
    expect(answer).toMatchObject({ status: 200, body: { action, status: 'success' } });
    expect(Object.keys(answer.body)).toEqual(['action', 'status']);
    expect(await appended()).toMatchObject([
      { workspace: 'shop', integration: 'mixpanel', cohort: '1478097', userIds: ['u1', 'u2'] },
    ]);
  });

  it('gets success for an empty difference', async () => {
    const answer = await send('mixpanel', mixpanel('add_members', []), basic('carillon:second-secret'));
    expect(answer).toMatchObject({ status: 200, body: { status: 'success' } });
  });

  it('gets errors in its own format, with the action if it could be read', async () => {
    const bad = await send('mixpanel', { action: 'members', parameters: {} }, bearer());
    expect(bad.type).toBe('application/json; charset=utf-8');
    expect(bad).toMatchObject({
      status: 400,
      body: {
        action: 'members',
        status: 'failure',
        error: { code: 400, message: expect.stringContaining('mixpanel_cohort_id') as string },
      },
    });
    const unread = await send('mixpanel', '{"action":', bearer());
    expect(unread).toMatchObject({ status: 400, body: { action: null, status: 'failure', error: { code: 400 } } });
    expect(await appended()).toEqual([]);
  });

  it('gets success if no member has the mapped field, so that its sync continues; the operator is told once', async () => {
    for (const action of ['members', 'add_members', 'remove_members'] as const) {
      const answer = await send('by-email', withoutMail(mixpanel(action, ['u1', 'u2'])), bearer());
      expect(answer).toMatchObject({ status: 200, body: { action, status: 'success' } });
    }
    expect((await appended()).map(({ userIds, skipped }) => [userIds, skipped])).toEqual([
      [[], 2],
      [[], 2],
      [[], 2],
    ]);
    expect(fixture.alerts.splice(0)).toEqual([
      'shop/by-email skipped 2',
      'shop/by-email no member of a message has a user id at "email": look at user_id of the integration',
      'shop/by-email skipped 2',
      'shop/by-email skipped 2',
    ]);
  });

  it('gets 503 for a fault of ours, because it would pause its sync after any other status', async () => {
    const unset = await send('unset', mixpanel('members', []), bearer());
    expect(unset).toMatchObject({ status: 503, body: { code: 'secret_missing' } });
    // What is missing is the operator's to know, and nobody's who only has the address.
    expect(JSON.stringify(unset.body)).not.toContain('UNSET');
    expect(fixture.alerts.splice(0)).toEqual([
      'shop/unset requests were refused: UNSET is neither in the environment nor stored',
    ]);
    const away: EventLog['append'] = () => Promise.reject(new Error('away'));
    await restart({}, { log: { append: away, partitions: () => 8, logId: fixture.backend.log.logId } });
    const answer = await send('mixpanel', mixpanel('members', ['u1']), bearer());
    expect(answer).toMatchObject({
      status: 503,
      body: { action: 'members', error: { code: 503, message: expect.stringContaining('counts once') as string } },
    });
  });
});

describe('Amplitude', () => {
  it('gets 200 once the message is on the log', async () => {
    const answer = await send('amplitude', amplitude(true, ['u1']), bearer('second-secret'));
    expect(answer.status).toBe(200);
    const [message] = await appended();
    expect(message).toMatchObject({
      id: answer.body['id'],
      action: 'add',
      time: 1_692_206_763_000,
      session: '1692206763',
    });
  });

  it('gets a problem for what it never sends', async () => {
    const answer = await send('amplitude', { ...amplitude(true, []), in_cohort: 'yes' }, bearer());
    expect(answer.type).toContain('application/problem+json');
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', pointer: '/in_cohort' } });
  });
});

describe('Segment', () => {
  it('is known by the signature of its body', async () => {
    const text = JSON.stringify(segmentTrack(true, 'u1'));
    expect((await send('segment', text, signed(text))).status).toBe(200);
    expect((await send('segment', text, signed(text, 'second-secret'))).status).toBe(200);
    expect(await appended()).toMatchObject([
      { cohort: 'first_time_shopper', action: 'add', userIds: ['u1'], firstSync: 7_200_000 },
      { userIds: ['u1'] },
    ]);
    for (const headers of [{}, signed(text, 'wrong'), signed(`${text} `), { 'x-signature': 'zz' }, bearer()]) {
      expect((await send('segment', text, headers)).status).toBe(401);
    }
    expect(await appended()).toHaveLength(2);
  });

  it('signs of a batch the first call alone', async () => {
    const [first, second] = [segmentTrack(true, 'u1'), segmentTrack(false, 'u2')].map((call) => JSON.stringify(call));
    const batch = `[${first},${second}]`;
    const refused = await send('segment', batch, signed(first ?? ''));
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(refused.body['detail']).toContain('batches: true');
    expect(await appended()).toEqual([]);
    expect((await send('batches', batch, signed(first ?? ''))).status).toBe(200);
    expect((await send('batches', batch, signed(batch))).status).toBe(401);
    const messages = await appended();
    expect(messages).toMatchObject([
      { action: 'add', userIds: ['u1'] },
      { action: 'remove', userIds: ['u2'] },
    ]);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(2);
  });

  it('may send calls without a user id: these are counted, and nobody is bothered', async () => {
    fixture.alerts.length = 0;
    const { userId: _, ...nobody } = segmentTrack(true, 'u1');
    const text = JSON.stringify(nobody);
    expect((await send('segment', text, signed(text))).status).toBe(200);
    expect(fixture.alerts).toEqual(['shop/segment skipped 1']);
  });

  it('calls without an audience are skipped, counted, and reported once', async () => {
    fixture.alerts.length = 0;
    for (const text of ['{"type":"page","userId":"u1"}', '{"type":"identify","userId":"u1","traits":{"plan":"pro"}}']) {
      expect((await send('segment', text, signed(text))).status).toBe(200);
    }
    expect(await appended()).toEqual([]);
    expect(fixture.alerts.filter((one) => one === 'shop/segment passed over 1')).toHaveLength(2);
    expect(fixture.alerts.filter((one) => one.includes('not about an audience'))).toHaveLength(1);
  });

  const HOUR = 3_600_000;
  const at = (span: number): string => new Date(Date.now() + span).toISOString();
  it.each([
    ['a call of 25 hours ago', () => ({ timestamp: at(-25 * HOUR) }), 'older than 24 hours'],
    [
      'one whose newest time is that old',
      () => ({ timestamp: at(-90 * HOUR), sentAt: at(-25 * HOUR) }),
      'older than 24 hours',
    ],
    ['one more than a day ahead', () => ({ timestamp: at(25 * HOUR) }), 'more than a day ahead'],
  ])('is not taken at its word by a signature alone: %s', async (_what, times, why) => {
    const text = JSON.stringify(segmentTrack(true, 'u1', times()));
    const answer = await send('segment', text, signed(text));
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', pointer: '/timestamp' } });
    expect(answer.body['detail']).toContain(why);
    expect(await appended()).toEqual([]);
    // A stranger is told nothing of it.
    expect((await send('segment', text, signed(text, 'wrong'))).status).toBe(401);
  });

  it.each([
    ['of an hour ago', () => ({ timestamp: at(-HOUR) })],
    ['computed long ago and sent now', () => ({ timestamp: at(-90 * HOUR), sentAt: at(0) })],
    ['that says no time', () => ({})],
    ['a little ahead', () => ({ timestamp: at(HOUR) })],
  ])('is taken with a call %s', async (_what, times) => {
    const text = JSON.stringify(segmentTrack(true, 'u1', times()));
    expect((await send('segment', text, signed(text))).status).toBe(200);
  });
});

describe('a sender of the generic format', () => {
  it('gets 202 and the id of the message', async () => {
    const answer = await send('generic', { cohort: 'vip', action: 'replace', user_ids: ['u1'] }, bearer());
    expect(answer.status).toBe(202);
    const [message] = await appended();
    // A replacement without a session is one by itself.
    expect(message).toMatchObject({ id: answer.body['id'], session: answer.body['id'], page: { number: 1, of: 1 } });
  });

  it('gets a problem with a pointer', async () => {
    const answer = await send('generic', { cohort: 'vip', action: 'replaces', user_ids: [] }, bearer());
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', pointer: '/action' } });
  });

  it('gets all changes of one cohort into one partition', async () => {
    for (const cohort of ['a', 'b', 'c', 'd', 'e']) {
      await send('generic', { cohort, action: 'add', user_ids: ['u1'] }, bearer());
      await send('generic', { cohort, action: 'remove', user_ids: ['u1'] }, bearer());
    }
    const places = new Map<string, Set<number>>();
    for (const record of await fixture.records('carillon.cohorts')) {
      const read = fixture.backend.codecs.cohort.decode(record.value);
      const key = read.ok ? `${read.value.integration}/${read.value.cohort}` : '';
      places.set(key, (places.get(key) ?? new Set()).add(record.partition));
    }
    expect([...places.values()].every((partitions) => partitions.size === 1)).toBe(true);
  });
});

describe('a request about a cohort', () => {
  const body = { cohort: 'vip', action: 'add', user_ids: ['u1'] };

  it('gets one answer whatever is wrong with its address or its credential', async () => {
    const answers = [
      await send('nothing', body, bearer()),
      await send('crm', body, bearer()),
      await send('unset', body, {}),
    ];
    for (const name of ['mixpanel', 'amplitude', 'segment', 'generic']) {
      for (const headers of [{}, bearer('wrong'), { authorization: 'Bearer' }, { 'x-signature': 'zz' }]) {
        answers.push(await send(name, body, headers));
      }
    }
    for (const answer of answers) {
      expect({ ...answer, body: { ...answer.body, request_id: '' } }).toEqual({
        ...answers[0],
        body: { ...answers[0]?.body, request_id: '' },
      });
      expect(answer.status).toBe(401);
    }
    expect(fixture.logged.join()).not.toContain('first-secret');
  });

  it('is refused if it is too large, with or without a declared length, and nothing is stored', async () => {
    await restart({ maxCohortBytes: 1000 });
    const large = { ...body, user_ids: ['x'.repeat(400), 'y'.repeat(400), 'z'.repeat(400)] };
    expect(await send('generic', large, bearer())).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    const streamed = await fetch(`${gateway.address}/cohorts/shop/generic`, {
      method: 'POST',
      body: new Blob([JSON.stringify(large)]).stream(),
      headers: { 'content-type': 'application/json', ...bearer() },
      duplex: 'half',
    });
    expect(streamed.status).toBe(413);
    expect(await appended()).toEqual([]);
  });

  it.each(['[]', '{}'])('of megabytes of %s is refused before it is read', async (one) => {
    const text = `[${`${one},`.repeat(1_000_000)}0]`;
    expect(await send('generic', text, bearer())).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
  });

  /** What a stranger is answered at each address, without what names the request. */
  async function answersTo(headers: Headers, streamed = false): Promise<Record<string, unknown>[]> {
    const text = JSON.stringify({ ...body, user_ids: ['x'.repeat(1000)] });
    const answers = [];
    for (const name of ['nothing', 'mixpanel', 'amplitude', 'segment', 'generic', 'unset']) {
      const {
        status,
        headers: got,
        ...answer
      } = await fetch(`${gateway.address}/cohorts/shop/${name}`, {
        method: 'POST',
        body: streamed ? new Blob([text]).stream() : text,
        headers: { 'content-type': 'application/json', ...headers },
        ...(streamed && { duplex: 'half' }),
      }).then(async (one) => ({ status: one.status, headers: one.headers, body: await one.json() }));
      const shown = Object.fromEntries([...got].filter(([field]) => !['date', 'x-request-id'].includes(field)));
      answers.push({ status, ...shown, body: { ...(answer.body as object), request_id: '' } });
    }
    return answers;
  }

  it.each<[string, Headers, boolean, number]>([
    ['streamed and too large', {}, true, 401],
    ['streamed and too large, with a wrong signature', { 'x-signature': 'zz' }, true, 401],
    ['of another type', { 'content-type': 'text/plain' }, true, 415],
    ['of another type, with a wrong secret', { 'content-type': 'text/plain', ...basic('carillon:wrong') }, true, 415],
    ['announced as too large', {}, false, 413],
    ['announced as too large, with a wrong secret', basic('carillon:wrong'), false, 413],
  ])('of a stranger, %s, is answered alike whatever is at the address', async (_, headers, streamed, status) => {
    await restart({ maxCohortBytes: 1000 });
    const answers = await answersTo(headers, streamed);
    expect(answers[0]).toMatchObject({ status, 'content-type': 'application/problem+json' });
    expect(answers).toEqual(Array(answers.length).fill(answers[0]));
  });

  it('of a stranger is answered alike where the gateway does not know the configuration', async () => {
    await restart({ freshFor: -1, refreshDeadline: 10 });
    const answers = await answersTo({});
    expect(answers[0]).toMatchObject({ status: 503, 'content-type': 'application/problem+json' });
    expect(answers).toEqual(Array(answers.length).fill(answers[0]));
  });

  it('with a wrong secret is reported to the operator once a minute, with the names of the secrets', async () => {
    fixture.alerts.length = 0;
    for (const headers of [bearer('wrong'), bearer('wrong'), {}]) await send('generic', body, headers);
    expect(fixture.alerts).toEqual([
      'shop/generic requests were refused: their credential does not match FIRST and SECOND',
    ]);
  });

  it.each([
    ['text/plain', '{}', 415],
    ['application/json', '['.repeat(100_000), 400],
    ['application/json', '{"cohort":"\\ud800","action":"add","user_ids":[]}', 400],
  ])('of type %s that is hostile is refused', async (type, text, status) => {
    expect((await send('generic', text, { ...bearer(), 'content-type': type })).status).toBe(status);
  });

  it('is not taken by a gateway that does not know the configuration', async () => {
    await restart({ freshFor: -1, refreshDeadline: 10 });
    expect((await send('generic', body, bearer())).status).toBe(503);
  });
});
