import type { Bodies } from '../../api/draft-calls.ts';
import { ACCOUNT_FORMS } from '../setup/kind-forms.generated.ts';
import type { NewKind } from '../setup/new-setup.tsx';
import type { Part } from '../setup/parts.ts';

type Body = Bodies['accounts'];
export type Channel = 'email' | 'sms' | 'push';

export type AccountKind = {
  readonly kind: Body['kind'];
  readonly title: string;
  readonly summary: string;
  readonly channels: readonly Channel[];
  /** Keys of a new account. */
  readonly initial: object;
  readonly parts: readonly Part[];
};

const ACCOUNT_KINDS: readonly AccountKind[] = ACCOUNT_FORMS;

/** The kinds to choose from for a new account. The draft reports what the body still lacks. */
export const NEW_ACCOUNTS: readonly NewKind<'accounts'>[] = ACCOUNT_KINDS.map(({ kind, title, summary, initial }) => ({
  id: kind,
  name: title,
  what: summary,
  body: { kind, ...initial } as Body,
}));

const kindNamed = (kind: unknown): AccountKind | undefined => ACCOUNT_KINDS.find((one) => one.kind === kind);

/** Returns the kind of an account's body, or null if the portal does not know it. */
export const accountKindOf = (body: unknown): AccountKind | null =>
  kindNamed((body as { kind?: unknown } | null)?.kind) ?? null;

/** Returns the title of a kind of account, or the kind itself if the portal does not know it. */
export const kindWords = (kind: string | null): string => (kind === null ? '' : (kindNamed(kind)?.title ?? kind));

/** Returns true if accounts of the kind carry the channel. Unknown kinds count as carrying any. */
export const carriesChannel = (kind: string, channel: Channel): boolean =>
  kindNamed(kind)?.channels.includes(channel) ?? true;

export const CHANNEL_WORDS: Readonly<Record<Channel, string>> = { email: 'Email', sms: 'SMS', push: 'Push' };
