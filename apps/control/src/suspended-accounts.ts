import { accountName } from '@carillon/domain/deliveries';
import { formatInstant } from '@carillon/kernel';
import type { Check } from './ports.ts';
import type { ProviderCall } from './provider-calls.ts';

/**
 * Returns a failed check for each account whose latest answer refused the account itself. No delivery waits for such an account
 * if another account sends instead, so no other check finds it. `named`: accounts that another check has reported.
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
