import type { Schemas } from '../../api/client.ts';
import type { Tone } from '../../ui/state-words.ts';

export type SendingAccount = Schemas['SendingAccount'];
type Calls = SendingAccount['calls'];
type Failing = Schemas['Insights']['failing_accounts'][number];

const PARTS: readonly (readonly [key: keyof Calls, words: string])[] = [
  ['accepted', 'accepted'],
  ['refused', 'refused'],
  ['failed', 'failed and tried again'],
  ['unknown', 'without an answer'],
];

/** Returns the calls of an account by result, as text. `complete` is false if only the newest messages were counted. */
export function formatCallCounts(calls: Calls, kind: string | null, complete = true): string {
  const span = complete ? 'in the last hour' : 'in the last hour, of the newest messages';
  if (PARTS.every(([key]) => calls[key] === 0)) return `Nothing sent ${span}`;
  const named = PARTS.filter(([key]) => calls[key] > 0).map(
    ([key, words]) => `${calls[key].toLocaleString('en')} ${key === 'accepted' && kind === 'sandbox' ? 'kept' : words}`,
  );
  return `${named.join(', ')} ${span}`;
}

/** Returns where the messages of an account go. Checks the inbox first, because it does not send. */
export function describeDestination(
  { account, kind, owner }: Pick<SendingAccount, 'account' | 'kind' | 'owner'>,
  kindName: string,
): string {
  if (kind === 'sandbox' && owner === 'deployment') return 'Messages stay in the inbox';
  if (kind === null) return `Account ${account}, which was removed`;
  const name = owner === 'workspace' ? account.slice(account.indexOf('/') + 1) : account;
  return owner === 'workspace'
    ? `Notifications that name the account ${name} (${kindName})`
    : `Sent over the deployment’s account ${name} (${kindName})`;
}

/** Returns how an account does. `failing`: messages of the last hour that wait for the account, or failed by it. */
export function accountState(
  { kind, calls, refusals }: Pick<SendingAccount, 'kind' | 'calls' | 'refusals'>,
  failing: Pick<Failing, 'deliveries' | 'sentence'> | undefined,
): { readonly tone: Tone; readonly words: string } {
  if (failing) return { tone: 'bad', words: `Failing, ${failing.deliveries} in the last hour: ${failing.sentence}` };
  if (refusals.some(({ high }) => high)) return { tone: 'bad', words: 'Many messages are refused' };
  if (kind === 'sandbox') return { tone: 'none', words: 'Inbox' };
  if (calls.refused + calls.failed + calls.unknown > 0) return { tone: 'held', words: 'Some calls failed' };
  return calls.accepted > 0 ? { tone: 'good', words: 'Works' } : { tone: 'none', words: 'Not used' };
}

/** Returns the share of refused calls, such as "42 of 80 refused (53 %)". */
export const formatRefusalShare = ({ calls, refused }: { readonly calls: number; readonly refused: number }): string =>
  `${refused.toLocaleString('en')} of ${calls.toLocaleString('en')} refused (${Math.round((refused / calls) * 100)} %)`;
