import type { SchemaIds } from '@carillon/contracts';

/** A registry that keeps its schemas in memory; the same text always has the same id. */
export function memoryRegistry(first = 1): SchemaIds & { readonly texts: string[] } {
  const texts: string[] = [];
  return {
    texts,
    async register(_subject, schema) {
      const known = texts.indexOf(schema);
      return first + (known >= 0 ? known : texts.push(schema) - 1);
    },
    async schema(id) {
      return texts[id - first] ?? null;
    },
  };
}
