import type { OwnerLinkBody } from '@carillon/contracts';
import type { Command } from 'commander';
import type { CommonOptions } from '../client.ts';
import { zonedTime } from '../output.ts';
import { answer, command } from './api-command.ts';

/** `carillon owner-link`: for whoever has the data folder, or the owner token. */
export function ownerLinkCommand(program: Command): void {
  command(program, 'owner-link', 'create a link that signs an owner in to the portal, once, within 15 minutes')
    .option('--email <address>', 'address of the owner who signs in; needed if there are several')
    .action(async (options: CommonOptions & { email?: string }) => {
      await answer(
        options,
        async (client) => {
          const { email } = options;
          const asked = email === undefined ? {} : { email };
          const { word, ends_at } = await client.post<OwnerLinkBody>('/v1/owner-links', asked);
          return { url: `${client.url}/welcome#${word}`, ends_at };
        },
        ({ url, ends_at }) =>
          `${url}\nsigns in once, until ${zonedTime(ends_at)}; a link that was made before has ended`,
      );
    });
}
