import type { Difference, ResourceBodies, ResourceChange, ResourceRef } from '@carillon/domain/configuration';
import type { Fault, Warning } from '../checks/finding.ts';
import type { ExpressionCheck, TemplateCheck } from '../checks/check-context.ts';
import type { WantedResource, WrittenKind } from '../resource.ts';

export type PlannedAction =
  | 'create'
  | 'update'
  | 'delete'
  | 'unchanged'
  /** In the configuration and not wanted: listed, kept, and taken away only with `prune`. */
  | 'missing';

export type PlannedChange = {
  readonly action: PlannedAction;
  readonly ref: ResourceRef<WrittenKind>;
  readonly based_on: number | null;
  /** Body after the change, with ids and paths filled in. Null if the resource is removed. */
  readonly body: ResourceBodies[WrittenKind] | null;
  readonly differences: readonly Difference[];
  /** Facts that a person should know before confirming. */
  readonly notes: readonly string[];
  /** Former versions that a new notification may continue by taking over an id, so that nobody is notified twice. */
  readonly formers: readonly Former[];
};

/** A notification by its name, the name that people gave it, and the id of its history. */
export type Former = { readonly name: string; readonly title: string; readonly id: string };

export type Plan = {
  readonly changes: readonly PlannedChange[];
  readonly faults: readonly Fault[];
  readonly warnings: readonly Warning[];
  /** The changes of the record to publish; empty where nothing changes or something is wrong. */
  readonly record: readonly ResourceChange[];
};

export type PlanOptions = {
  /** Takes away what is not wanted. */
  readonly prune: boolean;
  /** Taken away, by `resourceKey`, whatever `prune` says. */
  readonly remove?: ReadonlySet<string>;
  /** Limits the plan to one workspace and leaves everything else unchanged. Undefined plans the whole deployment. */
  readonly workspace?: string | undefined;
  /** Makes ids for new notifications and rules. `names`: the workspace, the notification and, for a rule, the rule. */
  readonly newId: (kind: 'notification' | 'rule', ...names: readonly string[]) => string;
  /** Reads expressions of what is there already. */
  readonly language: ExpressionCheck;
  /** Reads templates of what is there already. */
  readonly templates: TemplateCheck;
};

/** What is wanted, by `resourceKey`. */
export type Wanted = ReadonlyMap<string, WantedResource>;
