import type { Configuration, Resource } from '../configuration/configuration.ts';
import { deploymentRef, findResource, listResources } from '../configuration/configuration.ts';
import { isSandboxed } from '../configuration/environments.ts';
import { CHANNEL_NAMES, CHANNELS, type ChannelName } from '../channels/channel.ts';
import { channelOf, defaultAccountsOf, deploymentKey, ONLY_ACCOUNT } from '../channels/configured.ts';
import type { AccountBody } from '../configuration/resources.ts';

/** A provider account that a notification may use. Its key is the same for all notifications. */
export type AccountChoice = {
  /**
   * Name of breakers, connections and attempts, such as `shop/backup`, `default`, `default:sms:main` or `sandbox:push`.
   */
  readonly key: string;
  /** Owning workspace. Empty for the deployment. */
  readonly workspace: string;
  /** Name in the owner's file. */
  readonly name: string;
  readonly body: AccountBody;
};

/** Returns the sandbox account of a channel, used if no provider is configured. Its messages go to the inbox page. */
export const sandboxOf = (channel: ChannelName): AccountChoice => ({
  key: deploymentKey('sandbox', channel),
  workspace: '',
  name: ONLY_ACCOUNT,
  body: { kind: 'sandbox' },
});

/**
 * Returns the accounts of a channel in order of priority: the sandbox for a restricted test environment, else the
 * notification's accounts, else the deployment's, else the sandbox. Empty only if none of the named accounts exists for
 * this channel.
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
  // The kind of an account may have changed to one that cannot carry the channel.
  return all.filter(({ body }) => CHANNELS[channel].accounts.includes(body.kind));
}

/** Returns the workspace's account of this name, or undefined. */
export function ownAccount(configuration: Configuration, workspace: string, name: string): AccountChoice | undefined {
  const found = findResource(configuration, 'account', workspace, name);
  return found && { key: `${workspace}/${name}`, workspace, name, body: found.body };
}

/** Returns the workspace in an account key, or null for the deployment's accounts. */
export const ownerOfAccount = (key: string): string | null => /^([^/:]+)\//.exec(key)?.[1] ?? null;

/** Returns the name of an account within its workspace. Accounts of the deployment are named by their key. */
export function accountName(key: string): string {
  const owner = ownerOfAccount(key);
  return owner === null ? key : key.slice(owner.length + 1);
}

/** Returns the deployment's accounts of a channel, used by workspaces without their own. */
export function deploymentAccounts(configuration: Configuration, channel: ChannelName): readonly AccountChoice[] {
  const deployment = findResource(configuration, 'deployment', deploymentRef.workspace, deploymentRef.name);
  const found = deployment ? defaultAccountsOf(deployment.body, channel) : [];
  if (found.length === 0) return [sandboxOf(channel)];
  return found.map(({ name, body }) => ({ key: deploymentKey('default', channel, name), workspace: '', name, body }));
}

/** Returns all accounts of the deployment. */
export const allDeploymentAccounts = (configuration: Configuration): readonly AccountChoice[] =>
  CHANNEL_NAMES.flatMap((channel) => deploymentAccounts(configuration, channel));

/** Returns the account with this key or this name in the workspace, or undefined. */
export function accountCalled(
  configuration: Configuration,
  workspace: string,
  name: string,
): AccountChoice | undefined {
  // Without a configured account, `default` names the sandbox.
  const called = (choice: AccountChoice): boolean =>
    choice.key === name || choice.key.replace(/^sandbox/, 'default') === name;
  const own = name.startsWith(`${workspace}/`) ? name.slice(workspace.length + 1) : name;
  return allDeploymentAccounts(configuration).find(called) ?? ownAccount(configuration, workspace, own);
}

/** Stands for the deployment in URLs in place of a workspace. */
export const DEPLOYMENT_PATH = '-';

/**
 * Returns the callback URL of an account's reports: `<public>/receipts/<kind>/<workspace>/<account>/<token>`. Null
 * without a public URL.
 */
export const reportAddress = (
  publicUrl: string | null,
  { body, workspace, name }: AccountChoice,
  token: string,
): string | null =>
  publicUrl &&
  [publicUrl, 'receipts', body.kind, workspace === '' ? DEPLOYMENT_PATH : workspace, name, token].join('/');

/** A workspace that sends through an account, with the channel. */
export type SenderOver = { readonly workspace: string; readonly channel: ChannelName };

/**
 * Returns the workspaces that send through an account: its owner, or for the deployment's accounts every workspace with
 * a notification that uses it. A STOP to the account's number applies to all of them.
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
