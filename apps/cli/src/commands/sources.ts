import type { SourceBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type Client, type CommonOptions } from '../client.ts';
import { UsageError } from '../failure.ts';
import { clean, paint, shortTime, table, type Style } from '../output.ts';
import { agree } from './agree.ts';
import { answer, command, needs, readWhole, type Items } from './api-command.ts';
import { fixText } from './check-text.ts';

type ResetOptions = CommonOptions & {
  readonly reason: string;
  readonly from?: string;
  readonly gone?: boolean;
  readonly yes?: boolean;
};

export function sourceCommands(program: Command): void {
  const sources = command(
    program,
    'sources',
    'list databases and Kafka clusters with state, lag, last change and what to do',
  ).action(async (options: CommonOptions) => {
    let isWide = false;
    await answer(
      options,
      async (client) => {
        isWide = await client.isWide();
        return readWhole<SourceBody>(client, `/v1/workspaces/${seg(client.reach)}/sources`);
      },
      (list) => showSources(list, isWide),
    );
  });
  const reset = command(
    sources,
    'reset <name>',
    'restart a stopped source; shows which changes are skipped, and asks first',
  );
  needs(reset, '--reason <text>', 'why changes may be skipped; recorded in the audit log')
    .option('--from <end|oldest>', 'Kafka: start at the end of the topics or at their oldest record (default: oldest)')
    .option('--gone', 'for a source that is being removed: its slot is dropped or its database no longer exists')
    .option('--yes', 'do not ask for confirmation')
    .action(async (name: string, _local: unknown, self: Command) => {
      const options = self.optsWithGlobals<ResetOptions>();
      await answer(
        options,
        (client) => resetSource(client, name, options),
        (source) => `${clean(source.name)}: ${clean(source.sentence)}`,
      );
    });
}

/** Resets what was shown: if the span has changed since, the API refuses. */
export async function resetSource(
  client: Client,
  name: string,
  { reason, from: start, gone, yes }: ResetOptions,
): Promise<SourceBody> {
  if (start !== undefined && start !== 'end' && start !== 'oldest') {
    throw new UsageError('--from must be end or oldest');
  }
  const path = `/v1/workspaces/${seg(client.reach)}/sources/${seg(name)}`;
  const source = await client.get<SourceBody>(path);
  const span = start === 'end' ? source.span_at_end : source.span;
  // Without a span the API says why the source cannot be reset.
  if (span !== null && !yes) {
    await agree(`${clean(source.sentence)}\n${clean(span).replace(/\.$/, '')}`, 'nothing was reset');
  }
  return client.post(`${path}/reset`, {
    reason,
    from: source.read_until,
    ...(start && { at: start }),
    ...(gone && { gone }),
  });
}

const STYLES: Readonly<Record<SourceBody['state'], Style>> = {
  running: 'green',
  waiting: 'yellow',
  stopped: 'red',
  leaving: 'yellow',
};

export function showSources({ items }: Items<SourceBody>, isWide: boolean): string {
  if (items.length === 0) return paint('dim', 'no stream reads a database or Kafka yet');
  const rows = items.map((source) => [
    ...(isWide ? [source.workspace] : []),
    source.name,
    source.state,
    lagText(source),
    source.last_change_at === null ? 'none yet' : shortTime(source.last_change_at),
    source.streams.join(', '),
  ]);
  const head = [...(isWide ? ['workspace'] : []), 'source', 'state', 'lag', 'last change', 'streams'];
  return [table(rows, head), ...items.flatMap(notes)].join('\n');
}

/** Returns the lines that describe a source: its state in words, then each table that is not read with the SQL that ends it, or was not read for a while. */
function notes(source: SourceBody): readonly string[] {
  const state =
    source.state === 'running' ? [] : [note(source.state, `${source.name}: ${source.sentence}`, source.fix)];
  const tables = source.tables.flatMap(({ table: name, problem, gap }) => [
    ...(problem === null ? [] : [note('waiting', `${source.name}: ${problem.sentence}`, problem.fix)]),
    ...(gap === null ? [] : [note('waiting', `${source.name}: ${name}: ${gap}`, null)]),
  ]);
  return [...state, ...tables];
}

const note = (state: SourceBody['state'], sentence: string, fix: string | null): string =>
  `\n${paint(STYLES[state], clean(sentence))}${fix === null ? '' : `\n${fixText(fix)}`}`;

const MIB = 1024 * 1024;

/** Returns text such as `4 s, 1.5 MiB`, or `4 s, 120 records`. */
function lagText({ state, lag_seconds: seconds, lag_bytes: bytes, lag_records: records }: SourceBody): string {
  if (state === 'stopped' && records !== null) return `${records} records in the topics when it stopped`;
  if (seconds === null) return records === null ? 'not read yet' : `${records} records`;
  if (records !== null) return `${seconds} s, ${records} records`;
  return bytes === null ? `${seconds} s` : `${seconds} s, ${(bytes / MIB).toFixed(1)} MiB`;
}
