import { tablesOf } from '@carillon/domain/configuration';
import { stepsOf } from '@carillon/domain/events';
import { similarTo } from '@carillon/kernel';
import type { SourceTable } from '@carillon/ports';

type ReadStream = { readonly name: string } & Parameters<typeof tablesOf>[0] & { readonly time: string | null };

/**
 * Returns a sentence for each column that a stream names and its table lacks: one to leave out would reach the log, and without
 * key or time a change has the event id and the commit time.
 */
export const missingColumns = (streams: readonly ReadStream[], tables: readonly SourceTable[]): readonly string[] =>
  streams.flatMap((stream) =>
    tablesOf(stream).flatMap(({ table, key, without }) => {
      const found = tables.find((one) => one.table === table);
      // A table that is not there or cannot be read is reported by itself.
      if (found === undefined || found.problem !== null) return [];
      const columns = found.columns.map(({ name }) => name);
      const sentence = (column: string | undefined, effect: string): readonly string[] => {
        if (column === undefined || columns.includes(column)) return [];
        const meant = similarTo(column, columns);
        const hint = meant === null ? '' : ` Did you mean ${meant}?`;
        return [`${table} has no column ${column}, so ${effect} (stream ${stream.name}).${hint}`];
      };
      return [
        ...without.flatMap((column) => sentence(column, 'without leaves nothing out')),
        ...sentence(columnAt(key), 'its changes have no key'),
        ...sentence(columnAt(stream.time), 'its changes have the time of their commit'),
      ];
    }),
  );

function columnAt(path: string | null): string | undefined {
  const [column] = path === null ? [] : (stepsOf(path) ?? []);
  return typeof column === 'string' ? column : undefined;
}
