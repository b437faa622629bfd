import type { ChannelName } from '@carillon/domain/channels';
import { findRule, readRuleTitle } from '@carillon/domain/configuration';
import type { SourceEvent } from '@carillon/domain/events';
import type { DeliveryId } from '@carillon/kernel';
import type { Account } from './account.ts';
import { stoppedAt, type DraftFinding, type DraftOutcome, type Drafts } from './draft-findings.ts';
import { problemOf } from './row-gates.ts';

/** An account of the published rules, with channel and slot of its message. Both are null without a message. */
export type FoundAccount = {
  readonly account: Account;
  readonly channel: ChannelName | null;
  readonly slot: DeliveryId | null;
};

export type DraftJoin = {
  readonly event: SourceEvent;
  readonly workspace: string;
  readonly drafts: Drafts;
  /** True if the event contains the searched name. Otherwise only messages are listed. */
  readonly isAboutEvent: boolean;
  /** Returns the account of a message that only the drafts want. */
  readonly accountOf: (rule: string) => Account;
};

/**
 * Adds to each account the outcome of its message with the drafts: by slot, else by rule and channel, else by rule.
 * Findings without an account get one of their own.
 */
export function joinDrafts(
  found: readonly FoundAccount[],
  findings: readonly DraftFinding[],
  join: DraftJoin,
): readonly Account[] {
  const left = new Set(findings);
  const take = (isMeant: (finding: DraftFinding) => boolean): DraftFinding | undefined => {
    const finding = [...left].find(isMeant);
    if (finding) left.delete(finding);
    return finding;
  };
  const taken = new Map<FoundAccount, DraftOutcome>();
  const passes: readonly ((found: FoundAccount, finding: DraftFinding) => boolean)[] = [
    ({ slot }, finding) => slot !== null && finding.slot === slot,
    ({ account, channel }, { rule, ...finding }) => rule === account.rule && finding.channel === channel,
    ({ account, channel }, { rule, ...finding }) =>
      rule === account.rule && (channel === null || finding.channel === null),
  ];
  for (const matches of passes) {
    for (const each of found) {
      const finding = taken.has(each) ? undefined : take((candidate) => matches(each, candidate));
      if (finding) taken.set(each, outcomeOf(finding));
    }
  }
  const accounts = found.map((each) => ({
    ...each.account,
    drafts: taken.get(each) ?? outcomeWithout(each, findings, join),
  }));
  const others = [...left].filter(({ result }) => join.isAboutEvent || result !== 'stopped');
  return [...accounts, ...others.map((finding) => ({ ...join.accountOf(finding.rule), drafts: outcomeOf(finding) }))];
}

const outcomeOf = ({ result, gate, text }: DraftFinding): DraftOutcome => ({ result, gate, text });

/** Returns why the drafts make no message for an account. */
function outcomeWithout(
  { account: { rule }, channel }: FoundAccount,
  findings: readonly DraftFinding[],
  { drafts, event, workspace }: DraftJoin,
): DraftOutcome {
  const title = readRuleTitle(rule);
  const problem = problemOf(title && findRule(drafts.configuration, workspace, title), event);
  if (problem !== null) return stoppedAt('rule', problem);
  const hasOther = channel !== null && findings.some((finding) => finding.rule === rule && finding.channel !== null);
  if (hasOther) return stoppedAt('address', `no message by ${channel} under this unique_id`);
  return stoppedAt('recipient', 'the rule does not name them');
}
