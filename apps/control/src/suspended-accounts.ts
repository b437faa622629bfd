import { accountName, type Attempt } from '@carillon/domain';
import { formatInstant, type Duration, type Instant } from '@carillon/kernel';
import type { DeliveryLedger } from '@carillon/ports';
import { pickDeliveries } from './newest-deliveries.ts';
import type { Check } from './ports.ts';

const HOUR: Duration = 3_600_000;

/** A call of an account; `other`: the account that was called last for the same delivery, where it is another one. */
type Called = { readonly attempt: Attempt; readonly workspace: string; readonly other: string | undefined };

/**
 * Accounts whose newest answer was that they refuse us, where nothing waits for them: another account sends meanwhile, so
 * that nobody would miss the first. `named`: accounts that another line speaks of already.
 */
export async function suspendedAccounts(
  ledger: DeliveryLedger,
  now: Instant,
  named: ReadonlySet<string>,
): Promise<readonly Check[]> {
  const { picked } = await pickDeliveries(ledger, { since: now - HOUR }, ({ attempts, slot }): readonly Called[] =>
    attempts
      .filter(({ result }) => result !== null)
      .map((attempt) => ({
        attempt,
        workspace: slot.workspace,
        other: attempts.findLast(({ account }) => account !== attempt.account)?.account,
      })),
  );
  const calls = picked.toSorted((one, other) => one.attempt.startedAt - other.attempt.startedAt);
  return [...Map.groupBy(calls, ({ attempt }) => attempt.account)].flatMap(([account, all]) => {
    const last = all.at(-1);
    if (!last || named.has(account) || !isRefused(last)) return [];
    const well = all.findLastIndex((one) => !isRefused(one));
    return [suspendedCheck(account, all[well + 1] ?? last, last)];
  });
}

const isRefused = ({ attempt }: Called): boolean => attempt.result?.verdict === 'refused_account';

function suspendedCheck(account: string, first: Called, { attempt, workspace, other }: Called): Check {
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
