import { MAX_COHORT_BYTES, MAX_COHORT_VALUES } from '@carillon/domain/cohorts';
import type { PolledIntegration } from '@carillon/domain/configuration';
import type { CohortPageAnswer, CohortPages, OutboundHttp } from '@carillon/ports';
import { createLoopbackHttp, startScriptedPostHog, type ScriptedPostHog } from '@carillon/testing';
import { postHogPage } from '@carillon/testing/given';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPostHog } from '../src/index.ts';

let posthog: ScriptedPostHog;
let http: OutboundHttp;
beforeEach(async () => {
  posthog = await startScriptedPostHog('ph-key');
  posthog.holds('5', ['ada']);
  http = createLoopbackHttp();
});
afterEach(async () => {
  await http.close();
  await posthog.stop();
});

function ask(pages: CohortPages): Promise<CohortPageAnswer> {
  const integration: PolledIntegration = {
    kind: 'posthog',
    url: posthog.url,
    project: '12',
    authorization: { key: { secret: 'PH' } },
    cohorts: ['5'],
  };
  const signal = AbortSignal.timeout(60_000);
  return pages.page({ integration, key: 'ph-key', cohort: '5', cursor: null, signal });
}
const answer = (text: string) => (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(text);

describe('a page of persons read from PostHog', () => {
  it('gives the first id of each person, and counts persons without an id', async () => {
    posthog.once(answer(JSON.stringify(postHogPage([['ada', 'anonymous-1'], []], null))));
    expect(await ask(createPostHog(http))).toEqual({ kind: 'page', userIds: ['ada'], skipped: 1, next: null });
  });

  it.each(['[]', '{}', '1', '{"a":1}'])('with too many %s is refused, and not read', async (one) => {
    posthog.once(answer(`{"results":[${`${one},`.repeat(MAX_COHORT_VALUES)}0]}`));
    const detail = expect.stringContaining('150000 fields and items of lists') as string;
    expect(await ask(createPostHog(http))).toEqual({ kind: 'refused', detail });
  });

  it('that exceeds the size limit is not read to its end', async () => {
    posthog.once(answer(' '.repeat(MAX_COHORT_BYTES + 1)));
    expect(await ask(createPostHog(http))).toMatchObject({
      kind: 'refused',
      detail: 'the answer is larger than 4194304 bytes',
    });
  });

  it('is requested again later if it would exceed the memory for all pages', async () => {
    const pages = createPostHog(http, 1_000_000);
    posthog.once(answer(`{"results":[{}${',{}'.repeat(3000)}]}`));
    expect(await ask(pages)).toMatchObject({
      kind: 'unavailable',
      detail: expect.stringContaining('too many requests') as string,
    });
    expect(await ask(pages)).toMatchObject({ kind: 'page', userIds: ['ada'] });
  });

  it('shares a memory budget with other running reads, and releases its part', async () => {
    const pages = createPostHog(http, 1_000_000);
    const { promise: held, resolve } = Promise.withResolvers<ServerResponse>();
    posthog.once((response) => {
      response.writeHead(200).write(' '.repeat(900_000), () => resolve(response));
    });
    const slow = ask(pages);
    const first = await held;
    const large = (): Promise<CohortPageAnswer> => {
      posthog.once(answer(`{"results":[]}${' '.repeat(200_000)}`));
      return ask(pages);
    };
    await expect.poll(large).toMatchObject({ kind: 'unavailable' });
    first.end('{"results":[]}');
    expect(await slow).toMatchObject({ kind: 'page' });
    expect(await large()).toMatchObject({ kind: 'page' });
  });
});
