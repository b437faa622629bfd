import type { Duration } from '@carillon/kernel';
import { DEFAULTS } from '@carillon/shapes/values';
import { findResource, type Configuration } from '../configuration/configuration.ts';
import type { CohortIntegration, PostHogIntegration, WebhookIntegration } from '../configuration/resources.ts';
import { writtenDuration } from '../configuration/written-duration.ts';

/** The integration of this name, if it is one that has cohorts. */
export function findCohortIntegration(
  configuration: Configuration,
  workspace: string,
  name: string,
): CohortIntegration | undefined {
  const body = findResource(configuration, 'integration', workspace, name)?.body;
  return body === undefined || body.kind === 'lookup' ? undefined : body;
}

/** Field of a member that holds its user id; undefined: the platform's own. */
export const userIdField = (integration: CohortIntegration): string | undefined =>
  integration.kind === 'generic' ? undefined : integration.user_id;

/** How long the first messages of a cohort count as its first sync, where its exports name no pages. */
export const firstSyncOf = (integration: WebhookIntegration): Duration =>
  writtenDuration(
    integration.kind === 'mixpanel' ? undefined : integration.first_sync_lasts,
    DEFAULTS.webhook.first_sync_lasts,
  );

/** Whether lists of calls are taken, of which Segment signs the first one alone. */
export const takesBatches = ({ batches }: Extract<WebhookIntegration, { kind: 'segment' }>): boolean =>
  batches ?? DEFAULTS.segment.batches;

/** How often PostHog is asked for a cohort. */
export const pollEvery = ({ every }: PostHogIntegration): Duration => writtenDuration(every, DEFAULTS.posthog.every);
