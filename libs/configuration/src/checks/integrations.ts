import { hasCohorts, type IntegrationBody, isPartner, isPolled, type RuleBody } from '@carillon/domain/configuration';
import type { CodedFault } from '@carillon/kernel';
import { integrationKindOf } from '@carillon/shapes/integrations';
import { isKind } from '../resource.ts';
import { reportFindings, type Report } from './finding.ts';
import type { Check } from './check-context.ts';

/** What the shape of an integration cannot say. */
export const checkIntegration: Check = (resource, _around, report) => {
  if (!isKind(resource, 'integration')) return;
  const { body } = resource;
  reportFindings(integrationKindOf(body).check?.(body) ?? [], [], report);
  if ('url' in body && typeof body.url === 'string') warnOfHttp(body.url, ['url'], 'partner', report);
  if ('registry' in body && body.registry) warnOfHttp(body.registry.url, ['registry', 'url'], 'registry', report);
};

function warnOfHttp(url: string, path: readonly string[], owner: 'partner' | 'registry', report: Report): void {
  if (!/^http:/i.test(url)) return;
  const what = owner === 'partner' ? 'key' : 'password';
  report.warn(path, {
    code: 'insecure_url',
    facts: {},
    message: `the ${what} goes over http in the clear, and only to addresses that the deployment lists`,
    fix: `write https: unless the ${owner} stands in your own network (CARILLON_ALLOWED_PRIVATE_ADDRESSES)`,
  });
}

type FindIntegration = (name: string) => IntegrationBody | undefined;
type Key = readonly (string | number)[];
type Words = { readonly message: string; readonly expected: string; readonly fix: string };

const EXPRESSION = 'an expression (CEL)';
const MISSING = { code: 'missing', facts: { expected: EXPRESSION } } as const;

/** That a rule names integrations of the right kind, and that one of a cohort says nothing that the cohort says. */
export function checkIntegrationsOf(name: string, rule: RuleBody, find: FindIntegration, report: Report): void {
  const refuse = (coded: CodedFault, path: Key, at: 'key' | 'value', words: Words): void => {
    report.fault(['rules', name, ...path], { ...coded, ...words }, at);
  };
  const { recipients, cohort } = rule;
  if (recipients.from === 'lookup') {
    const partner = find(recipients.integration);
    if (partner && !isPartner(partner)) {
      const message = `${recipients.integration} is of kind ${partner.kind} and names no recipients`;
      const fix = 'name the partner that knows addresses; the cohort goes under cohort';
      const coded = { code: 'integration_without_recipients', facts: { integration: recipients.integration } } as const;
      const expected = 'an integration of kind lookup';
      refuse(coded, ['recipients', 'integration'], 'value', { message, expected, fix });
    }
    if (!cohort && recipients.user_ids === undefined) {
      const words = { message: 'user_ids is missing', expected: EXPRESSION, fix: 'add user_ids: …' };
      refuse(MISSING, ['recipients', 'user_ids'], 'key', words);
    }
  }
  if (!cohort) {
    const words = { message: 'when is missing', expected: EXPRESSION, fix: 'add when: …' };
    if (rule.when === undefined) refuse(MISSING, ['when'], 'key', words);
    return;
  }
  const platform = find(cohort.integration);
  if (platform && !hasCohorts(platform)) {
    const message = `${cohort.integration} is of kind ${platform.kind} and has no cohorts`;
    const coded = { code: 'integration_without_cohorts', facts: { integration: cohort.integration } } as const;
    const words = { message, expected: 'an integration with cohorts', fix: 'name the analytics platform' };
    refuse(coded, ['cohort', 'integration'], 'value', words);
  }
  if (platform && isPolled(platform) && !platform.cohorts.includes(cohort.id)) {
    const message = `${cohort.integration} does not ask for cohort ${JSON.stringify(cohort.id)}`;
    const fix = `add it under cohorts in the file of ${cohort.integration}`;
    const facts = { integration: cohort.integration, cohort: cohort.id };
    const expected = platform.cohorts.join(' or ');
    refuse({ code: 'cohort_not_listed', facts }, ['cohort', 'id'], 'value', { message, expected, fix });
  }
  for (const key of ['stream', 'path'] as const) {
    if (rule[key] === undefined) continue;
    const message = `a cohort starts this rule, so it has no ${key}`;
    const words = { message, expected: `cohort or ${key}`, fix: `remove ${key} or cohort` };
    refuse({ code: 'cohort_and_stream', facts: {} }, [key], 'key', words);
  }
  if (recipients.from !== 'lookup') {
    const fix = 'write from: lookup with the partner as integration';
    const words = { message: 'a platform knows no addresses', expected: 'from: lookup', fix };
    refuse({ code: 'cohort_without_lookup', facts: {} }, ['recipients', 'from'], 'value', words);
  } else if (recipients.user_ids !== undefined) {
    const message = 'a rule of a cohort asks about the member';
    const words = { message, expected: 'no user_ids', fix: 'remove user_ids' };
    refuse({ code: 'cohort_with_user_ids', facts: {} }, ['recipients', 'user_ids'], 'key', words);
  }
}
