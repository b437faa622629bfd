/** A text as it is, and as encodings would carry it. */
export const formsOf = (text: string): readonly string[] => [
  text,
  encodeURIComponent(text),
  Buffer.from(text).toString('base64').replaceAll('=', ''),
  Buffer.from(text).toString('hex'),
];

type Named = Readonly<Record<string, string>>;

/** Where a place holds what no place may hold, in any form, with what surrounds it. */
export const leaksOf = (places: Named, canaries: Named): readonly string[] =>
  Object.entries(places).flatMap(([place, text]) =>
    Object.entries(canaries).flatMap(([name, value]) => {
      const form = formsOf(value).find((one) => text.includes(one));
      if (form === undefined) return [];
      const at = text.indexOf(form);
      return [`${name} in ${place}: …${text.slice(Math.max(0, at - 120), at + 60)}`];
    }),
  );

/** Spans as a text that can be searched. */
export const spansAsText = (spans: readonly unknown[]): string =>
  JSON.stringify(spans, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
