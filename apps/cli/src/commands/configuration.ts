import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { AppliedBody, PlanBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { connect, namedWorkspace, type CommonOptions } from '../client.ts';
import { UsageError } from '../failure.ts';
import { clean, say, sayJson } from '../output.ts';
import { runnable } from '../runnable.ts';
import { answer, command } from './api-command.ts';
import { refuseOutside } from './inside.ts';
import { countWords, showApplied, showDiff, toldWords } from './plan-text.ts';

const MAX_FILE = 1024 * 1024;
const MAX_FILES = 5000;

/** The text files of a configuration folder by their path in it; hidden ones are left out. Links may not leave it. */
export function readFolder(folder: string): Record<string, string> {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new UsageError(`there is no folder ${folder}`);
  const files: Record<string, string> = {};
  let seen = 0;
  const read = (within: string): void => {
    for (const name of readdirSync(join(folder, within)).toSorted()) {
      if (name.startsWith('.')) continue;
      const path = within === '' ? name : `${within}/${name}`;
      refuseOutside(folder, path);
      // Links that lead round in the folder end here as well.
      seen += 1;
      if (seen > MAX_FILES) throw new UsageError(`${folder} holds more than ${MAX_FILES} files`);
      const stat = statSync(join(folder, path));
      if (stat.isDirectory()) read(path);
      if (!stat.isFile()) continue;
      if (stat.size > MAX_FILE) throw new UsageError(`${path} is larger than 1 MiB`);
      files[path] = readFileSync(join(folder, path), 'utf8');
    }
  };
  read('');
  return files;
}

/** Writes files below a folder. Refuses paths that lead out of the folder. */
export function writeFolder(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    const target = join(folder, path);
    if (relative(folder, target).startsWith('..'))
      throw new UsageError(`${clean(path)} is outside ${folder}: correct the path`);
    mkdirSync(folder, { recursive: true });
    refuseOutside(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}

/** Files as export writes them; where one is there already, with its comments and its order. */
async function withWhatIsThere(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  // Loaded here only: reading commands start in a fraction of the time without it.
  const { mergeFile } = await import('@carillon/configuration');
  const merged = Object.entries(files).map(([path, text]): [string, string] => {
    if (!existsSync(join(folder, path))) return [path, text];
    refuseOutside(folder, path);
    return [path, mergeFile(path, readFileSync(join(folder, path), 'utf8'), text)];
  });
  return Object.fromEntries(merged);
}

type FolderOptions = CommonOptions & { readonly file: string; readonly prune?: boolean; readonly yes?: boolean };

/** Which files, of which workspace, and whether what they do not hold goes. */
const folderRequest = (options: FolderOptions) => {
  const workspace = namedWorkspace(options);
  return {
    files: readFolder(options.file),
    prune: options.prune ?? false,
    ...(workspace !== undefined && { workspace }),
  };
};

const finish = (plan: PlanBody): void => {
  if (plan.faults.length > 0) process.exitCode = 2;
};
export function configurationCommands(program: Command): void {
  command(program, 'diff', 'show what apply would change; changes nothing')
    .requiredOption('-f, --file <dir>', 'configuration folder')
    .option('--prune', 'treat resources that are not in the folder as removed')
    .action(async (options: FolderOptions) => {
      const plan = await answer(
        options,
        (client) => client.post<PlanBody>('/v1/configuration/plan', folderRequest(options)),
        (body) => showDiff(body, options.file),
      );
      finish(plan);
    });

  command(program, 'apply', 'apply a configuration folder; removes nothing without --prune')
    .requiredOption('-f, --file <dir>', 'configuration folder')
    .option('--prune', 'remove resources that are not in the folder (asks first, unless --yes)')
    .option('--yes', 'do not ask for confirmation')
    .action(async (options: FolderOptions) => {
      const client = connect(options);
      const request = folderRequest(options);
      // Applies only the confirmed plan: if another person changed something since, the server refuses.
      const shown =
        options.prune && !options.yes ? await confirmPrune(client.post('/v1/configuration/plan', request)) : null;
      const agreed = shown === null ? request : { ...request, based_on: shown };
      const applied = await client.post<AppliedBody>('/v1/configuration/apply', agreed);
      if (options.json) sayJson(applied);
      else say(runnable(showApplied(applied, options.file), options));
      finish(applied);
    });

  command(program, 'export <dir>', 'write the configuration as files')
    .option('--force', 'write into a folder that is not empty; comments and key order of its files stay')
    .action(async (folder: string, options: CommonOptions & { readonly force?: boolean }) => {
      if (!options.force && existsSync(folder) && readdirSync(folder).length > 0) {
        throw new UsageError(`${folder} is not empty: name a new folder, or use --force`);
      }
      await answer(
        options,
        async (client) => {
          const body = await client.get<{ number: number; files: Record<string, string> }>('/v1/configuration/export', {
            workspace: namedWorkspace(options),
          });
          writeFolder(folder, await withWhatIsThere(folder, body.files));
          return { number: body.number, files: Object.keys(body.files) };
        },
        (body) => `${countWords(body.files.length, 'file')} of configuration ${body.number} in ${folder}`,
      );
    });
}

/** Asks before anything is taken away; answers the number of the configuration that was shown. */
async function confirmPrune(asked: Promise<PlanBody>): Promise<number> {
  const plan = await asked;
  const gone = plan.changes.filter((change) => change.action === 'delete');
  if (gone.length === 0) return plan.number;
  const noteOf = ({ note }: PlanBody['changes'][number]): string => (note === null ? '' : `: ${clean(note)}`);
  const names = gone.map((change) => `  ${clean(change.resource)}${toldWords(change)}${noteOf(change)}`).join('\n');
  if (!process.stdin.isTTY) throw new UsageError(`--prune would remove:\n${names}\nTo do that, repeat with --yes`);
  const { createInterface } = await import('node:readline/promises');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const reply = await prompt.question(`--prune takes away:\n${names}\nGo on? [y/N] `);
  prompt.close();
  if (!/^y(es)?$/i.test(reply.trim())) throw new UsageError('nothing was applied');
  return plan.number;
}
