import {
  findResource,
  hasOwnStream,
  type IntegrationBody,
  type NotificationBody,
  type Security,
  type StreamBody,
} from '@carillon/domain';
import type { Configuration, ResourceKind } from '@carillon/domain';
import { whereOf } from './check-expressions.ts';
import { checkIntegration, checkIntegrationsOf } from './check-integrations.ts';
import type { DesiredResource } from './desired.ts';
import { fileOf } from './layout.ts';
import type { FileFault, FileWarning, ValuePath } from './place.ts';
import { similarTo } from './similar.ts';
import type { YamlSource } from './yaml-source.ts';

/** What a resource may refer to: the folder, files with mistakes in them included, and what was there before. */
export type Surroundings = {
  readonly current: Configuration;
  /** Names in the folder by kind and workspace. */
  names(kind: ResourceKind, workspace: string): readonly string[];
  /** What an integration is, as the folder or else the configuration has it. */
  integration(workspace: string, name: string): IntegrationBody | undefined;
};
type Report = { readonly faults: FileFault[]; readonly warnings: FileWarning[] };

/** Checks that what a resource names is there, and that its streams are secured in the right place. */
export function checkReferences(
  resource: DesiredResource,
  source: YamlSource,
  around: Surroundings,
  report: Report,
): void {
  const { kind, workspace } = resource.ref;
  if (kind === 'integration') checkIntegration(resource.body as IntegrationBody, source, report);
  if (kind === 'stream') checkKeys((resource.body as StreamBody).security, workspace, source, around, report);
  if (kind !== 'notification') return;
  const body = resource.body as NotificationBody;
  const { email } = body.channels;
  const refer = (path: ValuePath, of: keyof typeof FILE_KINDS, name: string): void =>
    checkName(path, of, workspace, name, source, around, report);
  if (email) {
    refer(['channels', 'email', 'template'], 'template', email.template);
    for (const [index, name] of (email.accounts ?? []).entries()) {
      refer(['channels', 'email', 'accounts', index], 'account', name);
    }
  } else {
    report.faults.push({
      ...whereOf(source, ['channels'], 'key'),
      message: 'the notification has no channel',
      expected: 'email: { template: … }',
      fix: 'add email with the name of a template',
    });
  }
  for (const [name, rule] of Object.entries(body.rules)) {
    if (rule.stream !== undefined) refer(['rules', name, 'stream'], 'stream', rule.stream);
    if (rule.recipients.from === 'lookup')
      refer(['rules', name, 'recipients', 'integration'], 'integration', rule.recipients.integration);
    if (rule.cohort) refer(['rules', name, 'cohort', 'integration'], 'integration', rule.cohort.integration);
    checkIntegrationsOf(name, rule, source, (integration) => around.integration(workspace, integration), report);
  }
  checkRules(body, workspace, source, report);
  checkSecurity(body, workspace, source, around, report);
}

const FILE_KINDS = {
  template: 'email-template',
  stream: 'stream',
  account: 'account',
  integration: 'integration',
} as const;

function checkName(
  path: ValuePath,
  kind: keyof typeof FILE_KINDS,
  workspace: string,
  name: string,
  source: YamlSource,
  around: Surroundings,
  report: Report,
): void {
  const known = around.names(kind, workspace);
  if (known.includes(name) || findResource(around.current, kind, workspace, name)) return;
  const meant = similarTo(name, known);
  report.faults.push({
    ...whereOf(source, path),
    message: `there is no ${kind} ${name}`,
    expected: known.length === 0 ? `the name of a ${kind}` : known.join(' or '),
    fix: meant === null ? `write ${fileOf(FILE_KINDS[kind], workspace, name)}` : `did you mean ${meant}?`,
  });
}

function checkRules(body: NotificationBody, workspace: string, source: YamlSource, report: Report): void {
  for (const [name, rule] of Object.entries(body.rules)) {
    const at = ['rules', name] as const;
    const { recipients } = rule;
    const addresses = recipients.from === 'event' ? Object.keys(recipients.to) : null;
    if (addresses?.length === 0) {
      report.faults.push({
        ...whereOf(source, [...at, 'recipients', 'to'], 'key'),
        message: 'there is no address',
        expected: 'email: an expression',
        fix: 'write for instance to: { email: event.customer.email }',
      });
    } else if (body.channels.email && recipients.from === 'event' && recipients.to.email === undefined) {
      report.warnings.push({
        ...whereOf(source, [...at, 'recipients', 'to'], 'key'),
        message:
          'the notification sends email and this rule names no email address, so nothing will be sent (no_address)',
        fix: 'add email: an expression',
      });
    }
    if (rule.path === undefined) continue;
    if (rule.stream !== undefined) {
      report.faults.push({
        ...whereOf(source, [...at, 'path'], 'key'),
        message: 'a rule on a shared stream has no path of its own',
        expected: 'stream or path',
        fix: 'remove path',
      });
    } else if (!rule.path.startsWith(`${workspace}/`)) {
      report.faults.push({
        ...whereOf(source, [...at, 'path']),
        message: `the path is not in this workspace`,
        expected: `${workspace}/<notification>.<rule>`,
        fix: 'write the path that export wrote, or remove it',
      });
    }
  }
}

/** A stream of its own is secured by its notification, a shared one by its own file; never both (interfaces section 1). */
function checkSecurity(
  body: NotificationBody,
  workspace: string,
  source: YamlSource,
  around: Surroundings,
  report: Report,
): void {
  const rules = Object.values(body.rules);
  const shared = rules.flatMap(({ stream }) => (stream === undefined ? [] : [stream]));
  const files = [...new Set(shared)].map((name) => fileOf('stream', workspace, name));
  if (rules.length > 0 && !rules.some(hasOwnStream)) {
    if (body.security === undefined) return;
    if (files.length === 0) {
      report.faults.push({
        ...whereOf(source, ['security'], 'key'),
        message: 'cohorts start all rules, and nobody sends events to those',
        expected: 'no security',
        fix: 'remove it',
      });
      return;
    }
    report.faults.push({
      ...whereOf(source, ['security'], 'key'),
      message: 'all rules use shared streams, which carry their own security',
      expected: `security in ${files.join(', ')}`,
      fix: `remove it here and write it into ${files.join(', ')}`,
    });
    return;
  }
  if (body.security) return checkKeys(body.security, workspace, source, around, report);
  if (rules.length === 0) return;
  report.faults.push({
    ...whereOf(source, ['security'], 'key'),
    message:
      'security is missing: a rule without stream has a stream of its own, and somebody has to be allowed to send there',
    expected: 'security: { api_keys: [name] }',
    fix: 'add it, or name a shared stream in each rule',
  });
}

function checkKeys(
  security: Security,
  workspace: string,
  source: YamlSource,
  around: Surroundings,
  report: Report,
): void {
  for (const [index, name] of security.api_keys.entries()) {
    if (findResource(around.current, 'api_key', workspace, name)) continue;
    report.warnings.push({
      ...whereOf(source, ['security', 'api_keys', index]),
      message: `there is no API key ${name} yet, so nobody can send with it`,
      fix: `run: npx carillon api-key create ${name} --workspace ${workspace}`,
    });
  }
}
