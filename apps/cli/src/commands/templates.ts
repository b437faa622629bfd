import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryBody, TemplatePreviewBody, TestSentBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type Client, type CommonOptions } from '../client.ts';
import { CommandError, UsageError } from '../failure.ts';
import { messageLines } from '../message-lines.ts';
import { clean, paint, paintState } from '../output.ts';
import { answer, command, needs } from './api-command.ts';
import { readText } from './read-text.ts';

type RenderingOptions = CommonOptions & {
  readonly event: string;
  readonly locale?: string;
  readonly timeZone?: string;
};
type PreviewOptions = RenderingOptions & {
  readonly channel?: string;
  readonly items?: string;
  readonly html?: boolean;
  readonly full?: boolean;
};
type TestSendOptions = RenderingOptions & {
  readonly channel: string;
  readonly to: string;
  readonly wait: string;
};

/** With what a template is rendered that no event on the log and no recipient says. */
const renderedWith = (named: Command): Command =>
  needs(named, '--event <file>', 'file with the event as JSON; - for standard input')
    .option('--locale <locale>', 'language, such as de-AT (default: that of the event or the workspace)')
    .option('--time-zone <zone>', 'time zone, such as Europe/Vienna');
const wordsOf = ({ event, locale, timeZone }: RenderingOptions) => ({
  event: readText(event),
  ...(locale !== undefined && { locale }),
  ...(timeZone !== undefined && { time_zone: timeZone }),
});

export function templateCommands(program: Command): void {
  const template = program.command('template').description('templates: preview, test-send');
  renderedWith(command(template, 'preview <template>', 'render a template with an event, exactly as it would be sent'))
    .option('--channel <channel>', 'only this channel: email, sms or push')
    .option('--items <number>', 'render a digest with this number of copies of the event; 0: a single message')
    .option('--html', 'print HTML bodies too')
    .option('--full', 'print long texts in full')
    .action(async (name: string, options: PreviewOptions) => {
      const items = options.items === undefined ? undefined : Number(options.items);
      if (items !== undefined && !(Number.isInteger(items) && items >= 0 && items <= 500)) {
        throw new UsageError('--items takes a number from 0 to 500');
      }
      const asked = {
        ...wordsOf(options),
        ...(options.channel !== undefined && { channel: options.channel }),
        ...(items !== undefined && { items }),
      };
      await answer(
        options,
        async (client) => {
          const path = `/v1/workspaces/${seg(await client.workspace())}/templates/${seg(name)}/preview`;
          return client.post<TemplatePreviewBody>(path, asked);
        },
        (body) => showPreview(body, options),
      );
    });

  const testSend = renderedWith(
    command(
      template,
      'test-send <notification>',
      'send one message, marked as a test, with the account that real messages use',
    ),
  );
  needs(testSend, '--channel <channel>', 'email, sms or push');
  needs(testSend, '--to <address>', 'recipient: an address of the channel')
    .option('--wait <seconds>', 'seconds to wait for the result', '30')
    .action(async (name: string, options: TestSendOptions) => {
      const wait = Number(options.wait);
      if (!(wait >= 0 && wait <= 3600)) throw new UsageError('--wait takes seconds, from 0 to 3600');
      const asked = { ...wordsOf(options), channel: options.channel, to: options.to };
      await answer(
        options,
        async (client) => {
          const path = `/v1/workspaces/${seg(await client.workspace())}`;
          const sent = await client.post<TestSentBody>(`${path}/notifications/${seg(name)}/test-send`, asked);
          return { ...sent, delivery: await endOf(client, `${path}/deliveries/${sent.delivery_id}`, wait * 1000) };
        },
        showSent,
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

const POLL_INTERVAL_MS = 250;
/** States in which something is still to come by itself. */
const UNDER_WAY: ReadonlySet<string> = new Set(['WAITING', 'SENDING']);

/** Returns the delivery when it has ended, or its state after the waiting time. Null if it is not in the ledger yet. */
async function endOf(client: Client, path: string, wait: number): Promise<DeliveryBody | null> {
  const until = Date.now() + wait;
  for (;;) {
    const delivery = await client.get<DeliveryBody>(path).catch((error: unknown) => {
      // The message is on the log and will be processed in a moment.
      if (error instanceof CommandError && error.problem?.code === 'not_found') return null;
      throw error;
    });
    const isOver = delivery !== null && !UNDER_WAY.has(delivery.state);
    if (isOver || Date.now() >= until) return delivery;
    await pause(Math.min(POLL_INTERVAL_MS, Math.max(1, until - Date.now())));
  }
}

function showSent({
  delivery_id: id,
  channel,
  to,
  notes,
  delivery,
}: TestSentBody & { delivery: DeliveryBody | null }): string {
  const what = `test message to ${clean(to)} by ${channel}`;
  const story = [...notes.map((note) => paint('yellow', clean(note))), paint('dim', `npx carillon trace ${id}`)].join(
    '\n',
  );
  if (delivery === null) return `${what}: not evaluated yet\n${story}`;
  const why = delivery.detail === '' ? delivery.sentence : `${delivery.sentence}: ${delivery.detail}`;
  return `${what}: ${paintState(delivery.state)} (${clean(why)})\n${story}`;
}
