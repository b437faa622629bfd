import { cohortPage, type CohortBodyShown } from '@carillon/contracts';
import {
  countPages,
  findCohortIntegration,
  isBefore,
  isWhole,
  namesNobody,
  type Cohort,
} from '@carillon/domain/cohorts';
import {
  type CohortIntegration,
  integrationSecrets,
  isPolled,
  type PolledIntegration,
} from '@carillon/domain/configuration';
import { formatDuration, formatInstant, type Duration, type Instant } from '@carillon/kernel';
import { z } from 'zod';
import type { Check, ControlConfig, ControlPorts } from '../../ports.ts';
import { missingSecret } from '../../secret-places.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { namesOf, placeOf } from '../../names.ts';
import { paging, withNameAcross, type ApiServer } from '../app.ts';

/** How long a check waits for all its answers: less than a request to this API may take. */
export const CHECK_TIMEOUT: Duration = 8_000;

/** Routes for the cohorts of a platform: their sizes, and the progress of the newest sync. */
export function cohortRoutes(app: ApiServer, ports: Pick<ControlPorts, 'configuration' | 'cohorts' | 'clock'>): void {
  app.get(
    '/v1/workspaces/:workspace/integrations/:name/cohorts',
    {
      config: { permission: 'read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'listCohorts',
        tags: ['Integrations'],
        summary: 'Cohorts of a platform with their member counts and the progress of the newest sync',
        params: withNameAcross,
        querystring: z.strictObject(paging),
        response: { 200: cohortPage },
      },
    },
    async (request) => {
      const { params, query } = request;
      const { name } = params;
      const configuration = ports.configuration.current();
      const workspace = placeOf('integration with cohorts', name, visibleScopeOf(request), (one) =>
        namesOf(configuration, 'integration')(one).filter((each) => findCohortIntegration(configuration, one, each)),
      );
      const { items, next } = await ports.cohorts.list(workspace, name, query.limit, query.cursor);
      const now = ports.clock.now();
      const shown: CohortBodyShown[] = [];
      for (const cohort of items) shown.push(showCohort(cohort, await ports.cohorts.count(cohort), now));
      return { items: shown, next };
    },
  );
}

function showCohort(cohort: Cohort, members: number, now: Instant): CohortBodyShown {
  const { first, replacement, replacedAt, settling } = cohort;
  const until = first?.until ?? null;
  const sync = replacement ?? first?.pages ?? null;
  return {
    id: cohort.cohort,
    name: cohort.name,
    members,
    first_heard_at: formatInstant(cohort.firstAt),
    newest_at: formatInstant(cohort.newestAt),
    synced_at: replacedAt && formatInstant(replacedAt.time),
    sync: sync && {
      session: sync.session,
      began_at: formatInstant(sync.order.time),
      pages_so_far: countPages(sync.seen),
      pages: sync.of,
      skipped: sync.skipped,
      complete: replacedAt !== null && !isBefore(replacedAt, sync.order),
      names_nobody: isWhole(sync) && namesNobody(sync),
      leaving: settling?.session === sync.session,
    },
    first_sync_until: until !== null && until > now ? formatInstant(until) : null,
    skipped: cohort.skipped,
  };
}

/** What checking a platform takes. */
export type PlatformCheckPorts = Pick<ControlPorts, 'secrets' | 'cohorts' | 'cohortPages'>;

/**
 * Checks a cohort platform without calling it: the address it has to send to, whether its secret is set, and what it
 * has sent.
 */
export async function checkPlatform(
  body: CohortIntegration,
  {
    workspace,
    integration: name,
    eventsUrl,
  }: { readonly workspace: string; readonly integration: string } & Pick<ControlConfig, 'eventsUrl'>,
  ports: PlatformCheckPorts,
): Promise<Check[]> {
  const address = `${eventsUrl.replace(/\/events$/, '')}/cohorts/${workspace}/${name}`;
  const where = isPolled(body) ? body.url : `it has to send to ${address}`;
  const signal = AbortSignal.timeout(CHECK_TIMEOUT);
  const steps: Check[] = [{ step: 'integration', ok: true, detail: `kind ${body.kind}, ${where}` }];
  for (const secret of integrationSecrets(body)) {
    const value = await ports.secrets.resolve(workspace, secret);
    const detail = value === null ? await missingSecret(workspace, secret, ports.secrets) : `${secret} is set`;
    steps.push({ step: 'secret', ok: value !== null, detail });
    if (isPolled(body) && value !== null) steps.push(...(await askForCohorts(body, value, signal, ports)));
  }
  const { items } = await ports.cohorts.list(workspace, name, 1);
  const [newest] = items;
  const heard = newest ? `heard of it, last at ${formatInstant(newest.newestAt)}` : 'nothing has arrived yet';
  return [...steps, { step: 'cohorts', ok: true, detail: heard }];
}

/** The first page of each cohort, with this key; nothing is kept of it. */
async function askForCohorts(
  integration: PolledIntegration,
  key: string,
  signal: AbortSignal,
  { cohortPages }: PlatformCheckPorts,
): Promise<Check[]> {
  const steps: Check[] = [];
  for (const cohort of integration.cohorts) {
    const answer = await cohortPages.page({ integration, key, cohort, cursor: null, signal });
    const more = answer.kind === 'page' && answer.next !== null ? ' on the first page, and more' : '';
    const detail =
      answer.kind === 'page'
        ? `${answer.userIds.length} users${more}; ${answer.skipped} without a user id`
        : signal.aborted
          ? `no answer within the ${formatDuration(CHECK_TIMEOUT)} that the whole check may take`
          : answer.detail;
    steps.push({ step: `cohort ${cohort}`, ok: answer.kind === 'page', detail });
  }
  return steps;
}
