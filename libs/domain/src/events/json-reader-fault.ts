import type { ErrorCode } from '@carillon/kernel';

/** The codes of the error table that reading a body can end in. */
export type JsonFaultCode = Extract<
  ErrorCode,
  | 'invalid_json'
  | 'not_an_object'
  | 'duplicate_key'
  | 'number_out_of_range'
  | 'too_deep'
  | 'too_many_keys'
  | 'forbidden_key'
>;

/** Why bytes are not an event, and where: line and column count from 1, the column in UTF-16 units. */
export type JsonFault = {
  readonly code: JsonFaultCode;
  /** Text of the mistake, and what to do. Quotes names of fields, never values. */
  readonly detail: string;
  /** RFC 6901 pointer to the value at fault; absent where there is none yet. */
  readonly pointer?: string;
  readonly line: number;
  readonly column: number;
};

/** Line and column of a place in a text. Counts as it goes: a hostile text can be all line breaks. */
export function placeOf(text: string, at: number): Pick<JsonFault, 'line' | 'column'> {
  let line = 1;
  let start = 0;
  for (let index = 0; index < at; index += 1) {
    if (text.charCodeAt(index) !== 0x0a) continue;
    line += 1;
    start = index + 1;
  }
  return { line, column: at - start + 1 };
}
