/** Text that is markup already. Everything else that stands in a page is escaped. */
export type Markup = { readonly markup: string };

type Part = string | number | Markup | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (found) => ENTITIES[found] ?? found);

function written(part: Part): string {
  if (typeof part === 'string') return escape(part);
  if (typeof part === 'number') return String(part);
  return 'markup' in part ? part.markup : part.map(written).join('');
}

/** Builds markup. Values are escaped unless they are markup themselves. Attributes must be in double quotes. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Markup => ({
  markup: texts.map((text, at) => text + (at < parts.length ? written(parts[at] ?? '') : '')).join(''),
});
