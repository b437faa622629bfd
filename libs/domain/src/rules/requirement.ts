import type { Json } from '@carillon/kernel';
import type { FieldStep } from '../events/field-path.ts';

/** Root of a path in an expression. */
export type FieldRoot = 'event' | 'item' | 'variables' | 'previous' | 'op' | 'source' | 'deadline' | 'totals';

/** A field in a requirement. A null step means some or each element of a list. */
export type RequiredField = { readonly root: FieldRoot; readonly steps: readonly FieldStep[] };

/**
 * What a condition requires of single fields, used to find values that make it true. Only comparisons with literals
 * have a form here. All other parts of the condition are `unknown`.
 */
export type Requirement =
  | { readonly kind: 'all'; readonly of: readonly Requirement[] }
  | { readonly kind: 'any'; readonly of: readonly Requirement[] }
  | FieldRequirement
  | { readonly kind: 'unknown' };

/** `holds` is false if the field must exist and must not fulfil the comparison. */
export type FieldRequirement = { readonly field: RequiredField } & (
  | { readonly kind: 'one_of'; readonly values: readonly Json[]; readonly holds: boolean }
  | { readonly kind: 'order'; readonly is: '<' | '<=' | '>' | '>='; readonly than: number | bigint | string }
  | {
      readonly kind: 'text';
      readonly is: 'startsWith' | 'endsWith' | 'contains';
      readonly text: string;
      readonly holds: boolean;
    }
  /** The field is a list that contains the value. */
  | { readonly kind: 'includes'; readonly value: Json; readonly holds: boolean }
  | { readonly kind: 'present'; readonly holds: boolean }
  /** The field belongs to `previous`, and its value differs from the event's field of the same name. */
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
