import type { DropReason } from '../rules/recipient.ts';
import type { DeliveryReason, DeliveryState } from './delivery.ts';

const STATES: Readonly<Record<DeliveryState, string>> = {
  WAITING: 'Waiting',
  COLLECTED: 'Collected',
  DIGESTED: 'Digested',
  SENDING: 'Sending',
  SUPPRESSED: 'Suppressed',
  SENT: 'Sent',
  FAILED: 'Failed',
  IN_DOUBT: 'In doubt',
  EXPIRED: 'Expired',
  CANCELLED: 'Cancelled',
  DELIVERED: 'Delivered',
  BOUNCED: 'Bounced',
  COMPLAINED: 'Complained',
};

/** `short` fits a list. It is null if the state says the same. `sentence` starts in lower case and has no full stop. */
type ReasonWords = { readonly short: string | null; readonly sentence: string };

/** The text of each reason, as API, commands and portal show it. */
const REASONS: Readonly<Record<DeliveryReason, ReasonWords>> = {
  new: { short: null, sentence: 'taken into custody' },
  rule_withdrawn: {
    short: 'rule withdrawn',
    sentence: 'the notification or rule was switched off or removed before it was sent',
  },
  no_address: { short: 'no address', sentence: 'the recipient has no address on this channel' },
  invalid_address: {
    short: 'invalid address',
    sentence: 'the address is not valid for this channel',
  },
  opted_out: { short: 'opted out', sentence: 'the person opted out of it' },
  suppressed_address: { short: 'suppressed address', sentence: 'the address is on the suppression list' },
  cannot_send_on_channel: {
    short: 'cannot send on channel',
    sentence: 'the notification no longer uses this channel',
  },
  not_after_passed: { short: 'too late', sentence: 'it was too late to be useful (expires)' },
  delayed: {
    short: 'delayed',
    sentence: 'the notification delays its messages; it is sent when the delay ends',
  },
  held_by_quiet_hours: {
    short: 'held by quiet hours',
    sentence: 'the recipient has quiet hours; it is sent when they end',
  },
  quiet_hours: { short: 'quiet hours', sentence: 'it fell into quiet hours and could not wait' },
  held_by_limit: {
    short: 'held by limit',
    sentence: 'the recipient has reached a limit; it is sent when the limit allows another message',
  },
  capped: { short: 'capped', sentence: 'the recipient has reached a limit' },
  collected: { short: null, sentence: 'it waits for a digest with others' },
  digested: { short: null, sentence: 'it is sent in a digest' },
  cannot_render: { short: 'cannot render', sentence: 'the template could not be rendered' },
  no_account: { short: 'no account', sentence: 'the notification names no provider account that exists' },
  refused_recipient: { short: 'recipient refused', sentence: 'the provider refuses this recipient for good' },
  refused_content: { short: 'content refused', sentence: 'the provider refuses this message for good' },
  refused_account: {
    short: 'account refused',
    sentence: 'the provider refuses our account; it is tried again every minute',
  },
  throttled: { short: 'throttled', sentence: 'the provider asks to slow down; it will be tried again' },
  transient: { short: 'will be retried', sentence: 'definitely not accepted; it will be tried again' },
  attempts_used_up: { short: 'attempts used up', sentence: 'every attempt was used' },
  accepted: { short: null, sentence: 'accepted by the provider' },
  answer_unknown: {
    short: 'answer unknown',
    sentence: 'it is unknown whether the provider accepted it; it is not sent again automatically',
  },
  lease_ran_out: {
    short: 'lease ran out',
    sentence: 'the sending process stopped during the call; it is unknown whether the provider accepted it',
  },
  stopped_before_sending: {
    short: 'stopped before sending',
    sentence: 'the process stopped before it called the provider',
  },
  account_unavailable: { short: 'account unavailable', sentence: 'no provider account can take it now' },
  operator_resend: { short: 'resent by an operator', sentence: 'an operator sends it again' },
  operator_cancel: { short: 'cancelled by an operator', sentence: 'an operator cancelled it' },
  operator_dismiss: { short: 'dismissed by an operator', sentence: 'an operator ended the doubt' },
  in_doubt_resend: { short: 'resent after doubt', sentence: 'in doubt, and the notification is set to send again' },
  in_doubt_drop: { short: 'dropped after doubt', sentence: 'in doubt, and the notification is set to drop' },
  taken_over: { short: 'taken over', sentence: 'another intent took the slot over' },
  duplicate: { short: 'duplicate', sentence: 'the slot is taken: this notification was already sent' },
  delivered: { short: null, sentence: 'the provider reported that it arrived' },
  bounced: { short: null, sentence: 'the provider reported that it could not be delivered' },
  complained: { short: null, sentence: 'the reader reported it as spam' },
  evidence: { short: 'proved by a report', sentence: 'a report of the provider proves that it was accepted' },
};

/**
 * Short texts of codes that occur in stories but not in deliveries: reasons of drops and of rules that did not fire.
 */
const OTHERS: Readonly<Record<DropReason | 'no_channel' | 'disabled' | 'when_false' | 'other_change', string | null>> =
  {
    rule_error: 'rule error',
    where_false: 'where false',
    no_unique_id: 'no unique_id',
    too_many_recipients: 'too many recipients',
    too_large: 'too large',
    no_user_ids: 'no user ids',
    invalid_user_id: 'invalid user id',
    too_many_user_ids: 'too many user ids',
    too_complex: 'too complex',
    field_unknown: 'field not sent by the database',
    before_unknown: 'row before not sent by the database',
    no_channel: 'no channel',
    // The text of the step already contains the reason.
    disabled: null,
    when_false: null,
    other_change: null,
  };

export const DELIVERY_REASONS = Object.keys(REASONS) as readonly DeliveryReason[];

/** Returns what a reason means, as a sentence in lower case without its full stop. */
export const describeReason = (reason: DeliveryReason): string => REASONS[reason].sentence;

/** Returns true if a code of a story is a delivery reason. */
export const isDeliveryReason = (code: string): code is DeliveryReason => Object.hasOwn(REASONS, code);

const spaced = (code: string): string => code.replaceAll('_', ' ');
const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
const isState = (code: string): code is DeliveryState => Object.hasOwn(STATES, code);
const isOther = (code: string): code is keyof typeof OTHERS => Object.hasOwn(OTHERS, code);

/**
 * Returns the display text of a state. For other codes of a story, such as verdicts, replaces underscores with blanks.
 */
export const stateText = (state: string): string =>
  isState(state) ? STATES[state] : capital(spaced(state.toLowerCase()));

/** Returns a reason in a few words for lists. Null if it repeats the state or the text next to it. */
export function reasonText(reason: string): string | null {
  if (isDeliveryReason(reason)) return REASONS[reason].short;
  return isOther(reason) ? OTHERS[reason] : spaced(reason);
}
