import { resolve } from 'node:path';
import type { CheckBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type CommonOptions } from '../client.ts';
import { clean } from '../output.ts';
import { answer, command } from './api-command.ts';
import { failIfAny, showChecks } from './check-text.ts';
import { integrationCommands } from './integrations.ts';
import { mendCommand } from './mend.ts';
import { restoreCommand } from './restore.ts';

export function operationCommands(program: Command): void {
  const account = program.command('account').description('provider accounts: check');
  command(
    account,
    'check <name>',
    "connect and sign in to a provider account, without sending; 'default' is the deployment's",
  ).action(async (name: string, options: CommonOptions) => {
    const body = await answer(
      options,
      (client) => client.post<CheckBody>(`/v1/workspaces/${seg(client.reach)}/accounts/${seg(name)}/check`),
      showChecks,
    );
    failIfAny(body);
  });

  integrationCommands(program);

  command(program, 'doctor', 'check configuration, stores, indexes, providers and clock').action(
    async (options: CommonOptions) => {
      failIfAny(await answer(options, (client) => client.post<CheckBody>('/v1/doctor'), showChecks));
    },
  );

  command(program, 'backup <file>', 'write a consistent copy of the embedded data with its keys (mode 0600)').action(
    async (file: string, options: CommonOptions) => {
      await answer(
        options,
        (client) => client.post<{ file: string; bytes: number }>('/v1/backup', { file: resolve(file) }),
        (body) =>
          `${clean(body.file)}, ${body.bytes} bytes; it holds the keys of this deployment: keep it as safe as them`,
      );
    },
  );

  restoreCommand(program);
  mendCommand(program);
}
