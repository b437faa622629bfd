import type { ResourceRef } from '@carillon/domain/configuration';
import { codeAndFacts, type CodedFault } from '@carillon/kernel';
import type { Fault, Warning } from '../checks/finding.ts';
import { pathText } from '../value-path.ts';

/** Something about the body of a resource that may be meant, and surprises people often enough to be said. */
export type ResourceWarning = CodedFault & {
  readonly ref: ResourceRef;
  /** Path in the body, such as `rules.paid.when`. Empty for the whole body. */
  readonly path: string;
  /** Line and column, from 1, within the text at the path: of an expression or a part of a template. Null: all of the value. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
  /** What to do now. */
  readonly fix: string;
};

/** A mistake in the body of a resource, which keeps it from being published. */
export type ResourceFault = ResourceWarning & {
  /** General description of a correct value. */
  readonly expected: string;
};

export function resourceWarning(warning: Warning): ResourceWarning {
  const { ref, path, spot, message, fix } = warning;
  const { line, column } = typeof spot === 'object' ? spot : { line: null, column: null };
  return { ...codeAndFacts(warning), ref, path: pathText(path), line, column, message, fix };
}

export const resourceFault = (fault: Fault): ResourceFault => ({ ...resourceWarning(fault), expected: fault.expected });
