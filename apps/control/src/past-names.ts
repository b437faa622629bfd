import { readRuleTitle, type Resource } from '@carillon/domain/configuration';
import type { FollowedConfiguration } from '@carillon/stages';

/**
 * Returns true if a notification or rule (`notification.rule`) exists or existed in one of these workspaces, because
 * people may ask about removed or renamed ones. Reads only the states of this name, in memory.
 */
export function wasThere(
  name: string,
  workspaces: readonly string[],
  { history }: Pick<FollowedConfiguration, 'history'>,
): boolean {
  const rule = readRuleTitle(name);
  const notification = rule?.notification ?? name;
  return workspaces.some((workspace) =>
    history.statesOf({ kind: 'notification', workspace, name: notification }).some(({ resource }) => {
      if (resource?.ref.kind !== 'notification') return false;
      return rule === undefined || Object.hasOwn((resource as Resource<'notification'>).body.rules, rule.rule);
    }),
  );
}
