import type {
  AccountBody,
  DeploymentBody,
  IntegrationBody,
  JwtProviderBody,
  NotificationBody,
  StreamBody,
} from '@carillon/domain';
import { checkAccount, checkDeployment } from './accounts.ts';
import { whereOf } from './expressions.ts';
import { checkIntegration, checkIntegrationsOf } from './integrations.ts';
import { checkName, type NamedKind, type Report, type Surroundings } from './names.ts';
import { checkJwtProvider, checkNotificationSecurity, checkSecurity } from './security.ts';
import type { DesiredResource } from '../files/desired.ts';
import type { ValuePath } from '../files/place.ts';
import type { YamlSource } from '../files/yaml-source.ts';

/** Checks that what a resource names is there, and that its streams are secured in the right place. */
export function checkReferences(
  resource: DesiredResource,
  source: YamlSource,
  around: Surroundings,
  report: Report,
): void {
  const { kind, workspace } = resource.ref;
  if (kind === 'account') checkAccount(resource.body as AccountBody, [], source, report);
  if (kind === 'deployment') checkDeployment(resource.body as DeploymentBody, source, report);
  if (kind === 'integration') checkIntegration(resource.body as IntegrationBody, source, report);
  if (kind === 'jwt_provider') checkJwtProvider(resource.body as JwtProviderBody, source, report);
  if (kind === 'stream') checkSecurity((resource.body as StreamBody).security, workspace, source, around, report);
  if (kind !== 'notification') return;
  const body = resource.body as NotificationBody;
  const { email } = body.channels;
  const refer = (path: ValuePath, of: NamedKind, name: string): void =>
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
  checkNotificationSecurity(body, workspace, source, around, report);
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
