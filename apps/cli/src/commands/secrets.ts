import type { MasterKeysBody, RenewedValuesBody, SecretBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type Client, type CommonOptions } from '../client.ts';
import { environment } from '../config.ts';
import { UsageError } from '../failure.ts';
import { clean, paint, table } from '../output.ts';
import { answer, command, readWhole, type Items } from './api-command.ts';
import { answerNamed } from './person-names.ts';
import { readSecret } from './typed-secret.ts';

type Where = CommonOptions & { readonly deployment?: boolean };

const DEPLOYMENT = '--deployment';

async function pathOf(client: Client, { deployment }: Where, name: string): Promise<string> {
  if (deployment) return `/v1/secrets/${seg(name)}`;
  return `/v1/workspaces/${seg(await client.workspace())}/secrets/${seg(name)}`;
}

export function secretCommands(program: Command): void {
  const secrets = program
    .command('secret')
    .description('stored secrets, which files use as { secret: NAME }: set, list, remove, and rotate their master key');

  command(secrets, 'set <name>', 'store a secret, read from standard input')
    .option(DEPLOYMENT, 'for accounts of the deployment (carillon.yaml)')
    .action(async (name: string, options: Where) => {
      const value = await readSecret(name);
      await answerNamed(
        options,
        async (client) => client.put<SecretBody>(await pathOf(client, options, name), { value }),
        (body) => {
          const unused = body.overridden
            ? `\n${paint('yellow', 'a variable of the environment goes before it: this value is not used while that is set')}`
            : '';
          return `${clean(body.name)} is stored, sealed (fingerprint ${clean(body.fingerprint)}, version ${body.version})${unused}`;
        },
      );
    });

  command(secrets, 'list', 'list names and fingerprints, never values')
    .option(DEPLOYMENT, 'only secrets of the deployment')
    .action(async (options: Where) => {
      await answer(
        options,
        async (client) => {
          const own = (): Promise<Items<SecretBody>> => readWhole(client, '/v1/secrets');
          if (options.deployment) return own();
          const { items } = await readWhole<SecretBody>(client, `/v1/workspaces/${seg(client.reach)}/secrets`);
          return { items: client.named === undefined ? [...(await own()).items, ...items] : items };
        },
        ({ items }) =>
          items.length === 0
            ? paint('dim', 'no stored secrets')
            : table(
                items.map((one) => [
                  one.workspace === '' ? '(deployment)' : one.workspace,
                  one.name,
                  String(one.version),
                  one.fingerprint,
                  one.updated_at,
                  one.updated_by.id,
                  usedBy(one),
                ]),
                ['workspace', 'name', 'version', 'fingerprint', 'set', 'by', 'used by'],
              ),
      );
    });

  command(secrets, 'remove <name>', 'delete a stored secret')
    .option(DEPLOYMENT, 'a secret of the deployment')
    .action(async (name: string, options: Where) => {
      await answer(
        options,
        async (client) => client.delete(await pathOf(client, options, name)),
        () => `${clean(name)} is forgotten`,
      );
    });

  rotateCommand(secrets);
}

function usedBy({ readable, overridden, used_by }: SecretBody): string {
  if (!readable) return 'does not open: set it again';
  const users = used_by.map(({ kind, name }) => (name === '' ? kind : `${kind} ${name}`)).join(', ');
  return overridden ? `${users} (a variable goes before it)` : users;
}

const VARIABLE = 'CARILLON_NEW_MASTER_KEY';

type RotateOptions = CommonOptions & {
  readonly keyFile?: string;
  readonly keyCommand?: string;
  readonly values?: boolean;
  readonly finish?: boolean;
  readonly cancel?: boolean;
  readonly status?: boolean;
};

function rotateCommand(secrets: Command): void {
  command(
    secrets,
    'rotate',
    `replace the master key while Carillon runs; the new key comes from ${VARIABLE}, a file or a command, or is generated`,
  )
    .option('--key-file <file>', 'file with the new key: 32 bytes as hex or base64')
    .option('--key-command <command>', 'command that prints the new key, such as a call of a key service')
    .option('--values', 'encrypt every stored secret again, with new data keys')
    .option('--finish', 'refuse the old key from now on')
    .option('--cancel', 'cancel the rotation: refuse the new key')
    .option('--status', 'only show which keys are valid')
    .action(async (options: RotateOptions) => {
      const given = [options.values, options.finish, options.cancel, options.status].filter(Boolean);
      if (given.length > 1) throw new UsageError('pass only one of --values, --finish, --cancel and --status');
      const isStep = given.length === 1;
      const key = isStep ? undefined : await newKey(options);
      if (isStep && (options.keyFile !== undefined || options.keyCommand !== undefined)) {
        throw new UsageError(
          '--key-file and --key-command cannot be combined with --values, --finish, --cancel and --status',
        );
      }
      const body = await answer(
        options,
        (client) => ask(client, options, key),
        (shown) => told(shown, options),
      );
      if ('renewed' in body && body.unreadable.length > 0) process.exitCode = 1;
    });
}

async function ask(
  client: Client,
  options: RotateOptions,
  key: string | undefined,
): Promise<MasterKeysBody | RenewedValuesBody> {
  if (options.status) return client.get<MasterKeysBody>('/v1/master-key');
  if (options.values) return client.post<RenewedValuesBody>('/v1/master-key/renew-values', {});
  if (options.finish) return client.post<MasterKeysBody>('/v1/master-key/finish', {});
  if (options.cancel) return client.post<MasterKeysBody>('/v1/master-key/cancel', {});
  return client.post<MasterKeysBody>('/v1/master-key/rotate', key === undefined ? {} : { master_key: key });
}

/** Never an argument: those are seen in process lists and histories. Undefined: the control role makes one. */
async function newKey({ keyFile, keyCommand }: RotateOptions): Promise<string | undefined> {
  const variable = environment[VARIABLE] || undefined;
  if ([variable, keyFile, keyCommand].filter((one) => one !== undefined).length > 1) {
    throw new UsageError(`name one source of the new key: ${VARIABLE}, --key-file or --key-command`);
  }
  if (keyFile !== undefined) {
    const { readFile } = await import('node:fs/promises');
    try {
      return (await readFile(keyFile, 'utf8')).trim();
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'it cannot be read';
      throw new UsageError(`--key-file: ${keyFile}: ${code}`);
    }
  }
  if (keyCommand !== undefined) {
    const { keyFromCommand } = await import('../key-command.ts');
    return keyFromCommand('--key-command', keyCommand);
  }
  return variable;
}

function told(body: MasterKeysBody | RenewedValuesBody, options: RotateOptions): string {
  const rows = body.master_keys.map((key, at) => [
    key.fingerprint,
    body.master_keys.length === 1 ? 'counts' : at === 0 ? 'old' : 'new',
    `${key.data_keys} of ${body.data_keys}`,
    key.starts ? 'yes' : 'no',
  ]);
  const lines = [table(rows, ['master key', '', 'data keys', 'control starts with it'])];
  if ('renewed' in body) lines.push(`${body.renewed} values are encrypted again`);
  if (body.values_behind > 0) {
    lines.push(
      paint('yellow', `${body.values_behind} values are left: continue with npx carillon secret rotate --values`),
    );
  }
  for (const one of body.unreadable) {
    const where = one.workspace === '' ? '--deployment' : `--workspace ${clean(one.workspace)}`;
    lines.push(paint('yellow', `cannot be decrypted any more: npx carillon secret set ${clean(one.name)} ${where}`));
  }
  lines.push(paint('dim', nextStep(body, options)));
  return lines.join('\n');
}

function nextStep({ master_keys, source }: MasterKeysBody, { cancel }: RotateOptions): string {
  if (master_keys.length > 1) {
    return source === 'file'
      ? 'both keys are accepted. Where other machines have a copy of keys/master.key, give them keys/master-next.key under that name and restart ' +
          'them; then: npx carillon secret rotate --finish'
      : 'both keys are accepted. Put the new one where the processes take theirs from, restart every role, and then: npx carillon secret rotate --finish';
  }
  return cancel
    ? 'one key is accepted; the new one is refused'
    : 'one key is accepted; any other is refused at the next start';
}
