import type { FaultCode, FaultFacts } from '../configuration-faults.ts';

/** Names in a fault's text for its reader: keys and files, or labels and forms. */
export type FaultPlace = {
  /** The wrong field: its key in a file, its label in a form. */
  readonly label: string;
  readonly kind: string;
  readonly workspace: string;
  readonly name: string;
  /** Keys from the body to the value, as in `rules.paid.when`. Empty: the whole body. */
  readonly path: string;
  /** Marks a name that the user chose. */
  readonly quote: (name: string) => string;
  readonly kindName: (kind: string) => string;
  /** Names one channel, or several that are joined by commas. */
  readonly channelNames: (channels: string) => string;
  readonly partName: (kind: string, part: string) => string;
  /** Renders a remark of a compiler, which quotes code in backticks. */
  readonly remark: (text: string) => string;
  /** Path of the file of a resource in the workspace. `part`: a channel of a template, or a part of a layout. */
  readonly file: (kind: string, name: string, part?: string) => string;
};

/** The sentences of a fault, without capital letter and full stop. Form texts are whole sentences. */
export type FaultText = {
  readonly message: string;
  /** What a file should hold. */
  readonly expected: string;
  /** Instruction for a file. */
  readonly fix: string;
  /** Instruction for a form. Empty if the message is enough. */
  readonly formFix: string;
  /** Replaces the message in a form, which names fields by their labels. */
  readonly formMessage?: string;
};

export type FaultPhrase<Code extends FaultCode> = (facts: FaultFacts<Code>, place: FaultPlace) => FaultText;
export type FaultPhrases<Codes extends FaultCode> = { readonly [Code in Codes]: FaultPhrase<Code> };

export const meantOr = (meant: string, otherwise: string): string =>
  meant === '' ? otherwise : `did you mean ${meant}?`;
export const formMeantOr = (meant: string, otherwise: string): string =>
  meant === '' ? otherwise : `Did you mean “${meant}”?`;
export const orElse = (text: string, otherwise: string): string => (text === '' ? otherwise : text);
