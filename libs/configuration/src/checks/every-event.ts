import {
  type Configuration,
  findResource,
  listResources,
  type ResourceRef,
  type RuleBody,
} from '@carillon/domain/configuration';
import { isKind } from '../resource.ts';
import type { Check } from './check-context.ts';

/** Warns about a rule that fires on every event, unless the rule did so before. Rules of cohorts and rules that choose changes do not. */
export const checkEveryEvent: Check = (resource, { current }, report) => {
  if (!isKind(resource, 'notification')) return;
  for (const [name, rule] of Object.entries(resource.body.rules)) {
    if (!firesAlways(rule)) continue;
    const before = ruleBefore(current, resource.ref, name, rule);
    if (before !== undefined && firesAlways(before) && before.stream === rule.stream) continue;
    report.warn(['rules', name, 'when'], {
      code: 'every_event',
      facts: { stream: rule.stream ?? '' },
    });
  }
};

const firesAlways = ({ when, cohort, changes }: RuleBody): boolean =>
  cohort === undefined && changes === undefined && when?.trim() === 'true';

/** Returns the published version of a rule, by id, or by name if the body has no id. */
function ruleBefore(current: Configuration, ref: ResourceRef, name: string, { id }: RuleBody): RuleBody | undefined {
  if (id === undefined) return findResource(current, 'notification', ref.workspace, ref.name)?.body.rules[name];
  return listResources(current, 'notification', ref.workspace)
    .flatMap(({ body }) => Object.values(body.rules))
    .find((rule) => rule.id === id);
}
