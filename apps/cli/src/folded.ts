import { clean, paint } from './output.ts';

/** Lines and characters that are shown of a text; what is longer is folded. */
const SHOWN = { lines: 12, characters: 400 } as const;

/** The beginning of a long line; `--full` prints it whole. */
export const shortened = (line: string): string =>
  line.length > SHOWN.characters ? `${line.slice(0, SHOWN.characters)}… (--full)` : line;

/** The lines of a text, indented; of a long one its beginning, and how much there is more. */
export function folded(text: string, isFull: boolean): string[] {
  const lines = text.split('\n').map((line) => `  ${isFull ? clean(line) : shortened(clean(line))}`);
  const more = lines.length - SHOWN.lines;
  // A hint about one hidden line would take as much room as the line.
  if (isFull || more <= 1) return lines;
  return [...lines.slice(0, SHOWN.lines), paint('dim', `  … ${more} more lines: --full`)];
}
