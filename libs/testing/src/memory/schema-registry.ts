import type { SchemaRegistry } from '@carillon/ports';
import type { Wire } from './wire.ts';

/** Schemas, each under one number, however it is spaced. */
export function createMemoryRegistry() {
  const texts: string[] = [];

  function register(schema: string): number {
    const text = JSON.stringify(JSON.parse(schema));
    const known = texts.indexOf(text);
    return known >= 0 ? known + 1 : texts.push(text);
  }

  return {
    connect: (wire: Wire): SchemaRegistry => ({
      register: (_subject, schema) => wire.ask('registry.register', () => register(schema), { writes: true }),
      schema: (id) => wire.ask('registry.schema', () => texts[id - 1] ?? null),
    }),
  };
}
