import { channelsOf } from '@carillon/domain/channels';
import {
  type DeploymentBody,
  type NotificationBody,
  resourceKey,
  type ResourceKind,
  type Security,
  type StreamBody,
} from '@carillon/domain/configuration';
import { putInsOf } from '@carillon/domain/templates';
import type { Coroutine } from '@carillon/kernel';
import { type Fault, type Findings, type Report, reportOn, type Warning } from '../checks/finding.ts';
import { eachOnce } from '../checks/check-resources.ts';
import { checkStayingNotifications } from '../checks/accounts.ts';
import { checkStayingCadence } from '../checks/cadence.ts';
import { checkLiveGone, checkStayingEnvironments } from '../checks/environments.ts';
import { checkStayingLimits } from '../checks/limits.ts';
import { checkStayingRecipients } from '../checks/open-recipients.ts';
import { checkStayingTemplates } from '../checks/references.ts';
import { checkRetention, checkStayingRetention } from '../checks/retention.ts';
import { checkRemembering, checkStayingLookBacks, countRemembering } from '../checks/rule-forms.ts';
import { checkStayingStreams } from '../checks/sources.ts';
import { isKind, type WantedResource } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import type { PlanOptions } from './planned.ts';
import { checkUnchangedIncludes, includesOf } from './includes.ts';

/** Result of a plan: all resources after the change, and the removed ones. */
type Outcome = {
  readonly staying: readonly WantedResource[];
  /** Unchanged resources outside the folder. */
  readonly unnamed: readonly WantedResource[];
  /** Settings of the deployment: those that stay, also if the plan is about one workspace only. */
  readonly deployment: DeploymentBody | undefined;
  /** By `resourceKey`. */
  readonly going: ReadonlySet<string>;
};

/**
 * Checks that need the whole plan: addresses used twice, references to removed resources, and effects on notifications
 * outside the folder. A stream in the folder may open their rules, an account may no longer carry their channel, a
 * template may lack their channel, or the workspace's quiet hours may leave them no time. Yields after each resource.
 */
export function* checkPlanCoroutine(
  { staying, unnamed, deployment, going }: Outcome,
  { language, templates }: Pick<PlanOptions, 'language' | 'templates'>,
): Coroutine<Findings> {
  const faults: Fault[] = [];
  const warnings: Warning[] = [];
  const beside = new Set(unnamed);
  checkUnchangedIncludes(staying, beside, templates, faults, warnings);
  const unnamedWorkspaces = unnamed.filter((item) => isKind(item, 'workspace'));
  const unnamedRules = unnamed.filter((item) => isKind(item, 'notification'));
  const notifications = staying.filter((item) => isKind(item, 'notification'));
  const isDeploymentNamed = staying.some((item) => isKind(item, 'deployment') && !beside.has(item));
  const unnamedStreams = unnamed.filter((item) => isKind(item, 'stream'));
  const paths = new Map<string, string>();
  const remembering = countRemembering(unnamedRules);
  for (const item of staying) {
    yield;
    const report = reportOn(item.ref, faults, warnings);
    if (isKind(item, 'stream')) {
      checkGone(item, streamNeeds(item.body), going, report);
      if (!beside.has(item)) checkStayingRecipients(item, unnamedRules, language, report);
      if (!beside.has(item)) checkStayingLookBacks(item, unnamedRules, report);
    }
    if (isKind(item, 'workspace')) checkLiveGone(item, going, report);
    if (isKind(item, 'workspace') && !beside.has(item)) {
      checkStayingCadence(item, unnamedRules, report);
      checkStayingLimits(item, unnamedRules, report);
      checkStayingEnvironments(item, unnamedWorkspaces, report);
    }
    if (isKind(item, 'account') && !beside.has(item)) checkStayingNotifications(item, unnamedRules, report);
    if (isKind(item, 'template') && !beside.has(item)) checkStayingTemplates(item, unnamedRules, report);
    if (isKind(item, 'integration') && !beside.has(item)) checkStayingStreams(item, unnamedStreams, report);
    // References of a template are read from its text, which is only needed if something is removed.
    if (isKind(item, 'template') && going.size > 0) checkGone(item, needsOfTemplate(item, staying), going, report);
    if (isKind(item, 'deployment') && isDeploymentNamed) checkRetention(item.body, notifications, report);
    if (!isKind(item, 'notification')) continue;
    if (deployment && !isDeploymentNamed && !beside.has(item)) checkStayingRetention(item, deployment, report);
    checkPaths(item, paths, report);
    if (!beside.has(item)) checkRemembering(item, remembering, report);
    checkGone(item, needsOf(item.body), going, report);
  }
  return { faults: eachOnce(faults), warnings: eachOnce(warnings) };
}

/** After a rename the old address stays with the renamed rule, so a new rule of the old name needs another. */
function checkPaths({ ref, body }: WantedResource<'notification'>, paths: Map<string, string>, report: Report): void {
  for (const [name, { path }] of Object.entries(body.rules)) {
    if (path === undefined) continue;
    const holder = paths.get(path);
    paths.set(path, `${ref.workspace}/${ref.name}.${name}`);
    if (holder === undefined) continue;
    report.fault(['rules', name], { code: 'path_taken', facts: { path, holder } });
  }
}

type Need = readonly [at: ValuePath, kind: ResourceKind, name: string];

const securityNeeds = (security: Security | undefined): readonly Need[] =>
  security?.jwt_provider === undefined ? [] : [[['security', 'jwt_provider'], 'jwt_provider', security.jwt_provider]];

export const streamNeeds = ({ security, from }: StreamBody): readonly Need[] => [
  ...securityNeeds(security),
  ...(from === undefined ? [] : [[['from', 'integration'], 'integration', from.integration] as const]),
];

export function needsOf(body: NotificationBody): readonly Need[] {
  const needs: Need[] = [...securityNeeds(body.security)];
  for (const [channel, { template, accounts = [] }] of channelsOf(body)) {
    needs.push([['channels', channel, 'template'], 'template', template]);
    for (const name of accounts) needs.push([['channels', channel, 'accounts'], 'account', name]);
  }
  for (const [name, rule] of Object.entries(body.rules)) {
    if (rule.stream !== undefined) needs.push([['rules', name, 'stream'], 'stream', rule.stream]);
    if (rule.recipients.from === 'lookup')
      needs.push([['rules', name, 'recipients', 'integration'], 'integration', rule.recipients.integration]);
    if (rule.cohort) needs.push([['rules', name, 'cohort', 'integration'], 'integration', rule.cohort.integration]);
  }
  return needs;
}

export function needsOfTemplate(
  template: WantedResource<'template'>,
  staying: readonly WantedResource[],
): readonly Need[] {
  const { layouts, partials } = putInsOf(template.body, includesOf(staying, template.ref.workspace));
  const [first] = Object.keys(template.body);
  const at = first === undefined ? [] : [first];
  return [
    ...layouts.map((name): Need => [[...at, 'layout'], 'layout', name]),
    ...partials.map((name): Need => [at, 'partial', name]),
  ];
}

function checkGone({ ref }: WantedResource, needs: readonly Need[], going: ReadonlySet<string>, report: Report): void {
  for (const [path, kind, name] of needs) {
    if (!going.has(resourceKey({ kind, workspace: ref.workspace, name }))) continue;
    report.fault(path, { code: 'still_needed', facts: { kind, name } });
  }
}
