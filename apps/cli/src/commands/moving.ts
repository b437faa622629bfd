import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { environment } from '../config.ts';
import { UsageError } from '../failure.ts';
import { paint, say, sayJson } from '../output.ts';
import { refuseMoved } from '../move/moved-mark.ts';
import type { MoveCounts } from '../move/move-file.ts';

type MoveFlags = { readonly dataDir?: string; readonly config?: string; readonly json?: boolean };

/** `carillon move`: from one data folder to a cluster, or to another folder. Both commands open log and stores themselves. */
export function moveCommands(program: Command): void {
  const move = program
    .command('move')
    .description('move a deployment from a data folder to a cluster, without notifying anybody twice');

  move
    .command('export <file>')
    .description(
      'write ledger, states of rules, suppressions, consents, limits, people, secrets, configuration and drafts of a stopped data folder to a file (mode 0600)',
    )
    .option('--data-dir <dir>', 'data folder (CARILLON_DATA_DIR, ./carillon-data)')
    .option('--json', 'print JSON')
    .action(async (file: string, flags: MoveFlags) => {
      const { readProcessContext } = await import('../process/settings.ts');
      const { settings, env } = readProcessContext(flags, environment);
      if (settings.cluster) {
        throw new UsageError('move export reads a data folder. Pass --data-dir and leave out the Kafka settings');
      }
      if (!existsSync(settings.dataDir)) throw new UsageError(`there is no data folder ${settings.dataDir}`);
      const { withDeployment } = await import('../move/deployment.ts');
      const { exportMove } = await import('../move/export.ts');
      const counts = await withDeployment(settings, env, ({ backend, keys, clock }) =>
        exportMove(resolve(file), settings.dataDir, { backend, keys, clock, progress: progressLine() }),
      );
      if (flags.json) sayJson({ file: resolve(file), exported: counts });
      else
        say(
          `${file}: ${words(counts)}. It holds addresses and digests: keep it as safe as the data folder. Next: docs/move-to-a-cluster.md`,
        );
    });

  move
    .command('import <file>')
    .description('import a file of `move export`; changes no existing data, and can be repeated')
    .option('--data-dir <dir>', 'folder with the keys of the old deployment (CARILLON_DATA_DIR, ./carillon-data)')
    .option('--config <file>', 'carillon.yaml with the addresses of log and stores (CARILLON_CONFIG)')
    .option('--json', 'print JSON')
    .action(async (file: string, flags: MoveFlags) => {
      const { readProcessContext } = await import('../process/settings.ts');
      const { settings, env } = readProcessContext(flags, environment);
      const { withDeployment } = await import('../move/deployment.ts');
      const { checkMove, importMove } = await import('../move/import.ts');
      if (!settings.cluster) refuseMoved(settings.dataDir);
      await checkMove(resolve(file), settings.dataDir, env);
      const { added, kept } = await withDeployment(settings, env, (deployment) =>
        importMove(resolve(file), { ...deployment, progress: progressLine() }),
      );
      if (flags.json) sayJson({ file: resolve(file), added, kept });
      else say(`added ${words(added)}; was there already: ${words(kept)}`);
    });
}

const words = ({
  delivery,
  state,
  suppression,
  consents,
  sent,
  people,
  secret,
  configuration,
  draft,
}: MoveCounts): string =>
  `${delivery} deliveries, ${state} states of rules, ${suppression} suppressed addresses, opt-outs and opt-ins of ${consents} people, counts of ${sent} people under limits, ${people} records of who may sign in, ${secret} secrets, ${configuration} configurations, ${draft} drafts`;

const SAY_EVERY = 1_000;

/** Returns a function that reports the progress at intervals. */
function progressLine(): (done: number, all: number) => void {
  let said = Date.now();
  return (done, all) => {
    if (Date.now() - said < SAY_EVERY) return;
    said = Date.now();
    process.stderr.write(`${paint('dim', `${done} of ${all} deliveries`)}\n`);
  };
}
