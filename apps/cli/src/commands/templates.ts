import type { TemplatePreviewBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type CommonOptions } from '../client.ts';
import { messageLines } from '../message-lines.ts';
import { paint } from '../output.ts';
import { answer, command } from './answering.ts';
import { readText } from './rules.ts';

type PreviewOptions = CommonOptions & {
  readonly event: string;
  readonly channel?: string;
  readonly html?: boolean;
  readonly full?: boolean;
};

export function templateCommands(program: Command): void {
  const template = program.command('template').description('look at what templates make');
  command(template, 'preview <template>', 'what a template makes of an event, exactly as it would be sent')
    .requiredOption('--event <file>', 'file with the event as JSON; - for standard input')
    .option('--channel <channel>', 'only on this channel: email, sms or push')
    .option('--html', 'print HTML bodies too')
    .option('--full', 'print long texts whole')
    .action(async (name: string, options: PreviewOptions) => {
      const event = readText(options.event);
      await answer(
        options,
        async (client) => {
          const path = `/v1/workspaces/${seg(await client.workspace())}/templates/${seg(name)}/preview`;
          return client.post<TemplatePreviewBody>(path, {
            event,
            ...(options.channel !== undefined && { channel: options.channel }),
          });
        },
        (body) => showPreview(body, options),
      );
    });
}

const showPreview = (
  { template, version, messages }: TemplatePreviewBody,
  { html = false, full = false }: PreviewOptions,
): string =>
  [
    `${paint('bold', template)} version ${version}`,
    ...messages.flatMap((message) => ['', ...messageLines(message, html, full)]),
  ].join('\n');
