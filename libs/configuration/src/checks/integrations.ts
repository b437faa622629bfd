import { hasCohorts, type IntegrationBody, isPartner, isPolled, type RuleBody } from '@carillon/domain/configuration';
import type { CodedFault } from '@carillon/kernel';
import { integrationKindOf } from '@carillon/shapes/integrations';
import { isKind } from '../resource.ts';
import { reportFindings, type Report } from './finding.ts';
import type { Check } from './check-context.ts';

/** Checks an integration for mistakes that its shape cannot express. */
export const checkIntegration: Check = (resource, _around, report) => {
  if (!isKind(resource, 'integration')) return;
  const { body } = resource;
  reportFindings(integrationKindOf(body).check?.(body) ?? [], [], report);
  if ('url' in body && typeof body.url === 'string') warnOfHttp(body.url, ['url'], report);
  if ('registry' in body && body.registry) warnOfHttp(body.registry.url, ['registry', 'url'], report);
};

function warnOfHttp(url: string, path: readonly string[], report: Report): void {
  if (/^http:/i.test(url)) report.warn(path, { code: 'insecure_url', facts: {} });
}

type FindIntegration = (name: string) => IntegrationBody | undefined;
type Key = readonly (string | number)[];

const MISSING = { code: 'missing', facts: { expected: 'an expression (CEL)' } } as const;

/**
 * Checks that a rule names integrations of the right kind, and that a rule of a cohort sets nothing that the cohort
 * decides.
 */
export function checkIntegrationsOf(name: string, rule: RuleBody, find: FindIntegration, report: Report): void {
  const refuse = (coded: CodedFault, path: Key, at: 'key' | 'value'): void =>
    report.fault(['rules', name, ...path], coded, at);
  const { recipients, cohort } = rule;
  if (recipients.from === 'lookup') {
    const partner = find(recipients.integration);
    if (partner && !isPartner(partner)) {
      const coded = { code: 'integration_without_recipients', facts: { integration: recipients.integration } } as const;
      refuse(coded, ['recipients', 'integration'], 'value');
    }
    if (!cohort && recipients.user_ids === undefined) {
      refuse(MISSING, ['recipients', 'user_ids'], 'key');
    }
  }
  if (!cohort) {
    if (rule.when === undefined) refuse(MISSING, ['when'], 'key');
    return;
  }
  const platform = find(cohort.integration);
  if (platform && !hasCohorts(platform)) {
    const coded = { code: 'integration_without_cohorts', facts: { integration: cohort.integration } } as const;
    refuse(coded, ['cohort', 'integration'], 'value');
  }
  if (platform && isPolled(platform) && !platform.cohorts.includes(cohort.id)) {
    const known = platform.cohorts.join(' or ');
    const facts = { integration: cohort.integration, cohort: cohort.id, known };
    refuse({ code: 'cohort_not_listed', facts }, ['cohort', 'id'], 'value');
  }
  for (const key of ['stream', 'path'] as const) {
    if (rule[key] !== undefined) refuse({ code: 'cohort_and_stream', facts: {} }, [key], 'key');
  }
  if (recipients.from !== 'lookup') {
    refuse({ code: 'cohort_without_lookup', facts: {} }, ['recipients', 'from'], 'value');
  } else if (recipients.user_ids !== undefined) {
    refuse({ code: 'cohort_with_user_ids', facts: {} }, ['recipients', 'user_ids'], 'key');
  }
}
