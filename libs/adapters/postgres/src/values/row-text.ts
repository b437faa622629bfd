/** The part of the library's reader of bytes that is used here. */
type BinaryReader = {
  readInt16(): number;
  readUint8(): number;
  readInt32(): number;
  read(length: number): Buffer;
};

/** Text of each column by its name. Null is SQL's null; undefined means that the database did not send the value, or that it is too large. */
export type RowText = Readonly<Record<string, string | null | undefined>>;

const NULL = 0x6e;
const UNCHANGED = 0x75;
const TEXT = 0x74;

/**
 * Bytes of a value's text above which it is not decoded. Every value within the 64 KiB of a field is shorter; only a JSON
 * string with many escapes could be longer.
 */
export const MAX_TEXT_BYTES = 132 * 1024;

/**
 * Reads one row of pgoutput as text. It replaces `readTuple` of the library's parser, which turns values into JavaScript's types
 * (timestamps lose microseconds, large numbers digits) and drops a byte order mark at the start of a text. `old` fills in
 * large values that did not change.
 */
export function readRowText(
  reader: BinaryReader,
  { columns }: { readonly columns: readonly { readonly name: string }[] },
  old?: RowText,
): RowText {
  const row = Object.create(null) as Record<string, string | null | undefined>;
  const count = reader.readInt16();
  for (let index = 0; index < count; index += 1) {
    const name = columns[index]?.name ?? '';
    const kind = reader.readUint8();
    if (kind === NULL) row[name] = null;
    else if (kind === UNCHANGED) row[name] = old?.[name];
    else if (kind === TEXT) {
      const bytes = reader.read(reader.readInt32());
      row[name] = bytes.length > MAX_TEXT_BYTES ? undefined : bytes.toString('utf8');
    } else throw new Error(`unknown kind of value ${kind}`);
  }
  return row;
}
