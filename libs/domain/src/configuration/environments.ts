import type { WorkspaceBody } from '@carillon/shapes';
import { findResource, type Configuration } from './configuration.ts';

/** Keys of a workspace that say what it is for, and whom its messages may reach. Whoever changes them needs the permission `people`. */
export const ENVIRONMENT_KEYS = [
  'environment',
  'of',
  'allow_real_accounts',
] as const satisfies readonly (keyof WorkspaceBody)[];

/** Whether a workspace is there to try things in. */
export const isTest = (body: WorkspaceBody): boolean => body.environment === 'test';

/** Returns true if a workspace with these settings keeps all its messages in the sandbox. */
export const isSandboxedBy = (body: WorkspaceBody): boolean => isTest(body) && body.allow_real_accounts !== true;

/**
 * Returns true if all messages of a workspace go to the sandbox instead of an account, because it is a test environment
 * that may not reach real people.
 */
export function isSandboxed(configuration: Configuration, workspace: string): boolean {
  const body = findResource(configuration, 'workspace', workspace, '')?.body;
  return body !== undefined && isSandboxedBy(body);
}

/** Returns the text that explains a sandboxed workspace. Null if the workspace uses its accounts. */
export const sandboxedWords = (configuration: Configuration, workspace: string): string | null =>
  isSandboxed(configuration, workspace)
    ? `${workspace} is a test environment: its messages are kept in the sandbox, whatever accounts it has (allow_real_accounts in its workspace.yaml)`
    : null;
