import { readFileSync } from 'node:fs';
import type { CheckBody, JwtProviderBodyShown } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type CommonOptions } from '../client.ts';
import { paint, table } from '../output.ts';
import { answer, command } from './api-command.ts';
import { failIfAny, showChecks } from './check-text.ts';
import { readText } from './read-text.ts';

/** Providers are written as files; these commands look at what is there. */
export function jwtProviderCommands(program: Command): void {
  const providers = program
    .command('jwt-provider')
    .description('identity providers whose tokens may send events: list, check');

  command(providers, 'list', 'list JWT providers').action(async (options: CommonOptions) => {
    let isWide = false;
    await answer(
      options,
      async (client) => {
        isWide = await client.isWide();
        return client.get<{ readonly items: readonly JwtProviderBodyShown[] }>(
          `/v1/workspaces/${seg(client.reach)}/jwt-providers`,
        );
      },
      ({ items }) =>
        items.length === 0
          ? paint('dim', 'no JWT providers: write jwt-providers/<name>.yaml and apply')
          : table(
              items.map((one) => [
                ...(isWide ? [one.workspace] : []),
                one.name,
                one.jwks_url,
                one.issuer ?? 'any',
                one.audiences.join(', ') || 'any',
                one.used_by.join(', '),
              ]),
              [...(isWide ? ['workspace'] : []), 'name', 'keys', 'issuer', 'audience', 'used by'],
            ),
    );
  });

  command(providers, 'check <name>', 'fetch the keys of a JWT provider and verify a token, explaining each step')
    .option(
      '--token-file <file>',
      'file with a token to verify; - is standard input. Without a token, only the keys are fetched',
    )
    .action(async (name: string, options: CommonOptions & { tokenFile?: string }) => {
      const token = readToken(options.tokenFile);
      const body = await answer(
        options,
        (client) =>
          client.post<CheckBody>(`/v1/workspaces/${seg(client.reach)}/jwt-providers/${seg(name)}/check`, {
            ...(token !== '' && { token }),
          }),
        showChecks,
      );
      failIfAny(body);
    });
}

/** Never an argument: those are seen in process lists and histories. A copied `Bearer ` in front does no harm. */
function readToken(file: string | undefined): string {
  const text = file === undefined ? pipedText() : readText(file);
  return text.trim().replace(/^(?:authorization: *)?bearer +/i, '');
}

function pipedText(): string {
  if (process.stdin.isTTY) return '';
  try {
    return readFileSync(0, 'utf8');
  } catch {
    // The server is unreachable, so no hint is possible.
    return '';
  }
}
