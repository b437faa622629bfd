import { readFile } from 'node:fs/promises';
import type { AuditEntryBody, AuditVerdictBody } from '@carillon/contracts';
import { messageOf } from '@carillon/kernel';
import type { Command } from 'commander';
import { seg, type CommonOptions, type Page } from '../client.ts';
import { UsageError } from '../failure.ts';
import { clean, shortTime } from '../output.ts';
import { answer, command, pageText } from './api-command.ts';
import { answerNamed } from './person-names.ts';

export function auditCommands(program: Command): void {
  const audit = program.command('audit').description('audit log of changes and reads: list, verify');
  listCommand(audit);
  verifyCommand(audit);
}

type ListOptions = CommonOptions & {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: string;
  readonly cursor?: string;
};

const row = (entry: AuditEntryBody): readonly string[] => [
  shortTime(entry.at),
  entry.actor === null ? '–' : `${entry.actor.kind} ${clean(entry.actor.id)}`,
  entry.action,
  clean(entry.target ?? '–'),
  entry.workspace ?? '–',
  entry.code === null ? entry.outcome : `${entry.outcome}: ${entry.code}`,
  clean(entry.from.address ?? '–'),
  clean(entry.detail ?? ''),
];

function listCommand(audit: Command): void {
  command(audit, 'list', 'list changes and reads with their author, newest first')
    .option('--actor <id>', 'only by this author: owner, per_… or tok_…')
    .option('--action <action>', 'only this action, such as delivery.resend')
    .option('--target <target>', 'only about this target')
    .option('--from <time>', 'only at or after this time (RFC 3339)')
    .option('--to <time>', 'only before this time (RFC 3339)')
    .option('--limit <n>', 'maximum number of entries', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .action(async (options: ListOptions) => {
      const { actor, action, target, from, to, limit, cursor } = options;
      await answerNamed(
        options,
        (client) =>
          client.get<Page<AuditEntryBody>>(`/v1/workspaces/${seg(client.reach)}/audit`, {
            actor,
            action,
            target,
            from,
            to,
            limit,
            cursor,
          }),
        (page) =>
          pageText(page, 'nothing was done', row, [
            'when',
            'who',
            'what',
            'to what',
            'workspace',
            'outcome',
            'from',
            'detail',
          ]),
      );
    });
}

function verdictText({ begins, records, seals, sealed_through: through, fault }: AuditVerdictBody): string {
  const since = begins > 0 ? ` from position ${begins} on, before which all was taken away` : '';
  const seen = `${records} records${since}, ${seals} seals that hold${through === null ? '' : `, the last through position ${through}`}`;
  if (fault === null) return `The audit is whole: ${seen}.`;
  return `The audit is not as it was written: ${fault.sentence}. Before it: ${seen}.`;
}

function verifyCommand(audit: Command): void {
  command(audit, 'verify', 'verify the audit log from its start: names changed, missing, inserted and cut-off records')
    .option('--seals <file>', 'file with seals that you stored elsewhere: log lines of the control role')
    .action(async (options: CommonOptions & { readonly seals?: string }) => {
      const seals = options.seals === undefined ? undefined : await readSeals(options.seals);
      let whole = true;
      await answer(
        options,
        async (client) => {
          const verdict = await client.post<AuditVerdictBody>('/v1/audit/verify', seals === undefined ? {} : { seals });
          whole = verdict.ok;
          return verdict;
        },
        verdictText,
      );
      if (!whole) process.exitCode = 1;
    });
}

/** The seals among the lines of a file; all other lines are passed over. The newest thousand. */
async function readSeals(file: string): Promise<readonly object[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read (${messageOf(error)})`);
  });
  const seals = text.split('\n').flatMap((line) => {
    const at = line.indexOf('{');
    if (at < 0 || !line.includes('"seal_mac"')) return [];
    try {
      const {
        position: through,
        seal_hash: hash,
        seal_contents: contents,
        seal_mac: mac,
      } = JSON.parse(line.slice(at)) as Readonly<Record<string, unknown>>;
      return typeof through === 'number' && typeof hash === 'string' && typeof mac === 'string'
        ? [{ through, hash, mac, ...(typeof contents === 'string' && { contents }) }]
        : [];
    } catch {
      return [];
    }
  });
  if (seals.length === 0)
    throw new UsageError(`${file} has no seals of the audit log (the log of the control role has them)`);
  return seals.slice(-1_000);
}
