import { CHANNEL_NAMES, type ChannelName, CHANNELS, channelsOf, templateOf } from '@carillon/domain/channels';
import { isSandboxedBy, type NotificationBody, type ResourceRef } from '@carillon/domain/configuration';
import { isKind, type WantedResource } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import { otherAddressKind } from './address-fields.ts';
import type { Report } from './finding.ts';
import { checkIntegrationsOf } from './integrations.ts';
import { checkName, type NamedKind } from './names.ts';
import { checkNotificationSecurity } from './security.ts';
import type { Check, CheckedAgainst } from './check-context.ts';

/** Checks that what a notification names is there, and that its streams are secured in the right place. */
export const checkReferences: Check = (resource, around, report) => {
  const { workspace } = resource.ref;
  if (!isKind(resource, 'notification')) return;
  const { body } = resource;
  const refer = (path: ValuePath, of: NamedKind, name: string): void =>
    checkName(path, { kind: of, workspace, name }, around, report);
  const channels = channelsOf(body);
  for (const [channel, { template, accounts = [] }] of channels) {
    refer(['channels', channel, 'template'], 'template', template);
    checkChannel(channel, template, workspace, around, report);
    for (const [index, name] of accounts.entries()) {
      checkAccountName(['channels', channel, 'accounts', index], name, resource.ref, around, report);
    }
  }
  if (channels.length === 0) {
    report.fault(['channels'], { code: 'channel_missing', facts: {} }, 'key');
  }
  for (const [name, rule] of Object.entries(body.rules)) {
    if (rule.stream !== undefined) refer(['rules', name, 'stream'], 'stream', rule.stream);
    if (rule.recipients.from === 'lookup')
      refer(['rules', name, 'recipients', 'integration'], 'integration', rule.recipients.integration);
    if (rule.cohort) refer(['rules', name, 'cohort', 'integration'], 'integration', rule.cohort.integration);
    checkIntegrationsOf(name, rule, (integration) => around.integration(workspace, integration), report);
  }
  checkRules(body, workspace, report);
  checkNotificationSecurity(body, workspace, around, report);
};

/** Accounts are not copied into a test environment, whose messages stay in the sandbox, so a missing account is only a warning there. */
function checkAccountName(
  path: ValuePath,
  name: string,
  { workspace }: ResourceRef,
  around: CheckedAgainst,
  report: Report,
): void {
  const settings = around.workspace(workspace);
  if (!settings || !isSandboxedBy(settings))
    return checkName(path, { kind: 'account', workspace, name }, around, report);
  if (around.names('account', workspace).includes(name) || around.account(workspace, name)) return;
  report.warn(path, { code: 'account_not_in_test', facts: { account: name } });
}

/** A template may be for other channels alone. */
function checkChannel(
  channel: ChannelName,
  template: string,
  workspace: string,
  around: CheckedAgainst,
  report: Report,
): void {
  const body = around.template(workspace, template);
  if (!body || templateOf(body, channel)) return;
  const known = around
    .names('template', workspace)
    .filter((name) => templateOf(around.template(workspace, name) ?? {}, channel));
  report.fault(['channels', channel, 'template'], {
    code: 'template_lacks_channel',
    facts: { template, channel, known: known.join(' or ') },
  });
}

/** Checks notifications outside the folder that send a channel which their template in the folder lacks. */
export function checkStayingTemplates(
  { ref, body }: WantedResource<'template'>,
  staying: readonly WantedResource<'notification'>[],
  report: Report,
): void {
  // The missing part is in no file, so the mistake is shown at a part that the template has.
  const [held] = CHANNEL_NAMES.filter((name) => templateOf(body, name));
  const at = held === undefined ? [] : [held, ...MAIN_PART[held]];
  for (const notification of staying) {
    if (notification.ref.workspace !== ref.workspace) continue;
    for (const [channel, { template }] of channelsOf(notification.body)) {
      if (template !== ref.name || templateOf(body, channel)) continue;
      report.fault(at, {
        code: 'breaks_notification',
        facts: { notification: notification.ref.name, channel, kind: 'template', name: ref.name },
      });
    }
  }
}

type Addresses = Extract<NotificationBody['rules'][string]['recipients'], { from: 'event' }>['to'];

/**
 * Path of the part that a channel's main template file holds. Empty if that file holds everything without a separate
 * file.
 */
const MAIN_PART: { readonly [Name in ChannelName]: ValuePath } = { email: [], sms: ['text'], push: [] };

function checkRules(body: NotificationBody, workspace: string, report: Report): void {
  for (const [name, rule] of Object.entries(body.rules)) {
    const at = ['rules', name] as const;
    const { recipients } = rule;
    const addresses = recipients.from === 'event' ? Object.keys(recipients.to) : null;
    if (addresses?.length === 0) {
      report.fault([...at, 'recipients', 'to'], { code: 'address_missing', facts: {} }, 'key');
    } else if (recipients.from === 'event') {
      for (const [channel] of channelsOf(body)) {
        checkAddress(channel, recipients.to, [...at, 'recipients', 'to'], report);
      }
    }
    if (rule.path === undefined) continue;
    if (rule.stream !== undefined) {
      report.fault([...at, 'path'], { code: 'path_and_stream', facts: {} }, 'key');
    } else if (!rule.path.startsWith(`${workspace}/`)) {
      report.fault([...at, 'path'], { code: 'path_elsewhere', facts: { workspace } });
    }
  }
}

/** Warns about a rule that names no address for a channel, or a field that has another kind of address by its name. */
function checkAddress(channel: ChannelName, to: Addresses, at: ValuePath, report: Report): void {
  const { kind, called } = CHANNELS[channel].address;
  const expression = to[kind];
  if (expression === undefined) {
    const facts = { channel, address: called, key: kind };
    report.warn(at, { code: 'address_missing_for_channel', facts }, 'key');
    return;
  }
  if (otherAddressKind(kind, expression) === null) return;
  report.warn([...at, kind], {
    code: 'address_other_kind',
    facts: { channel, address: called, field: expression.trim() },
  });
}
