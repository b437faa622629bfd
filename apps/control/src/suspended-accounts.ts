import { accountName } from '@carillon/domain';
import { formatInstant } from '@carillon/kernel';
import type { Check } from './ports.ts';
import type { ProviderCall } from './provider-calls.ts';

/**
 * Returns a failed check for each account whose newest answer refused the account itself although nothing waits for it: another
 * account sends meanwhile, so nobody would notice. `named`: accounts that another check speaks of already.
 */
export function suspendedAccounts(made: readonly ProviderCall[], named: ReadonlySet<string>): readonly Check[] {
  const calls = made.toSorted((one, other) => one.attempt.startedAt - other.attempt.startedAt);
  return [...Map.groupBy(calls, ({ attempt }) => attempt.account)].flatMap(([account, all]) => {
    const last = all.at(-1);
    if (!last || named.has(account) || !isRefused(last)) return [];
    const well = all.findLastIndex((one) => !isRefused(one));
    return [suspendedCheck(account, all[well + 1] ?? last, last)];
  });
}

const isRefused = ({ attempt }: ProviderCall): boolean => attempt.result?.verdict === 'refused_account';

function suspendedCheck(account: string, first: ProviderCall, { attempt, workspace, other }: ProviderCall): Check {
  const name = accountName(account);
  const meanwhile = other === undefined ? '' : `; ${other} sends meanwhile`;
  return {
    step: `account ${name}`,
    ok: false,
    detail:
      `refuses us since ${formatInstant(first.attempt.startedAt)} (${attempt.result?.detail ?? ''})${meanwhile}: ` +
      `npx carillon account check ${name} --workspace ${workspace}`,
  };
}
