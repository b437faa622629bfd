import type { Configuration, Resource } from '../configuration/configuration.ts';
import { deploymentRef, findResource } from '../configuration/configuration.ts';
import type { ChannelName } from '../channels/channel.ts';
import { channelOf, defaultAccountOf } from '../channels/configured.ts';
import type { AccountBody } from '../configuration/resources.ts';

/** A provider account that a notification may use, under a key that is the same wherever it is chosen. */
export type AccountChoice = {
  /** `shop/backup`, `default`, `sandbox`: names breakers, connections and attempts. */
  readonly key: string;
  readonly workspace: string;
  readonly body: AccountBody;
};

/** What stands in where nobody configured a provider: messages are kept for the inbox page. */
export const SANDBOX: AccountChoice = { key: 'sandbox', workspace: '', body: { kind: 'sandbox' } };

/**
 * The accounts of a channel in order of priority: those that the notification names, else the deployment's default, else
 * the sandbox. Empty only where it names accounts and none of them is there any more.
 */
export function accountsOf(
  configuration: Configuration,
  notification: Resource<'notification'>,
  channel: ChannelName,
): readonly AccountChoice[] {
  const { workspace } = notification.ref;
  const named = channelOf(notification.body, channel)?.accounts;
  if (named) {
    return named.flatMap((name) => {
      const found = findResource(configuration, 'account', workspace, name);
      return found ? [{ key: `${workspace}/${name}`, workspace, body: found.body }] : [];
    });
  }
  const deployment = findResource(configuration, 'deployment', deploymentRef.workspace, deploymentRef.name);
  const standard = deployment && defaultAccountOf(deployment.body, channel);
  return [standard ? { key: 'default', workspace: '', body: standard } : SANDBOX];
}
