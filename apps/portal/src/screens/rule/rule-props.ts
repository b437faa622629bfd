import type { NotificationDraft } from '../notifications/notification-frame.tsx';
import type { NotificationBody } from '../notifications/sentence.ts';
import type { SeenField } from './completion.ts';
import type { Entity } from './entity.ts';

export type Rule = NonNullable<NotificationBody['rules']>[string];
export type RuleProps = {
  readonly draft: NotificationDraft;
  readonly name: string;
  readonly rule: Rule;
  /** EVENT_PATH of its stream: shared, or its own; undefined of one that a cohort starts. */
  readonly stream: string | undefined;
  readonly change: (next: (before: Rule) => Rule) => void;
};

/** A card of a rule with keys that need several events of an entity. */
export type StateCardProps = RuleProps & {
  readonly entity: Entity;
  readonly fields: readonly SeenField[];
  /** Names that expressions of the rule see. */
  readonly roots: readonly string[];
};

/** The address of a rule's stream: that of the shared one, else its own. */
export const streamOf = (w: string, n: string, r: string, rule: Rule): string | undefined => {
  if (rule.cohort !== undefined) return undefined;
  return rule.stream === undefined ? (rule.path ?? `${w}/${n}.${r}`) : `${w}/${rule.stream}`;
};

/** An expression as text: a file may hold a plain number or true. */
export const textOf = (value: string | number | boolean | undefined): string =>
  value === undefined ? '' : String(value);

/** Returns true if the rule's stream exists: a shared one always, its own once the rule is published. */
export const isListening = ({ draft, name, rule }: Pick<RuleProps, 'draft' | 'name' | 'rule'>): boolean =>
  rule.stream !== undefined || Object.hasOwn(draft.resource?.body.rules ?? {}, name);

/** Which saving of the draft something is made from; null: what is published. */
export const savingOf = ({
  hasDraft,
  saving,
  draftRevision,
}: Pick<RuleProps['draft'], 'hasDraft' | 'saving' | 'draftRevision'>): string | null =>
  hasDraft ? (draftRevision ?? `unsaved ${saving}`) : null;
