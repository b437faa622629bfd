import { openHistory } from '@carillon/adapter-embedded';
import type { KafkaConnection } from '@carillon/adapter-kafka';
import type { RegistryConnection } from '@carillon/adapter-schema-registry';
import { CarillonError, type LogId } from '@carillon/kernel';
import type { EventHistory, SchemaRegistry } from '@carillon/ports';
import { withErasedOffsets, type ErasedList } from '../process/erased-records.ts';

/** Where the child process finds the log, with the secrets that open it. */
export type HistorySource =
  | { readonly kind: 'embedded'; readonly dataDir: string }
  | {
      readonly kind: 'kafka';
      readonly connection: Omit<KafkaConnection, 'log'>;
      readonly registry: RegistryConnection;
    };

/**
 * Opens the log read-only, without the content of erased records. Rejects with CarillonError `wrong_log` if it is another log than `logId`.
 */
export async function openHistoryOf(
  source: HistorySource,
  logId: LogId,
  erased: ErasedList | null,
): Promise<EventHistory> {
  if (source.kind === 'embedded') return openHistory(source.dataDir, logId);
  // The clients of a cluster are loaded only on a cluster.
  const { openKafkaHistory } = await import('@carillon/adapter-kafka');
  const { registry, close } = await openRegistry(source.registry);
  try {
    const history = await openKafkaHistory(source.connection, logId);
    return {
      ...(erased ? withErasedOffsets(history, erased.offsets) : history),
      registry,
      close() {
        history.close();
        close();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** A schema registry that registers nothing. */
async function openRegistry(
  connection: RegistryConnection,
): Promise<{ readonly registry: SchemaRegistry; readonly close: () => void }> {
  const { createSchemaRegistry } = await import('@carillon/adapter-schema-registry');
  const registry = createSchemaRegistry(connection);
  return {
    close: () => registry.close(),
    registry: {
      schema: (id) => registry.schema(id),
      async register(subject, schema) {
        const id = await registry.find(subject, schema);
        if (id !== null) return id;
        // A control process registers the schemas of its release when it starts.
        throw new CarillonError(
          'invalid_configuration',
          `the schema registry does not know a schema of ${subject}: did it lose it? Restore the registry, or restart control`,
        );
      },
    },
  };
}
