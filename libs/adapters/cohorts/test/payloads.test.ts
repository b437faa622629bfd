import { parseJson, stringifyJson, type Json } from '@carillon/kernel';
import type { WebhookPlatform } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import {
  amplitudePayload as amplitude,
  mixpanelPayload as mixpanel,
  postHogPage,
  segmentIdentify,
  segmentTrack,
} from '@carillon/testing/given';
import { proofOf } from '../src/credentials.ts';
import { readPostHogPage } from '../src/posthog-page.ts';
import { readCohortWebhook } from '../src/readers.ts';

/** Serializes and parses the body, so that it only has values that JSON can carry. */
const sent = (body: unknown): Json => parseJson(stringifyJson(body as Json));
function read(platform: WebhookPlatform, body: unknown, userId?: string) {
  const found = readCohortWebhook(platform, sent(body), userId);
  if (!found.ok) throw found.error;
  return found.value;
}
function refusal(platform: WebhookPlatform, body: unknown, userId?: string) {
  const found = readCohortWebhook(platform, sent(body), userId);
  if (found.ok) throw new Error('it was taken');
  return { code: found.error.code, pointer: found.error.facts.pointer, detail: found.error.detail };
}

describe('Mixpanel’s cohort webhook', () => {
  it('sends the whole cohort page by page', () => {
    expect(read('mixpanel', mixpanel('members', ['u1', 'u2'], { page: 6, of: 10 }))).toEqual([
      {
        cohort: '1478097',
        name: 'Buyers',
        action: 'replace',
        session: '52ac1a37-1ea8-4b4d-8eb3-1b1d9f3f3a51',
        page: { number: 6, of: 10 },
        time: null,
        userIds: ['u1', 'u2'],
        skipped: 0,
      },
    ]);
  });

  it.each([
    ['add_members', 'add', { number: 1, of: 1 }],
    ['remove_members', 'remove', null],
  ] as const)('sends differences as %s, also empty ones', (action, meant, page) => {
    const [change] = read('mixpanel', mixpanel(action, ['u1']));
    expect(change).toMatchObject({ action: meant, page, userIds: ['u1'] });
    expect(read('mixpanel', mixpanel(action, []))).toMatchObject([{ action: meant, userIds: [] }]);
  });

  it('may have user ids as numbers of up to 64 bits, and an empty cohort without pages', () => {
    const body = mixpanel('members', [], { of: 0 });
    const text = JSON.stringify(body).replace('"1478097"', '9007199254740993');
    const read64 = readCohortWebhook('mixpanel', parseJson(text));
    expect(read64.ok && read64.value).toMatchObject([{ cohort: '9007199254740993', page: { number: 1, of: 1 } }]);
  });

  it('counts each user once, and counts members without an id', () => {
    const body = mixpanel('add_members', ['u1', 'u1', 'u2']);
    const members = [...body.parameters.members, { email: 'nobody@example.com' }];
    const [change] = read('mixpanel', { ...body, parameters: { ...body.parameters, members } });
    expect(change).toMatchObject({ userIds: ['u1', 'u2'], skipped: 1 });
  });

  it('may identify users by another configured field', () => {
    expect(read('mixpanel', mixpanel('add_members', ['u1']), 'email')).toMatchObject([{ userIds: ['u1@example.com'] }]);
  });

  it.each(['members', 'add_members', 'remove_members'] as const)(
    'is accepted if no member has the mapped field (%s), because a refusal would pause the sync',
    (action) => {
      const [change] = read('mixpanel', mixpanel(action, ['u1', 'u2']), 'properties.id');
      expect(change).toMatchObject({ userIds: [], skipped: 2 });
    },
  );

  it.each([
    ['an unknown action', { ...mixpanel('members', []), action: 'delete_members' }, '/action'],
    ['no cohort', { ...mixpanel('members', []), parameters: {} }, '/parameters/mixpanel_cohort_id'],
    ['a page that is none', mixpanel('members', [], { page: 0 }), '/parameters/page_info/page_count'],
    ['more pages than there can be', mixpanel('members', [], { of: 10_001 }), '/parameters/page_info/total_pages'],
    ['a list', [mixpanel('members', [])], ''],
  ])('is refused with a pointer to the fault: %s', (_, body, pointer) => {
    expect(refusal('mixpanel', body)).toMatchObject({ code: 'invalid_request', pointer });
  });

  it('is refused if it names more users than one request may', () => {
    const many = Array.from({ length: 10_001 }, (_, at) => `u${at}`);
    expect(refusal('mixpanel', mixpanel('members', many)).code).toBe('body_too_large');
  });
});

describe('Amplitude’s cohort webhook', () => {
  it.each([
    [true, 'add'],
    [false, 'remove'],
  ] as const)('with in_cohort %s reports that users %s, at the time of the cohort’s computation', (inside, action) => {
    expect(read('amplitude', amplitude(inside, ['u1']))).toEqual([
      {
        cohort: '7khm89cz',
        name: 'Power users',
        action,
        session: '1692206763',
        page: null,
        time: 1_692_206_763_000,
        userIds: ['u1'],
        skipped: 0,
      },
    ]);
  });

  it('may be empty, and may identify users by a property', () => {
    expect(read('amplitude', amplitude(true, []))).toMatchObject([{ userIds: [] }]);
    expect(read('amplitude', amplitude(true, ['u1']), 'user_properties.plan')).toMatchObject([{ userIds: ['pro'] }]);
  });

  it('is refused with an invalid time', () => {
    expect(refusal('amplitude', amplitude(true, ['u1'], 'yesterday')).pointer).toBe('/computed_time');
  });
});

describe('Segment’s audience webhook', () => {
  it('is read from track calls and from identify calls', () => {
    const wanted = { cohort: 'first_time_shopper', name: null, session: null, page: null, userIds: ['u1'], skipped: 0 };
    for (const call of [segmentTrack, segmentIdentify]) {
      expect(read('segment', call(true, 'u1'))).toEqual([{ ...wanted, action: 'add', time: null }]);
      expect(read('segment', call(false, 'u1'))).toEqual([{ ...wanted, action: 'remove', time: null }]);
    }
  });

  it('may batch users who enter and leave, each with the time of its own call', () => {
    const at = (second: number) => ({ timestamp: `2026-01-31T12:00:0${second}.000Z` });
    const batch = [segmentTrack(true, 'u1', at(1)), segmentTrack(false, 'u2', at(2)), segmentTrack(true, 'u3', at(3))];
    const start = Date.parse('2026-01-31T12:00:00Z');
    expect(read('segment', batch)).toMatchObject([
      { action: 'add', userIds: ['u1', 'u3'], time: [start + 1000, start + 3000] },
      { action: 'remove', userIds: ['u2'], time: [start + 2000] },
    ]);
  });

  it('keeps the order of calls about one user, and drops repeats', () => {
    const batch = [true, true, false, true].map((inside) => segmentTrack(inside, 'u1'));
    expect(read('segment', batch).map(({ action }) => action)).toEqual(['add', 'remove', 'add']);
  });

  it('keeps several audiences of one batch apart', () => {
    const other = { properties: { audience_key: 'j_o_welcome', j_o_welcome: true } };
    const found = read('segment', [segmentTrack(true, 'u1'), segmentTrack(true, 'u1', other)]);
    expect(found.map(({ cohort }) => cohort)).toEqual(['first_time_shopper', 'j_o_welcome']);
  });

  it('may use events of any name, because the property decides', () => {
    expect(read('segment', segmentTrack(false, 'u1', { event: 'Left it' }))).toMatchObject([{ action: 'remove' }]);
  });

  it('ignores other calls and computed traits', () => {
    const trait = {
      type: 'track',
      event: 'Trait Computed',
      userId: 'u1',
      properties: { trait_key: 'orders', orders: 3 },
      context: { personas: { computation_class: 'trait', computation_key: 'orders' } },
    };
    expect(read('segment', [{ type: 'page', userId: 'u1', name: 'Home' }, trait])).toEqual([]);
  });

  it('counts a profile without the id', () => {
    const { userId: _, ...nobody } = segmentTrack(true, 'u1');
    expect(read('segment', nobody)).toMatchObject([{ userIds: [], skipped: 1 }]);
  });

  it('is refused if a batch is not a list of calls', () => {
    expect(refusal('segment', [1, 2]).code).toBe('invalid_request');
    expect(refusal('segment', 'text').code).toBe('invalid_request');
  });
});

describe('the generic cohort webhook', () => {
  const replace = { cohort: 'vip', action: 'replace', user_ids: ['u1'], page: 1, pages: 3, session: 'night-1' };

  it('supports everything the other platforms’ webhooks do', () => {
    expect(read('generic', { ...replace, name: 'VIP', time: '2026-01-31T12:00:00Z' })).toEqual([
      {
        cohort: 'vip',
        name: 'VIP',
        action: 'replace',
        session: 'night-1',
        page: { number: 1, of: 3 },
        time: Date.parse('2026-01-31T12:00:00Z'),
        userIds: ['u1'],
        skipped: 0,
      },
    ]);
    expect(read('generic', { cohort: 7, action: 'add', user_ids: [42] })).toMatchObject([
      { cohort: '7', action: 'add', userIds: ['42'], session: null, page: null },
    ]);
    expect(read('generic', { cohort: 'vip', action: 'replace', user_ids: [] })).toMatchObject([
      { page: { number: 1, of: 1 } },
    ]);
  });

  it.each([
    ['several pages without a session', { ...replace, session: undefined }, '/session'],
    ['a page beyond the last', { ...replace, page: 4 }, '/page'],
    ['pages of an add', { ...replace, action: 'add' }, '/page'],
    ['a user that is no id', { ...replace, user_ids: ['u1', { id: 'u2' }] }, '/user_ids/1'],
    ['a key that it does not know', { ...replace, sesion: 'x' }, ''],
    ['a time without a zone', { ...replace, time: '2026-01-31 12:00' }, '/time'],
    ['an id with a line break', { ...replace, cohort: 'a\nb' }, '/cohort'],
  ])('is refused with a pointer to the fault: %s', (_, body, pointer) => {
    expect(refusal('generic', body)).toMatchObject({ code: 'invalid_request', pointer });
  });
});

describe('a page of persons read from PostHog', () => {
  it('gives user ids, and the query of the next page without its host', () => {
    const page = postHogPage([['u1', 'anon-1'], ['u2']], 'http://10.0.0.1/api/projects/1/cohorts/5/persons?offset=100');
    expect(readPostHogPage(sent(page))).toEqual({
      ok: true,
      value: { userIds: ['u1', 'u2'], skipped: 0, next: 'offset=100' },
    });
    expect(readPostHogPage(sent(postHogPage([], null)))).toEqual({
      ok: true,
      value: { userIds: [], skipped: 0, next: null },
    });
  });

  it('may identify users by a property', () => {
    const page = readPostHogPage(sent(postHogPage([['u1']], null)), 'properties.user_id');
    expect(page.ok && page.value.userIds).toEqual(['100']);
  });

  it('is refused if it has another form', () => {
    expect(readPostHogPage({ detail: 'Not found.' }).ok).toBe(false);
  });
});

describe('the credentials of a cohort webhook request', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
  const candidates = (authorization: string | undefined): readonly string[] | null => {
    const proof = proofOf('mixpanel', { authorization, signature: undefined }, bytes('{}'));
    return proof?.kind === 'secret' ? proof.candidates : null;
  };

  it('are the token after Bearer, or user and password of Basic', () => {
    expect(candidates('Bearer abc')).toEqual(['abc']);
    expect(candidates(basic('carillon:pass:word'))).toEqual(['carillon:pass:word', 'pass:word']);
    expect(candidates(basic('key:'))).toEqual(['key:', 'key']);
    expect(candidates(undefined)).toBeNull();
    expect(candidates('Digest abc')).toBeNull();
  });

  it.each([
    ['{"a":1}', '{"a":1}'],
    ['[{"a":"]},\\"{"},{"b":2}]', '{"a":"]},\\"{"}'],
    [' [ {"a":[1,{"b":2}]} , 2]', '{"a":[1,{"b":2}]}'],
    ['[{"a":1}]', '{"a":1}'],
    ['[{"a":"é"},1]', '{"a":"é"}'],
    ['[]', ''],
    ['[{"a":1', '{"a":1'],
    ['', ''],
  ])('are, for Segment, a signature over the body or the first element of a batch: %s', (body, signed) => {
    const proof = proofOf('segment', { authorization: undefined, signature: ' ABC ' }, bytes(body));
    expect(proof?.kind === 'hmac_sha1' && [proof.signature, new TextDecoder().decode(proof.over)]).toEqual([
      'abc',
      signed,
    ]);
    expect(proofOf('segment', { authorization: 'Bearer x', signature: undefined }, bytes(body))).toBeNull();
  });
});
