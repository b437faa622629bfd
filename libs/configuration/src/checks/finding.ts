import type { ResourceRef } from '@carillon/domain/configuration';
import type { CodedFault } from '@carillon/kernel';
import type { BodyFinding } from '@carillon/shapes';
import type { ValuePath } from '../value-path.ts';
import { sentencesInFile } from './file-sentences.ts';

/** Line and column, from 1, within the text of a value: of an expression or a part of a template. */
export type TextPlace = { readonly line: number; readonly column: number };

/** Position that a mistake refers to: the key at a path, its value, or a character in the text of the value. */
export type Spot = 'key' | 'value' | TextPlace;

/** Something that may be meant, and surprises people often enough to be said. */
export type Warning = CodedFault & {
  readonly ref: ResourceRef;
  /** Where in the body. Empty: all of it. */
  readonly path: ValuePath;
  readonly spot: Spot;
  /** What is odd. */
  readonly message: string;
  /** What to do now. */
  readonly fix: string;
};

/** A mistake that keeps a configuration from being applied. */
export type Fault = Warning & {
  /** General description of a correct value. */
  readonly expected: string;
};

export type Findings = { readonly faults: readonly Fault[]; readonly warnings: readonly Warning[] };

/** Collects the findings of checks in one resource. Without a spot a finding refers to the value. */
export type Report = {
  fault(path: ValuePath, coded: CodedFault, spot?: Spot): void;
  warn(path: ValuePath, coded: CodedFault, spot?: Spot): void;
};

export const reportOn = (ref: ResourceRef, faults: Fault[], warnings: Warning[]): Report => ({
  fault: (path, coded, spot) => void faults.push(faultIn(ref, path, coded, spot)),
  warn: (path, coded, spot) => void warnings.push(warningIn(ref, path, coded, spot)),
});

/** Returns a fault with its sentences. */
export const faultIn = (ref: ResourceRef, path: ValuePath, coded: CodedFault, spot: Spot = 'value'): Fault => ({
  ref,
  path,
  spot,
  ...coded,
  ...sentencesInFile(coded, ref, path),
});

/** Returns a warning with its sentences. */
export function warningIn(ref: ResourceRef, path: ValuePath, coded: CodedFault, spot: Spot = 'value'): Warning {
  const { expected: _, ...warning } = faultIn(ref, path, coded, spot);
  return warning;
}

/** Reports what the kind of a body found in it. `at`: keys to the body. */
export function reportFindings(findings: readonly BodyFinding[], at: ValuePath, report: Report): void {
  for (const { path, spot, isWarning, ...coded } of findings) {
    if (isWarning === true) report.warn([...at, ...path], coded, spot);
    else report.fault([...at, ...path], coded, spot);
  }
}
