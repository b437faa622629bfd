import { CarillonError, messageOf } from '@carillon/kernel';
import type { SchemaRegistry } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';

export const schemaWrites = ({ sql }: Transaction) => ({
  'schemas.register'(subject: string, schema: string): number {
    sql.run('INSERT INTO schemas (schema) VALUES (?) ON CONFLICT DO NOTHING', schema);
    const id = (sql.get('SELECT id FROM schemas WHERE schema = ?', schema) as { id: number } | undefined)?.id ?? 0;
    sql.run('INSERT INTO schema_subjects VALUES (?, ?) ON CONFLICT DO NOTHING', subject, id);
    return id;
  },
});

/** Text without the spaces that mean nothing, so that how a file is laid out does not make another schema of it. */
function normalized(schema: string): string {
  try {
    return JSON.stringify(JSON.parse(schema));
  } catch (error) {
    throw new CarillonError('invalid_request', `the Avro schema is not valid JSON: ${messageOf(error)}`);
  }
}

export const createSchemaRegistry = (reader: Reader, write: Write<ReturnType<typeof schemaWrites>>): SchemaRegistry => {
  const find = (schema: string, subject: string): number | undefined =>
    (
      reader.get(
        'SELECT id FROM schemas JOIN schema_subjects ON schema_id = id WHERE schema = ? AND subject = ?',
        schema,
        subject,
      ) as { id: number } | undefined
    )?.id;
  return {
    async register(subject, schema) {
      const text = normalized(schema);
      return find(text, subject) ?? write('schemas.register', { bytes: text.length + 128 }, subject, text);
    },
    async schema(id) {
      return (
        (reader.get('SELECT schema FROM schemas WHERE id = ?', id) as { schema: string } | undefined)?.schema ?? null
      );
    },
  };
};
