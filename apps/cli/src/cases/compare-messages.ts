import type { RuleTestBody } from '@carillon/contracts';

/** Fields of a message by the names that cases use. */
export type MessageFields = Readonly<Record<string, string | null>>;

/** A message of a case, at the instant at which the rule decides it. */
export type TimedMessage = {
  readonly at: string;
  readonly fields: MessageFields;
  /** Why an actual message could not be rendered. It is like no expected message, so that its case fails. */
  readonly error?: string;
};

/** An expected message without its like, an actual one without its like, or both side by side. */
export type Difference = { readonly expected: TimedMessage | null; readonly actual: TimedMessage | null };

/** Address of a message by its channel. */
const ADDRESSES = { email: 'email', sms: 'phone', push: 'token' } as const;
const addressKeyOf = (channel: string): string => (ADDRESSES as Readonly<Record<string, string>>)[channel] ?? '';

/** Returns the messages that the events of a test would send. A message without an address, or with a slot that is taken, is none. */
export const messagesOf = ({ timeline }: Pick<RuleTestBody, 'timeline'>): readonly TimedMessage[] =>
  timeline.flatMap(({ at, recipients }) =>
    recipients.flatMap(({ to, unique_id, person, messages, notified_already: isRepeat }) =>
      messages.flatMap(({ error, channel, from, subject, text, html, push }): TimedMessage[] => {
        const address = addressKeyOf(channel);
        if (isRepeat || (to[address] ?? null) === null) return [];
        const parts = { from, subject, text, html, title: push?.title ?? null, body: push?.body ?? null };
        return [
          {
            at,
            fields: { channel, [address]: to[address] ?? null, person, unique_id, ...parts },
            ...(error !== null && { error }),
          },
        ];
      }),
    ),
  );

const isLike = (expected: TimedMessage, actual: TimedMessage): boolean =>
  actual.error === undefined && expected.at === actual.at && wrongFields(expected, actual).length === 0;

/** Names of the fields that an expected message names and in which the actual one is otherwise. */
export const wrongFields = ({ fields }: TimedMessage, actual: TimedMessage): readonly string[] =>
  Object.keys(fields).filter((name) => fields[name] !== (actual.fields[name] ?? null));

/** Compares the messages of a case. Each expected message takes one actual message of the same instant. Empty: the case passes. */
export function compareMessages(
  expected: readonly TimedMessage[],
  actual: readonly TimedMessage[],
): readonly Difference[] {
  const unlisted = [...actual];
  const take = (isIt: (message: TimedMessage) => boolean): TimedMessage | null => {
    const at = unlisted.findIndex(isIt);
    return at < 0 ? null : (unlisted.splice(at, 1)[0] ?? null);
  };
  const missing = expected.filter((message) => take((found) => isLike(message, found)) === null);
  const pairs = missing.map((message) => ({
    expected: message,
    // A message of the same instant makes the smallest difference to read.
    actual: take(({ at }) => at === message.at) ?? take(() => true),
  }));
  return [...pairs, ...unlisted.map((message) => ({ expected: null, actual: message }))];
}
