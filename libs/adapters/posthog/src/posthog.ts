import { readCohortBody, readPostHogPage } from '@carillon/contracts';
import type { PostHogIntegration } from '@carillon/domain';
import type { Duration } from '@carillon/kernel';
import type { CohortPageAnswer, CohortPages, OutboundAnswer, OutboundHttp } from '@carillon/ports';

/** Persons come with all their properties: a hundred of them, or as many as PostHog gives, are far below this. */
const MAX_BYTES = 16 * 1024 * 1024;
const CONNECT: Duration = 3_000;
const TOTAL: Duration = 60_000;
const PAGE_SIZE = 500;

/** Asks PostHog's API who is in a cohort: `GET /api/projects/:project/cohorts/:id/persons`. */
export const createPostHog = (http: OutboundHttp): CohortPages => ({
  async page({ integration, key, cohort, cursor, signal }) {
    const answered = await http.request({
      method: 'GET',
      url: addressOf(integration, cohort, cursor),
      headers: { accept: 'application/json', authorization: `Bearer ${key}`, 'user-agent': 'Carillon' },
      body: null,
      maxBytes: MAX_BYTES,
      connectTimeout: CONNECT,
      totalTimeout: TOTAL,
      signal,
    });
    if (answered.ok) return readAnswer(answered.value, integration);
    const { reason, detail } = answered.error;
    return reason === 'refused_address' || reason === 'too_large'
      ? { kind: 'refused', detail }
      : { kind: 'unavailable', detail, retryAfter: null };
  },
});

/** Always at the address that the file names: of where PostHog says the next page is, only the query counts. */
function addressOf({ url, project }: PostHogIntegration, cohort: string, cursor: string | null): string {
  const base = url.replace(/\/+$/, '');
  return `${base}/api/projects/${project}/cohorts/${cohort}/persons?${cursor ?? `limit=${PAGE_SIZE}`}`;
}

function readAnswer(
  { status, headers, body }: OutboundAnswer,
  { user_id: userId }: PostHogIntegration,
): CohortPageAnswer {
  if (status >= 200 && status < 300) return readPage(body, userId);
  const detail = `PostHog answered ${status}${WORDS[status] ?? ''}`;
  if (status === 429 || status >= 500) {
    return { kind: 'unavailable', detail, retryAfter: retryAfterOf(headers['retry-after']) };
  }
  return { kind: 'refused', detail };
}

const WORDS: Readonly<Record<number, string>> = {
  401: ': it does not take the key',
  403: ': the key lacks a scope (cohort:read and person:read), or is of another project',
  404: ': there is no such project or cohort',
};

function readPage(body: Uint8Array, userId: string | undefined): CohortPageAnswer {
  const json = readCohortBody(body);
  const page = json.ok ? readPostHogPage(json.value, userId) : json;
  return page.ok ? { kind: 'page', ...page.value } : { kind: 'refused', detail: page.error.detail };
}

/** PostHog says it in seconds. */
const retryAfterOf = (text = ''): Duration | null => (/^\d{1,10}$/.test(text) ? Number(text) * 1000 : null);
