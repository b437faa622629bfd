/** Returns the schema without its prose, so that a better sentence is not a new schema with a new id. */
export function withoutDoc(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutDoc);
  if (typeof schema !== 'object' || schema === null) return schema;
  const fields = Object.entries(schema).filter(([name]) => name !== 'doc');
  return Object.fromEntries(fields.map(([name, value]) => [name, withoutDoc(value)]));
}
