import { durationOr, type Duration } from '@carillon/kernel';
import { findResource, type Configuration } from '../configuration/configuration.ts';
import type { CohortIntegration, PostHogIntegration, WebhookIntegration } from '../configuration/resources.ts';

const HOUR: Duration = 3_600_000;

/** The integration of this name, if it is one that has cohorts. */
export function findCohortIntegration(
  configuration: Configuration,
  workspace: string,
  name: string,
): CohortIntegration | undefined {
  const body = findResource(configuration, 'integration', workspace, name)?.body;
  return body === undefined || body.kind === 'lookup' ? undefined : body;
}

export const firstSyncOf = ({ first_sync_lasts: lasts }: WebhookIntegration): Duration => durationOr(lasts, HOUR);

/** How often PostHog is asked for a cohort. */
export const pollEvery = ({ every }: PostHogIntegration): Duration => durationOr(every, HOUR);
