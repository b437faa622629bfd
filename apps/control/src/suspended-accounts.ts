import type { Attempt, Delivery } from '@carillon/domain';
import { formatInstant, type Duration, type Instant } from '@carillon/kernel';
import type { DeliveryLedger } from '@carillon/ports';
import type { Check } from './ports.ts';

const HOUR: Duration = 3_600_000;

type Called = { readonly attempt: Attempt; readonly delivery: Delivery };

/**
 * Accounts whose newest answer was that they refuse us, where nothing waits for them: another account sends meanwhile, so
 * that nobody would miss the first. `named`: accounts that another line speaks of already.
 */
export async function suspendedAccounts(
  ledger: DeliveryLedger,
  now: Instant,
  lookedAt: number,
  named: ReadonlySet<string>,
): Promise<readonly Check[]> {
  const { items } = await ledger.list({ since: now - HOUR }, lookedAt);
  const calls = items
    .flatMap((delivery): readonly Called[] => delivery.attempts.map((attempt) => ({ attempt, delivery })))
    .filter(({ attempt }) => attempt.result !== null)
    .toSorted((one, other) => one.attempt.startedAt - other.attempt.startedAt);
  return [...Map.groupBy(calls, ({ attempt }) => attempt.account)].flatMap(([account, all]) => {
    const last = all.at(-1);
    if (!last || named.has(account) || !isRefused(last)) return [];
    const well = all.findLastIndex((one) => !isRefused(one));
    return [suspendedCheck(account, all[well + 1] ?? last, last)];
  });
}

const isRefused = ({ attempt }: Called): boolean => attempt.result?.verdict === 'refused_account';

function suspendedCheck(account: string, first: Called, { attempt, delivery }: Called): Check {
  const name = account.split('/').at(-1) ?? account;
  const other = delivery.attempts.findLast((one) => one.account !== account)?.account;
  const meanwhile = other === undefined ? '' : `; ${other} sends meanwhile`;
  return {
    step: `account ${name}`,
    ok: false,
    detail:
      `refuses us since ${formatInstant(first.attempt.startedAt)} (${attempt.result?.detail ?? ''})${meanwhile}: ` +
      `npx carillon account check ${name} --workspace ${delivery.slot.workspace}`,
  };
}
