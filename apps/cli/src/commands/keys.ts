import type { ApiKeyBodyShown } from '@carillon/contracts';
import { parseDuration } from '@carillon/kernel';
import type { Command } from 'commander';
import { seg, type CommonOptions } from '../client.ts';
import { clean, paint, table } from '../output.ts';
import { answer, command, readWhole } from './api-command.ts';

/** A key belongs to a workspace, which it may be the first thing in: then it has to be named. */
export function keyCommands(program: Command): void {
  const keys = program.command('api-key').description('API keys of event streams: create, list, revoke');

  command(keys, 'create <name>', 'create a key; it is shown only once')
    .option('--new-workspace', 'create the workspace if it does not exist')
    .option('--expires <when>', 'expiry: a duration such as 90d, or an RFC 3339 time (default: never)')
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

  command(keys, 'list', 'list keys, without their secrets').action(async (options: CommonOptions) => {
    let isWide = false;
    await answer(
      options,
      async (client) => {
        isWide = await client.isWide();
        return readWhole<ApiKeyBodyShown>(client, `/v1/workspaces/${seg(client.reach)}/api-keys`);
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

  command(keys, 'revoke <name>', 'revoke a key, within two seconds everywhere').action(
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
