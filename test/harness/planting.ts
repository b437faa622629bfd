/** Exactly one place in one file, given from the root of the checkout, is another text. */
export type Change = { readonly file: string; readonly from: string; readonly to: string };

/** Throws where a change fits nowhere, or in two places: it would show nothing. */
export function planted(source: string, { file, from, to }: Change): string {
  const places = source.split(from).length - 1;
  if (places !== 1) throw new Error(`${file} has the text to be changed ${places} times: ${from}`);
  return source.replace(from, () => to);
}

/** The line by which a file says that it was changed. */
export const plantedLine = ({ file }: Change): string => `planted in ${file}`;

/** The environment in which tests are loaded with these changes: `plantedInTests` reads them. */
export const plantingInTests = (changes: readonly Change[]): Readonly<Record<string, string>> => ({
  CRASH_CHANGES: JSON.stringify(changes),
});

/** The environment in which the product is loaded with these changes. */
export const planting = (changes: readonly Change[]): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${new URL('./plant.ts', import.meta.url).href}`,
  ...plantingInTests(changes),
});
