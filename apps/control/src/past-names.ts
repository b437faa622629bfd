import { findResource, readRuleTitle, type Configuration } from '@carillon/domain';
import type { ConfigurationView } from '@carillon/ports';

/**
 * Whether a notification, or a rule as people name it (`notification.rule`), stood in an earlier configuration of one of these
 * workspaces: whoever it told may still be asked about after it was taken away or renamed. What the log no longer holds is passed
 * over.
 */
export async function wasThere(
  name: string,
  workspaces: readonly string[],
  { current, at }: Pick<ConfigurationView, 'current' | 'at'>,
): Promise<boolean> {
  for (let number = current().number - 1; number >= 0; number -= 1) {
    const past = await at(number).catch(() => null);
    if (past && workspaces.some((workspace) => has(past, workspace, name))) return true;
  }
  return false;
}

function has(configuration: Configuration, workspace: string, name: string): boolean {
  const rule = readRuleTitle(name);
  const found = findResource(configuration, 'notification', workspace, rule?.notification ?? name);
  return found !== undefined && (rule === undefined || Object.hasOwn(found.body.rules, rule.rule));
}
