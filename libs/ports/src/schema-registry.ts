/** Confluent-compatible registry of Avro schemas: derived records are framed as `00`, four bytes of id, Avro. */
export type SchemaRegistry = {
  /** Registers the schema under the subject, or finds it; the same schema always has the same id. */
  register(subject: string, schema: string): Promise<number>;
  /** The schema of an id, or null where the registry does not know it. */
  schema(id: number): Promise<string | null>;
};
