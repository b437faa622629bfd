import type { CarillonError } from '@carillon/kernel';
import type { WriteWithRecords } from '@carillon/ports';
import type { EmbeddedLog } from '../log/event-log.ts';
import { appendRecords } from '../log/log-writes.ts';
import { sizeOf, type PackedRecords } from '../log/packed-records.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { documentWrites, toWrite, type DocumentWrite } from './documents.ts';

export const documentsWithRecordsWrites = (transaction: Transaction) => {
  const { 'documents.write': write } = documentWrites(transaction);
  return {
    /** Writes the document and, if that succeeds, appends the records in the same commit. */
    'documents.writeWithRecords'(document: DocumentWrite, records: PackedRecords): 'done' | 'stale' | 'taken' {
      const answer = write(document);
      if (answer === 'done') appendRecords(transaction, records);
      return answer;
    },
  };
};

export const createWriteWithRecords =
  (
    write: Write<ReturnType<typeof documentsWithRecordsWrites>>,
    log: Pick<EmbeddedLog, 'pack' | 'arrived'>,
    /** Why the log takes no new events just now. */
    full: () => CarillonError | null,
  ): WriteWithRecords =>
  async (collection, item, expected, records) => {
    const refused = full();
    if (refused) throw refused;
    const { document, bytes } = toWrite(collection)(item, expected);
    const packed = log.pack(records);
    const load = { bytes: bytes + sizeOf(packed), rows: 1 + records.length };
    const answer = await write('documents.writeWithRecords', load, document, packed);
    if (answer === 'done') log.arrived(records);
    return answer;
  };
