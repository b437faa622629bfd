import type { DatabaseTablesBody, StreamFieldBody, StreamFieldPage } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type Client, type CommonOptions } from '../client.ts';
import { CommandError } from '../failure.ts';
import { paint, shortTime, table } from '../output.ts';
import { answer, command, readWhole } from './api-command.ts';

type Column = DatabaseTablesBody['items'][number]['columns'][number] & { readonly table: string };
type StreamFields = {
  readonly items: readonly StreamFieldBody[];
  /** Columns of the tables of a stream that reads a database, before its first change. */
  readonly columns: readonly Column[];
  /** Why the columns are not known. */
  readonly problem: string | null;
};

/** `events fields STREAM`: what events of the stream were seen to hold. */
export function fieldsCommand(events: Command): void {
  command(
    events,
    'fields <stream>',
    'list the fields seen on a stream (its EVENT_PATH), with types and samples',
  ).action(async (stream: string, _local: unknown, self: Command) => {
    await answer(
      self.optsWithGlobals<CommonOptions>(),
      (client) => readFields(client, stream),
      (fields) => showFields(fields),
    );
  });
}

/** Reads the fields of a stream, and the columns of its tables before its first change. */
export async function readFields(client: Client, stream: string): Promise<StreamFields> {
  const path = `/v1/workspaces/${seg(client.reach)}/streams/${seg(stream)}/fields`;
  const { items } = await readWhole<StreamFieldBody>(client, path);
  if (items.length > 0) return { items, columns: [], problem: null };
  const { stream: found, source } = await client.get<StreamFieldPage>(path);
  if (source === null) return { items, columns: [], problem: null };
  const leftOut = new Map(source.tables.map((each) => [each.table, each.without]));
  const [workspace = ''] = found.split('/');
  const tables = `/v1/workspaces/${seg(workspace)}/integrations/${seg(source.integration)}/tables`;
  try {
    return { items, ...(await readColumns(client, tables, leftOut)) };
  } catch (error) {
    if (!(error instanceof CommandError) || error.problem?.status !== 403) throw error;
    return { items, columns: [], problem: 'who may configure the workspace sees the columns of its tables' };
  }
}

async function readColumns(
  client: Client,
  path: string,
  /** Columns that no event has, by table of the stream. */
  leftOut: ReadonlyMap<string, readonly string[]>,
): Promise<Pick<StreamFields, 'columns' | 'problem'>> {
  const columns: Column[] = [];
  for (let cursor: string | undefined; ;) {
    const page: DatabaseTablesBody = await client.get(path, { cursor });
    for (const { table: name, columns: own } of page.items) {
      const without = leftOut.get(name);
      if (without === undefined) continue;
      const coming = own.filter((column) => !without.includes(column.name));
      columns.push(...coming.map((column) => ({ table: name, ...column })));
    }
    if (page.next === null) return { columns, problem: page.problem?.sentence ?? null };
    cursor = page.next;
  }
}

export function showFields({ items, columns, problem }: StreamFields): string {
  if (items.length > 0) {
    const isOfTables = items.some(({ tables }) => tables.length > 0);
    const head = ['field', 'types', 'events', 'last seen', 'sample', ...(isOfTables ? ['tables'] : [])];
    return table(
      items.map((field) => [...fieldRow(field), ...(isOfTables ? [field.tables.join(', ')] : [])]),
      head,
    );
  }
  const nothing = paint('dim', `no fields: no event has arrived yet${problem === null ? '' : `; ${problem}`}`);
  if (columns.length === 0) return nothing;
  const rows = columns.map(({ table: of, name, type, key }) => [name, type, key ? 'key' : '', of]);
  return `${nothing}\n${table(rows, ['column', 'type', '', 'table'])}`;
}

const fieldRow = (field: StreamFieldBody): string[] => [
  field.path,
  field.types.join(', '),
  String(field.count),
  shortTime(field.last_seen),
  field.sample ?? '',
];
