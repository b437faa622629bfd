import { MAX_COHORT_BYTES } from '@carillon/domain/cohorts';
import type { PolledIntegration } from '@carillon/domain/configuration';
import { createByteBudget, type Duration } from '@carillon/kernel';
import type { CohortPageAnswer, CohortPages, OutboundAnswer, OutboundFailure, OutboundHttp } from '@carillon/ports';
import { readPostHogPage } from './posthog-page.ts';
import { readCohortBody } from './reading.ts';

/** Room for all pages that are being read: as many as are asked for at once, and one of them as values. */
const HELD_BYTES = 64 * 1024 * 1024;
const CONNECT: Duration = 3_000;
const TOTAL: Duration = 60_000;
/** Persons come with all their properties: 16 KiB each, or 600 fields and items, fit. */
const PAGE_SIZE = 250;

/**
 * Asks PostHog's API who is in a cohort: `GET /api/projects/:project/cohorts/:id/persons`. All pages that are being read
 * hold `heldBytes` at most; what does not fit is unavailable.
 */
export function createPostHog(http: OutboundHttp, heldBytes = HELD_BYTES): CohortPages {
  const budget = createByteBudget(heldBytes);
  return {
    async page({ integration, key, cohort, cursor, signal }) {
      const room = budget.open();
      try {
        const answered = await http.request({
          method: 'GET',
          url: addressOf(integration, cohort, cursor),
          headers: { accept: 'application/json', authorization: `Bearer ${key}`, 'user-agent': 'Carillon' },
          body: null,
          maxBytes: MAX_COHORT_BYTES,
          connectTimeout: CONNECT,
          totalTimeout: TOTAL,
          signal,
          room: room.take,
        });
        return answered.ok ? readAnswer(answered.value, integration, room.take) : failed(answered.error);
      } finally {
        room.close();
      }
    },
  };
}

const failed = ({ reason, detail }: OutboundFailure): CohortPageAnswer =>
  reason === 'refused_address' || reason === 'too_large'
    ? { kind: 'refused', detail }
    : { kind: 'unavailable', detail, retryAfter: null };

/** Always at the address that the file names: of where PostHog says the next page is, only the query counts. */
function addressOf({ url, project }: PolledIntegration, cohort: string, cursor: string | null): string {
  const base = url.replace(/\/+$/, '');
  return `${base}/api/projects/${project}/cohorts/${cohort}/persons?${cursor ?? `limit=${PAGE_SIZE}`}`;
}

function readAnswer(
  { status, headers, body }: OutboundAnswer,
  { user_id: userId }: PolledIntegration,
  room: (bytes: number) => boolean,
): CohortPageAnswer {
  if (status >= 200 && status < 300) return readPage(body, userId, room);
  const detail = `PostHog answered ${status}${WORDS[status] ?? ''}`;
  if (status === 429 || status >= 500) {
    return { kind: 'unavailable', detail, retryAfter: retryAfterOf(headers['retry-after']) };
  }
  return { kind: 'refused', detail };
}

const WORDS: Readonly<Record<number, string>> = {
  401: ': it does not accept the key of the integration',
  403: ': the key lacks a scope (cohort:read and person:read), or is of another project',
  404: ': there is no such project or cohort',
};

function readPage(body: Uint8Array, userId: string | undefined, room: (bytes: number) => boolean): CohortPageAnswer {
  const json = readCohortBody(body, room);
  const page = json.ok ? readPostHogPage(json.value, userId) : json;
  if (page.ok) return { kind: 'page', ...page.value };
  const { code, detail } = page.error;
  return code === 'overloaded' ? { kind: 'unavailable', detail, retryAfter: null } : { kind: 'refused', detail };
}

/** PostHog says it in seconds. */
const retryAfterOf = (text = ''): Duration | null => (/^\d{1,10}$/.test(text) ? Number(text) * 1000 : null);
