import {
  missingSchema,
  readAvroSchemaText,
  type AvroSchemas,
  type AvroType,
  type WaitingProblem,
  type WaitingReason,
} from '@carillon/domain/changes';
import { err, ok, type Result } from '@carillon/kernel';
import type { AvroSchemaSource, RegistryTarget, TopicRecord } from '@carillon/ports';

/** Maximum schemas of one source in memory, so that a topic with ever new schemas cannot fill it. */
const MAX_SCHEMAS = 100;

export type NeededSchemas = {
  /** Returns the schemas that records of Debezium need, or why the source has to wait for one of them. */
  of(records: readonly TopicRecord[]): Promise<Result<AvroSchemas, WaitingProblem>>;
};

/** Reads each schema once, because a registry never gives an id to another schema. `registry` is null if the integration names none. */
export function createNeededSchemas(
  registry: RegistryTarget | null,
  load: () => Promise<AvroSchemaSource>,
): NeededSchemas {
  const known = new Map<number, AvroType | null>();

  async function read(id: number, { topic, partition, offset }: TopicRecord): Promise<WaitingProblem | null> {
    const wait = (reason: WaitingReason, detail: string) => ({ reason, detail, fix: null, topic });
    const place = `the record ${topic}/${partition} at offset ${offset}`;
    if (registry === null) return wait('schema_unknown', `${place} is Avro, and the integration names no registry`);
    const found = await (await load()).schema(registry, id);
    if (!found.ok) return wait('registry_away', found.error);
    if (found.value === null) return wait('schema_unknown', `schema ${id} of ${place}`);
    known.set(id, readAvroSchemaText(found.value));
    return null;
  }

  return {
    async of(records) {
      if (known.size > MAX_SCHEMAS) known.clear();
      for (const record of records) {
        for (let id = missingSchema(record, known); id !== null; id = missingSchema(record, known)) {
          const problem = await read(id, record);
          if (problem !== null) return err(problem);
        }
      }
      return ok(known);
    },
  };
}
