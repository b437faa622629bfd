import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ErasureBody, ErasureListBody, ErasureLookBody, JobBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { connect, seg, type Client, type CommonOptions, type Page } from '../client.ts';
import { environment } from '../config.ts';
import { CommandError, UsageError } from '../failure.ts';
import { clean, say, sayJson, shortTime } from '../output.ts';
import { runnable } from '../runnable.ts';
import { agree } from './agree.ts';
import { answer, command, needs, pageText } from './api-command.ts';
import { followJob } from './bulk.ts';

type EraseOptions = CommonOptions & {
  readonly reason: string;
  readonly confirm?: string;
  /** `--no-wait` */
  readonly wait?: boolean;
};

type ApplyFlags = { readonly dataDir?: string; readonly config?: string; readonly json?: boolean };

/** `carillon erase` and `carillon erasures`. */
export function erasureCommands(program: Command): void {
  eraseCommand(program);
  const erasures = program.command('erasures').description('erased people: certificates, and the list for backups');
  command(erasures, 'list', 'list erasures with what each emptied, the newest first')
    .option('--limit <n>', 'at most so many', '50')
    .option('--cursor <cursor>', 'the page after')
    .action(async ({ limit, cursor, ...options }: CommonOptions & { limit: string; cursor?: string }) => {
      await answer(
        options,
        (client) => client.get<Page<ErasureBody>>(`/v1/workspaces/${seg(client.reach)}/erasures`, { limit, cursor }),
        (page) => pageText(page, 'nobody was erased', erasureRow, ['id', 'workspace', 'erased', 'emptied', 'reason']),
      );
    });
  command(erasures, 'export <file>', 'write the list of erasures for carillon restore; it names nobody').action(
    async (file: string, options: CommonOptions) => {
      const list = await connect(options).get<ErasureListBody>('/v1/erasures');
      writeFileSync(resolve(file), `${JSON.stringify(list, null, 2)}\n`, { mode: 0o600 });
      if (options.json) sayJson({ file: resolve(file), erasures: list.erasures.length });
      else say(`${clean(resolve(file))}, ${list.erasures.length} erasures; store it with your backups`);
    },
  );
  erasures
    .command('apply <file>')
    .description('erase the people of a list from restored data before any role starts; needs no server')
    .option(
      '--data-dir <dir>',
      'data folder, or the folder with the keys of a cluster (CARILLON_DATA_DIR, ./carillon-data)',
    )
    .option('--config <file>', 'carillon.yaml with the addresses of log and stores (CARILLON_CONFIG)')
    .option('--json', 'print JSON')
    .action(applyList);
}

async function applyList(file: string, flags: ApplyFlags): Promise<void> {
  const { applyErasures, readErasureList } = await import('../process/apply-erasures.ts');
  const list = readErasureList(resolve(file));
  const { readProcessContext } = await import('../process/settings.ts');
  const { settings, env } = readProcessContext(flags, environment);
  if (!settings.cluster && !existsSync(settings.dataDir)) {
    throw new UsageError(`there is no data folder ${settings.dataDir}`);
  }
  const { withDeployment } = await import('../move/deployment.ts');
  const { createIds } = await import('@carillon/adapter-system');
  const applied = await withDeployment(
    settings,
    env,
    async ({ backend, keys, clock }) => {
      await backend.refuseRunningRoles();
      return applyErasures(backend, list, createIds(keys.ledgerKey), clock);
    },
    'carillon erasures',
  );
  if (flags.json) sayJson({ file: resolve(file), erasures: applied });
  else say(`applied: ${applied} of ${list.erasures.length} erasures; the others are in the data already`);
}

function eraseCommand(program: Command): void {
  needs(
    command(program, 'erase <person>', 'erase what is held of a person; shows it and asks first; it cannot be undone'),
    '--reason <text>',
    'why, for audit and certificate; it must not name the person',
  )
    .option('--confirm <checksum>', 'the checksum of a look, instead of a question')
    .option('--no-wait', 'do not wait for the end')
    .action(async (person: string, options: EraseOptions) => {
      const client = connect(options);
      const path = `/v1/workspaces/${seg(options.workspace === '-' ? '-' : await client.workspace())}/erasures`;
      const body = { person, reason: options.reason };
      let confirm = options.confirm;
      if (confirm === undefined) {
        const look = await postUntilRead(client, path, body);
        if (options.json) return sayJson(look);
        say(lookText(look));
        await agree('everything above is erased for good', 'nothing was erased', `--confirm ${look.checksum}`);
        confirm = look.checksum;
      }
      const { erasure } = await postUntilRead(client, path, { ...body, confirm });
      if (!erasure) return;
      const onLog = erasure.remains.find(({ where }) => where === 'log');
      if (onLog?.until && !options.json)
        say(`bytes remain on Kafka until ${shortTime(onLog.until)}; no command or page shows them`);
      if (options.wait === false) {
        if (options.json) sayJson(erasure);
        else say(runnable(`${erasure.job} has begun: npx carillon jobs show ${erasure.job} --follow`, options));
        return;
      }
      const job = await client.get<JobBody>(`/v1/workspaces/${seg(erasure.workspace ?? '-')}/jobs/${seg(erasure.job)}`);
      await followJob(client, job, options);
    });
}

const RETRY_INTERVAL_MS = 1_000;

/** Sends a request again while the server still reads the log for it, which takes minutes if the log is large. */
async function postUntilRead(client: Pick<Client, 'post'>, path: string, body: object): Promise<ErasureLookBody> {
  for (;;) {
    try {
      return await client.post<ErasureLookBody>(path, body);
    } catch (error) {
      if (!(error instanceof CommandError) || error.problem?.code !== 'overloaded') throw error;
      await pause(RETRY_INTERVAL_MS);
    }
  }
}

const countsText = (counts: ErasureBody['erased']): string =>
  Object.entries(counts)
    .map(([place, count]) => `${place.replaceAll('_', ' ')}: ${count}`)
    .join(', ');

function lookText({ found, checksum, shared_addresses: shared, undecided }: ErasureLookBody): string {
  const lines = [`found: ${countsText(found)}`];
  if (shared > 0) lines.push(`${shared} of the addresses belong to other people too and are kept`);
  if (undecided.length > 0) lines.push(`decide about these first: ${undecided.join(', ')}`);
  lines.push(`checksum: ${checksum}`);
  return lines.join('\n');
}

const erasureRow = ({ id, workspace, erased_at: at, erased, reason }: ErasureBody): readonly string[] => [
  id,
  workspace ?? 'all',
  at === null ? 'not ended' : shortTime(at),
  countsText(erased),
  clean(reason),
];
