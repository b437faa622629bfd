import { CHANNEL_NAMES, CHANNELS, channelsOf, type ChannelName } from '@carillon/domain/channels';
import type { AccountBody } from '@carillon/domain/configuration';
import { providerOf } from '@carillon/shapes/providers';
import { isKind, type WantedResource } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import { reportFindings, type Report } from './finding.ts';
import type { Check } from './check-context.ts';

/** Provider accounts: those of workspaces, and those that the deployment has for all. */
export const checkAccounts: Check = (resource, around, report) => {
  if (isKind(resource, 'account')) checkAccount(resource.body, [], report);
  if (isKind(resource, 'notification')) {
    for (const [channel, { accounts }] of channelsOf(resource.body)) {
      for (const [index, name] of (accounts ?? []).entries()) {
        const body = around.account(resource.ref.workspace, name);
        if (!body || carries(body.kind, channel)) continue;
        report.fault(['channels', channel, 'accounts', index], {
          code: 'account_other_channel',
          facts: { account: name, channel, known: CHANNELS[channel].accounts.join(' or ') },
        });
      }
    }
  }
  if (!isKind(resource, 'deployment')) return;
  for (const channel of CHANNEL_NAMES) {
    const found = resource.body.accounts?.[channel];
    if (found === undefined) continue;
    const named: readonly (readonly [ValuePath, AccountBody, string | null])[] =
      'kind' in found
        ? [[['accounts', channel], found, null]]
        : found.map((account, index) => [['accounts', channel, index], account, account.name]);
    const seen = new Set<string>();
    for (const [at, account, name] of named) {
      checkAccount(account, at, report);
      if (!carries(account.kind, channel)) {
        const known = CHANNELS[channel].accounts.join(' or ');
        const facts = { kind: account.kind, channel, known, channels: channelsFor(account.kind) };
        report.fault([...at, 'kind'], { code: 'account_channel_wrong', facts });
      }
      if (name === null) continue;
      if (seen.has(name)) report.fault([...at, 'name'], { code: 'account_name_taken', facts: { name, channel } });
      seen.add(name);
    }
  }
};

/** Checks notifications outside the folder that send over an account which changes to another channel. */
export function checkStayingNotifications(
  { ref, body }: WantedResource<'account'>,
  staying: readonly WantedResource<'notification'>[],
  report: Report,
): void {
  for (const notification of staying) {
    if (notification.ref.workspace !== ref.workspace) continue;
    for (const [channel, { accounts }] of channelsOf(notification.body)) {
      if (!accounts?.includes(ref.name) || carries(body.kind, channel)) continue;
      report.fault(['kind'], {
        code: 'breaks_notification',
        facts: { notification: notification.ref.name, channel, kind: 'account', name: ref.name },
      });
    }
  }
}

const carries = (kind: AccountBody['kind'], channel: ChannelName): boolean => CHANNELS[channel].accounts.includes(kind);

/** Returns the names of the channels that a kind of account carries. */
const channelsFor = (kind: AccountBody['kind']): string =>
  CHANNEL_NAMES.filter((channel) => carries(kind, channel)).join(' or ');

/** Checks a provider account for mistakes that its shape cannot express. `at`: path of the account in the body. */
function checkAccount(body: AccountBody, at: ValuePath, report: Report): void {
  if ('url' in body && body.url?.startsWith('http:')) {
    report.warn([...at, 'url'], { code: 'insecure_url', facts: {} });
  }
  reportFindings(providerOf(body).check?.(body) ?? [], at, report);
}
