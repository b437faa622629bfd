import type { Configuration, Resource } from '../configuration/configuration.ts';
import { deploymentRef, findResource, listResources } from '../configuration/configuration.ts';
import { isSandboxed } from '../configuration/environments.ts';
import { CHANNEL_NAMES, CHANNELS, type ChannelName } from '../channels/channel.ts';
import { channelOf, defaultAccountsOf, deploymentKey, ONLY_ACCOUNT } from '../channels/configured.ts';
import type { AccountBody } from '../configuration/resources.ts';

/** A provider account that a notification may use, under a key that is the same wherever it is chosen. */
export type AccountChoice = {
  /** `shop/backup`, `default`, `default:sms:main`, `sandbox:push`: names breakers, connections and attempts. */
  readonly key: string;
  /** Whose it is; empty: the deployment's. */
  readonly workspace: string;
  /** Its name in the file of its owner. */
  readonly name: string;
  readonly body: AccountBody;
};

/** What stands in where nobody configured a provider: messages are kept for the inbox page. */
export const sandboxOf = (channel: ChannelName): AccountChoice => ({
  key: deploymentKey('sandbox', channel),
  workspace: '',
  name: ONLY_ACCOUNT,
  body: { kind: 'sandbox' },
});

/**
 * The accounts of a channel in order of priority. Of a test environment that must not use any: the sandbox. Else those that the notification names, else the deployment's, else the
 * sandbox. Empty only where it names accounts and none of them is there any more, or none of this channel.
 */
export function accountsOf(
  configuration: Configuration,
  notification: Resource<'notification'>,
  channel: ChannelName,
): readonly AccountChoice[] {
  const { workspace } = notification.ref;
  if (isSandboxed(configuration, workspace)) return [sandboxOf(channel)];
  const named = channelOf(notification.body, channel)?.accounts;
  const all = named
    ? named.flatMap((name) => ownAccount(configuration, workspace, name) ?? [])
    : deploymentAccounts(configuration, channel);
  // An account whose kind was changed must not be handed what it cannot carry.
  return all.filter(({ body }) => CHANNELS[channel].accounts.includes(body.kind));
}

/** An account of a workspace's own; undefined where it has none of this name. */
export function ownAccount(configuration: Configuration, workspace: string, name: string): AccountChoice | undefined {
  const found = findResource(configuration, 'account', workspace, name);
  return found && { key: `${workspace}/${name}`, workspace, name, body: found.body };
}

/** Whose account a key names; null: the deployment's. */
export const ownerOfAccount = (key: string): string | null => /^([^/:]+)\//.exec(key)?.[1] ?? null;

/** What people of its workspace call an account; one of the deployment has its key for a name. */
export function accountName(key: string): string {
  const owner = ownerOfAccount(key);
  return owner === null ? key : key.slice(owner.length + 1);
}

/** What workspaces without an account of their own send over on a channel. */
export function deploymentAccounts(configuration: Configuration, channel: ChannelName): readonly AccountChoice[] {
  const deployment = findResource(configuration, 'deployment', deploymentRef.workspace, deploymentRef.name);
  const found = deployment ? defaultAccountsOf(deployment.body, channel) : [];
  if (found.length === 0) return [sandboxOf(channel)];
  return found.map(({ name, body }) => ({ key: deploymentKey('default', channel, name), workspace: '', name, body }));
}

/** Every account of the deployment, those of all channels. */
export const allDeploymentAccounts = (configuration: Configuration): readonly AccountChoice[] =>
  CHANNEL_NAMES.flatMap((channel) => deploymentAccounts(configuration, channel));

/** The account that people call by its key, or by its name within their workspace; undefined where there is none. */
export function accountCalled(
  configuration: Configuration,
  workspace: string,
  name: string,
): AccountChoice | undefined {
  // Where nobody configured an account, `default` is the sandbox that stands in for it.
  const called = (choice: AccountChoice): boolean =>
    choice.key === name || choice.key.replace(/^sandbox/, 'default') === name;
  const own = name.startsWith(`${workspace}/`) ? name.slice(workspace.length + 1) : name;
  return allDeploymentAccounts(configuration).find(called) ?? ownAccount(configuration, workspace, own);
}

/** In addresses it stands for the deployment, which is no workspace. */
export const DEPLOYMENT_PATH = '-';

/**
 * Where the provider of an account tells what becomes of a message: `<public>/receipts/<kind>/<workspace>/<account>/<token>`.
 * Null without a public address.
 */
export const reportAddress = (
  publicUrl: string | null,
  { body, workspace, name }: AccountChoice,
  token: string,
): string | null =>
  publicUrl &&
  [publicUrl, 'receipts', body.kind, workspace === '' ? DEPLOYMENT_PATH : workspace, name, token].join('/');

/** A workspace that sends over an account, and the channel on which it does. */
export type SenderOver = { readonly workspace: string; readonly channel: ChannelName };

/**
 * Who sends over an account, by its key: its owner; of the deployment's, every workspace with a notification that uses it. Who
 * asks a number of ours to stop means all of them.
 */
export function sendersOver(configuration: Configuration, key: string): readonly SenderOver[] {
  const own = listResources(configuration, 'account').find(({ ref }) => `${ref.workspace}/${ref.name}` === key);
  if (own) {
    const channel = CHANNEL_NAMES.find((name) => CHANNELS[name].accounts.includes(own.body.kind));
    return channel ? [{ workspace: own.ref.workspace, channel }] : [];
  }
  return CHANNEL_NAMES.flatMap((channel) => {
    const uses = (notification: Resource<'notification'>): boolean =>
      channelOf(notification.body, channel) !== undefined &&
      accountsOf(configuration, notification, channel).some((choice) => choice.key === key);
    const workspaces = listResources(configuration, 'notification')
      .filter(uses)
      .map(({ ref }) => ref.workspace);
    return [...new Set(workspaces)].map((workspace) => ({ workspace, channel }));
  });
}
