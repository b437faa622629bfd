import type { Json } from '@carillon/kernel';
import type { FieldStep } from '../events/field-path.ts';

/** What a path in an expression begins with. */
export type FieldRoot = 'event' | 'item' | 'variables' | 'previous' | 'op' | 'source' | 'deadline' | 'totals';

/** A field that a requirement is about; a step that is null: some element of the list, or each. */
export type RequiredField = { readonly root: FieldRoot; readonly steps: readonly FieldStep[] };

/**
 * What a condition asks of single fields, so that values can be found that make it true. Only comparisons with literals
 * have a form here; whatever else stands in the condition is `unknown`, and nothing is promised for it.
 */
export type Requirement =
  | { readonly kind: 'all'; readonly of: readonly Requirement[] }
  | { readonly kind: 'any'; readonly of: readonly Requirement[] }
  | FieldRequirement
  | { readonly kind: 'unknown' };

/** `holds` false: the opposite is asked, of a field that is there. */
export type FieldRequirement = { readonly field: RequiredField } & (
  | { readonly kind: 'one_of'; readonly values: readonly Json[]; readonly holds: boolean }
  | { readonly kind: 'order'; readonly is: '<' | '<=' | '>' | '>='; readonly than: number | bigint | string }
  | {
      readonly kind: 'text';
      readonly is: 'startsWith' | 'endsWith' | 'contains';
      readonly text: string;
      readonly holds: boolean;
    }
  /** The field is a list, and the value is in it. */
  | { readonly kind: 'includes'; readonly value: Json; readonly holds: boolean }
  | { readonly kind: 'present'; readonly holds: boolean }
  /** The field is one of `previous`, and its value is not that of the same field of the event. */
  | { readonly kind: 'differs' }
);

export const allOf = (requirements: readonly Requirement[]): Requirement => ({ kind: 'all', of: requirements });

/** Returns the requirement with other fields in the place of its own. */
export function withFields(requirement: Requirement, other: (field: RequiredField) => RequiredField): Requirement {
  if (requirement.kind === 'unknown') return requirement;
  if (requirement.kind === 'all' || requirement.kind === 'any') {
    return { ...requirement, of: requirement.of.map((each) => withFields(each, other)) };
  }
  return { ...requirement, field: other(requirement.field) };
}
