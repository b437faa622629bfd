import type { CodedFault } from '@carillon/kernel';

/** A mistake in a body that its shape cannot express. */
export type BodyFinding = CodedFault & {
  /** Keys from the body to the value. */
  readonly path: readonly string[];
  /** Whether the key or its value is marked. Defaults to the value. */
  readonly spot?: 'key' | 'value';
  /** Warns only. Defaults to false. */
  readonly isWarning?: boolean;
};
