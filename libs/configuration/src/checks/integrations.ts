import type { IntegrationBody, LookupIntegration, RuleBody } from '@carillon/domain';
import { isKind } from '../resource.ts';
import type { Report } from './finding.ts';
import type { Check } from './surroundings.ts';

/** What the shape of an integration cannot say. */
export const checkIntegration: Check = (resource, _around, report) => {
  if (!isKind(resource, 'integration')) return;
  const { body } = resource;
  if (body.kind === 'lookup') checkPartner(body, report);
  if ('url' in body && /^http:/i.test(body.url)) {
    report.warn(['url'], {
      message: 'the key goes over http in the clear, and only to addresses that the deployment lists',
      fix: 'write https: unless the partner stands in your own network (CARILLON_ALLOWED_PRIVATE_ADDRESSES)',
    });
  }
};

/** An integration attributes items to people in one way only. */
function checkPartner(body: LookupIntegration, report: Report): void {
  if (body.match !== undefined && body.in_order === true) {
    const fix = 'remove in_order if the items of the answer carry the user id, else match';
    const message = 'match and in_order are two ways to say which item is about whom';
    report.fault(['in_order'], { message, expected: 'match or in_order', fix }, 'key');
  }
  if (body.authorization.base64 === true && body.authorization.scheme !== 'Basic') {
    const fix = 'write scheme: Basic, or remove base64';
    const message = 'base64 is for scheme Basic';
    report.fault(['authorization', 'base64'], { message, expected: 'scheme: Basic', fix }, 'key');
  }
}

type FindIntegration = (name: string) => IntegrationBody | undefined;
type Key = readonly (string | number)[];

/** That a rule names integrations of the right kind, and that one of a cohort says nothing that the cohort says. */
export function checkIntegrationsOf(name: string, rule: RuleBody, find: FindIntegration, report: Report): void {
  const refuse = (path: Key, at: 'key' | 'value', message: string, expected: string, fix: string): void => {
    report.fault(['rules', name, ...path], { message, expected, fix }, at);
  };
  const { recipients, cohort } = rule;
  if (recipients.from === 'lookup') {
    const partner = find(recipients.integration);
    if (partner && partner.kind !== 'lookup') {
      const message = `${recipients.integration} is of kind ${partner.kind} and names no recipients`;
      const fix = 'name the partner that knows addresses; the cohort goes under cohort';
      refuse(['recipients', 'integration'], 'value', message, 'an integration of kind lookup', fix);
    }
    if (!cohort && recipients.user_ids === undefined) {
      refuse(['recipients', 'user_ids'], 'key', 'user_ids is missing', 'an expression (CEL)', 'add user_ids: …');
    }
  }
  if (!cohort) {
    if (rule.when === undefined) refuse(['when'], 'key', 'when is missing', 'an expression (CEL)', 'add when: …');
    return;
  }
  const platform = find(cohort.integration);
  if (platform?.kind === 'lookup') {
    const message = `${cohort.integration} is of kind lookup and has no cohorts`;
    refuse(['cohort', 'integration'], 'value', message, 'an integration with cohorts', 'name the analytics platform');
  }
  if (platform?.kind === 'posthog' && !platform.cohorts.includes(cohort.id)) {
    const message = `${cohort.integration} does not ask for cohort ${JSON.stringify(cohort.id)}`;
    const fix = `add it under cohorts in the file of ${cohort.integration}`;
    refuse(['cohort', 'id'], 'value', message, platform.cohorts.join(' or '), fix);
  }
  for (const key of ['stream', 'path'] as const) {
    if (rule[key] === undefined) continue;
    refuse(
      [key],
      'key',
      `a cohort starts this rule, so it has no ${key}`,
      `cohort or ${key}`,
      `remove ${key} or cohort`,
    );
  }
  if (recipients.from !== 'lookup') {
    const fix = 'write from: lookup with the partner as integration';
    refuse(['recipients', 'from'], 'value', 'a platform knows no addresses', 'from: lookup', fix);
  } else if (recipients.user_ids !== undefined) {
    const message = 'a rule of a cohort asks about the member';
    refuse(['recipients', 'user_ids'], 'key', message, 'no user_ids', 'remove user_ids');
  }
}
