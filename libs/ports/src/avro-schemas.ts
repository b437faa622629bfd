import type { Result } from '@carillon/kernel';

/** A schema registry that a tenant names, with its secrets resolved. No secret reaches a log, a trace or a response. */
export type RegistryTarget = {
  /** Address of Confluent's interface. */
  readonly url: string;
  readonly username: string | null;
  readonly password: string | null;
};

/** Reads schemas of Avro from registries of tenants. */
export type AvroSchemaSource = {
  /**
   * Returns the text of a schema, or null if the registry does not know its id. Error: why the registry gave no answer, in words for the
   * tenant. Never rejects because of the registry.
   */
  schema(registry: RegistryTarget, id: number): Promise<Result<string | null, string>>;
};
