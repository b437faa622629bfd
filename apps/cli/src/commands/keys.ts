import type { ApiKeyBodyShown, SecretBody } from '@carillon/contracts';
import { parseDuration } from '@carillon/kernel';
import type { Command } from 'commander';
import { namedWorkspace, seg, type CommonOptions } from '../client.ts';
import { UsageError } from '../failure.ts';
import { clean, paint, table } from '../output.ts';
import { answer, command } from './answering.ts';

type Items<T> = { readonly items: readonly T[] };

/** A key belongs to a workspace, which it may be the first thing in: then it has to be named. */
export function keyCommands(program: Command): void {
  const keys = program.command('api-key').description('API keys of event streams: create, list, revoke');

  command(keys, 'create <name>', 'make a key; it is shown this once')
    .option('--new-workspace', 'make the workspace too; without it, one that is not there is refused')
    .option('--expires <when>', 'refused after this duration (90d) or RFC 3339 time; left out: never')
    .action(async (name: string, options: CommonOptions & { expires?: string; newWorkspace?: boolean }) => {
      await answer(
        options,
        async (client) =>
          client.post<{ name: string; key: string; expires_at: string | null }>(
            `/v1/workspaces/${seg(await client.workspace())}/api-keys`,
            { name, ...expiry(options.expires), ...(options.newWorkspace && { new_workspace: true }) },
          ),
        (body) => {
          const until = body.expires_at === null ? '' : `; it expires ${clean(body.expires_at)}`;
          const hint = `shown this once; streams take it once they name it: security: { api_keys: [${clean(body.name)}] }${until}`;
          return `${body.key}\n${paint('dim', hint)}`;
        },
      );
    });

  command(keys, 'list', 'list keys, never their secrets').action(async (options: CommonOptions) => {
    let isWide = false;
    await answer(
      options,
      async (client) => {
        isWide = await client.isWide();
        return client.get<Items<ApiKeyBodyShown>>(`/v1/workspaces/${seg(client.reach)}/api-keys`);
      },
      ({ items }) =>
        items.length === 0
          ? paint('dim', 'no API keys')
          : table(
              items.map((one) => [
                ...(isWide ? [one.workspace] : []),
                one.name,
                `cln_${one.key_id}_…`,
                one.created_at,
                one.expired ? 'expired' : (one.expires_at ?? 'never'),
                one.last_used_at ?? 'never',
                one.used_by.join(', '),
              ]),
              [...(isWide ? ['workspace'] : []), 'name', 'key', 'created', 'expires', 'last used', 'used by'],
            ),
    );
  });

  command(keys, 'revoke <name>', 'refuse the key everywhere within two seconds').action(
    async (name: string, options: CommonOptions) => {
      await answer(
        options,
        async (client) => client.delete(`/v1/workspaces/${seg(await client.workspace())}/api-keys/${seg(name)}`),
        () => `${clean(name)} is revoked`,
      );
    },
  );
}

const expiry = (when: string | undefined): Readonly<Record<string, string>> =>
  when === undefined ? {} : parseDuration(when).ok ? { expires_in: when } : { expires_at: when };

export function secretCommands(program: Command): void {
  const secrets = program
    .command('secret')
    .description('secrets that files name by { secret: NAME }: set, list, remove');
  const deployment = '--deployment';

  command(secrets, 'set <name>', 'store a secret, read from standard input')
    .option(deployment, "for the deployment's own accounts (carillon.yaml)")
    .action(async (name: string, options: CommonOptions & { deployment?: boolean }) => {
      const value = await readSecret(name);
      await answer(
        options,
        async (client) => {
          const workspace = options.deployment ? '' : await client.workspace();
          return client.post<SecretBody>('/v1/secrets', { workspace, name, value });
        },
        (body) => `${clean(body.name)} is stored, sealed (fingerprint ${clean(body.fingerprint)})`,
      );
    });

  command(secrets, 'list', 'list names and fingerprints, never values').action(async (options: CommonOptions) => {
    await answer(
      options,
      async (client) => {
        const { items } = await client.get<Items<SecretBody>>('/v1/secrets');
        const workspace = namedWorkspace(options);
        return { items: items.filter((one) => workspace === undefined || one.workspace === workspace) };
      },
      ({ items }) =>
        items.length === 0
          ? paint('dim', 'no stored secrets')
          : table(
              items.map((one) => [
                one.workspace === '' ? '(deployment)' : one.workspace,
                one.name,
                one.fingerprint,
                one.updated_at,
              ]),
              ['workspace', 'name', 'fingerprint', 'updated'],
            ),
    );
  });

  command(secrets, 'remove <name>', 'forget a stored secret')
    .option(deployment, "one of the deployment's own")
    .action(async (name: string, options: CommonOptions & { deployment?: boolean }) => {
      await answer(
        options,
        async (client) => {
          const workspace = options.deployment ? '' : await client.workspace();
          return client.post('/v1/secrets/remove', { workspace, name });
        },
        () => `${clean(name)} is forgotten`,
      );
    });
}

/** From a pipe, or typed without being shown. Never an argument: those are seen in process lists and histories. */
async function readSecret(name: string): Promise<string> {
  if (!process.stdin.isTTY) {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    const value = Buffer.concat(chunks)
      .toString('utf8')
      .replace(/\r?\n$/, '');
    if (value === '') throw new UsageError('standard input is empty: pipe the value in');
    return value;
  }
  process.stderr.write(`${name}: `);
  process.stdin.setRawMode(true);
  process.stdin.resume();
  let value = '';
  for await (const chunk of process.stdin) {
    for (const char of (chunk as Buffer).toString('utf8')) {
      if (char === '\u0003') throw new UsageError('nothing was stored');
      if (char === '\r' || char === '\n') {
        process.stdin.setRawMode(false);
        process.stdin.pause();
        process.stderr.write('\n');
        if (value === '') throw new UsageError('nothing was typed');
        return value;
      }
      value = char === '\u007f' ? value.slice(0, -1) : value + char;
    }
  }
  throw new UsageError('nothing was typed');
}
