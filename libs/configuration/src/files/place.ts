import type { CodedFault } from '@carillon/kernel';

/** Lines and columns begin at 1. */
export type Place = { readonly line: number; readonly column: number };

/** A mistake that keeps a folder from being applied. */
export type FileFault = Place & {
  readonly file: string;
  /** Where in the file, in words of its keys: `rules.paid.when`. Empty: the file as a whole. */
  readonly path: string;
  /** What is wrong. */
  readonly message: string;
  /** General description of a correct value. */
  readonly expected: string;
  /** What to do now. */
  readonly fix: string;
};

/** A mistake of shape, which may stand in a file or in a body of the API. */
export type ShapeFault = FileFault & CodedFault;

/** Something that may be meant, and surprises people often enough to be said. */
export type FileWarning = Place & {
  readonly file: string;
  readonly path: string;
  readonly message: string;
  readonly fix: string;
};

/** Order for people: file, then line, then column. */
export const inReadingOrder = <T extends Place & { readonly file: string }>(items: readonly T[]): readonly T[] =>
  items.toSorted((a, b) => (a.file === b.file ? a.line - b.line || a.column - b.column : a.file < b.file ? -1 : 1));

/** One line for a terminal. */
export const formatFault = (fault: FileFault): string =>
  `${fault.file}:${fault.line}:${fault.column}  ${fault.path === '' ? '' : `${fault.path}: `}${fault.message}; ` +
  `expected ${fault.expected}; ${fault.fix}`;
