import { readRuleTitle, type Resource } from '@carillon/domain/configuration';
import type { FollowedConfiguration } from '@carillon/stages';

/**
 * Whether a notification, or a rule as people name it (`notification.rule`), stands or stood in one of these workspaces: whoever it told
 * may still be asked about after it was taken away or renamed. Looks at the states of what has that name alone, in memory.
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
