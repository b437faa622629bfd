import type { DeliveryBody, DroppedPage, EventBody, DeadLetterBody, SuppressionBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { connect, seg, type Client, type CommonOptions, type Page } from '../client.ts';
import { UsageError } from '../failure.ts';
import { clean, jsonText, paint, paintState, say, shortTime, table } from '../output.ts';
import { answer, command, follow } from './answering.ts';
import { fieldsCommand } from './rule-sample.ts';

type ListOptions = CommonOptions & {
  readonly recipient?: string;
  readonly state?: string;
  readonly uniqueId?: string;
  readonly event?: string;
  readonly notification?: string;
  readonly since?: string;
  readonly stream?: string;
  readonly limit: string;
  readonly cursor?: string;
  readonly follow?: boolean;
  readonly dropped?: boolean;
};

/** Of a duplicate the delivery that holds its slot, which `trace` takes, and the event that asked again. */
const deliveryRow = (one: DeliveryBody): string[] => [
  shortTime(one.created_at),
  one.duplicate_of ?? one.id,
  one.state,
  one.reason,
  one.channel,
  one.to ?? '(no address)',
  one.rule,
  one.event_id,
];
/** The list is in the order of its first column. */
const DELIVERY_HEAD = ['created', 'delivery', 'state', 'reason', 'channel', 'to', 'rule', 'event'];

/** `2h` ago, or a time. */
function sinceTime(text: string | undefined): string | undefined {
  const parts = text === undefined ? null : /^(\d+)([smhdw])$/.exec(text);
  if (!parts) return text;
  const unit = { s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 }[parts[2] as 's'];
  return new Date(Date.now() - Number(parts[1]) * unit).toISOString();
}

async function listDeliveries(client: Client, options: ListOptions): Promise<Page<DeliveryBody>> {
  const workspace = await client.workspace();
  return client.get(`/v1/workspaces/${seg(workspace)}/deliveries`, {
    to: options.recipient,
    state: options.state?.toUpperCase(),
    unique_id: options.uniqueId,
    event: options.event,
    notification: options.notification,
    since: sinceTime(options.since),
    limit: options.limit,
    cursor: options.cursor,
  });
}

/** Who has no delivery because a rule dropped him: each with the event whose story names the cause. */
async function listDropped(options: ListOptions): Promise<void> {
  const others = (['recipient', 'state', 'uniqueId', 'event', 'notification', 'cursor', 'follow'] as const).filter(
    (name) => options[name] !== undefined,
  );
  if (others.length > 0) throw new UsageError('--dropped goes with --since and --limit alone');
  await answer(
    options,
    async (client) =>
      client.get<DroppedPage>(`/v1/workspaces/${seg(await client.workspace())}/dropped`, {
        since: sinceTime(options.since),
        limit: options.limit,
      }),
    ({ items, complete }) => {
      const more = complete ? '' : `\n${paint('dim', 'there may be more: --limit, or --since a shorter time')}`;
      if (items.length === 0) return paint('dim', 'nobody was dropped') + more;
      const rows = items.map((one) => [shortTime(one.at), one.rule, one.who, one.reason, one.event_id, one.detail]);
      return table(rows, ['time', 'rule', 'who', 'reason', 'event', 'why']) + more;
    },
  );
}

async function act(options: CommonOptions, id: string, action: string, body: object, done: string): Promise<void> {
  await answer(
    options,
    async (client) => {
      const workspace = await client.workspace();
      return client.post<DeliveryBody>(`/v1/workspaces/${seg(workspace)}/deliveries/${seg(id)}/${action}`, body);
    },
    (one) => `${one.id} ${done}: ${paintState(one.state)} (${one.reason})`,
  );
}

export function deliveryCommands(program: Command): void {
  const deliveries = command(program, 'deliveries', 'list deliveries, newest first')
    .option('--recipient <address>', 'only to this address')
    .option('--state <state>', 'only in this state, such as IN_DOUBT')
    .option('--unique-id <id>', 'only of this unique_id')
    .option('--event <id>', 'only caused by this event')
    .option('--notification <name>', 'only of this notification')
    .option('--since <time>', 'only since: 2h, or an RFC 3339 time')
    .option('--limit <n>', 'at most so many', '50')
    .option('--cursor <cursor>', 'the page after')
    .option('--follow', 'go on printing what changes')
    .option(
      '--dropped',
      'whom rules did not tell for an error, a limit or an invalid item; of the last day, or --since',
    )
    .action(async (options: ListOptions) => {
      if (options.dropped) return listDropped(options);
      if (options.follow) {
        const client = connect(options);
        return follow(
          (cursor) => listDeliveries(client, { ...options, ...(cursor !== undefined && { cursor }) }),
          (one) => `${one.id} ${one.state} ${one.updated_at}`,
          (one) => (options.json ? say(jsonText(one)) : say(deliveryRow(one).map(clean).join('  '))),
        );
      }
      await answer(
        options,
        (client) => listDeliveries(client, options),
        (page) => {
          if (page.items.length === 0) return paint('dim', 'no deliveries');
          const more = page.next === null ? '' : `\n${paint('dim', `more: --cursor ${page.next}`)}`;
          return table(page.items.map(deliveryRow), DELIVERY_HEAD) + more;
        },
      );
      return undefined;
    });

  command(deliveries, 'resend <id>', 'send it again (FAILED, EXPIRED, CANCELLED or IN_DOUBT)').action(
    (id: string, _local: unknown, self: Command) => act(self.optsWithGlobals(), id, 'resend', {}, 'will be sent again'),
  );
  command(deliveries, 'cancel <id>', 'call it off while it waits').action(
    (id: string, _local: unknown, self: Command) => act(self.optsWithGlobals(), id, 'cancel', {}, 'called off'),
  );
  command(deliveries, 'dismiss <id>', 'end a doubt by what you know')
    .requiredOption('--as <failed|sent>', 'what it turned out to be')
    .requiredOption('--reason <text>', 'how you know')
    .action((id: string, _local: unknown, self: Command) => {
      const options: CommonOptions & { as: string; reason: string } = self.optsWithGlobals();
      if (options.as !== 'failed' && options.as !== 'sent') throw new UsageError('--as takes failed or sent');
      return act(options, id, 'dismiss', { as: options.as, reason: options.reason }, 'dismissed');
    });
}

export function eventCommands(program: Command): void {
  const list = async (client: Client, options: ListOptions): Promise<Page<EventBody>> =>
    client.get(`/v1/workspaces/${seg(await client.workspace())}/events`, {
      stream: options.stream,
      since: sinceTime(options.since),
      limit: options.limit,
      cursor: options.cursor,
    });
  const row = (one: EventBody): string[] => [shortTime(one.at), one.id, one.stream, `${one.bytes} B`, one.position];

  const events = command(program, 'events', 'list events received, newest first')
    .option('--stream <path>', 'only of this EVENT_PATH')
    .option('--since <time>', 'only since: 2h, or an RFC 3339 time')
    .option('--limit <n>', 'at most so many', '50')
    .option('--cursor <cursor>', 'the page after')
    .option('--follow', 'go on printing what comes')
    .action(async (options: ListOptions) => {
      if (options.follow) {
        const client = connect(options);
        return follow(
          (cursor) => list(client, { ...options, ...(cursor !== undefined && { cursor }) }),
          (one) => one.position,
          (one) => say(options.json ? jsonText(one) : row(one).map(clean).join('  ')),
        );
      }
      await answer(
        options,
        (client) => list(client, options),
        (page) =>
          page.items.length === 0
            ? paint('dim', 'no events')
            : table(page.items.map(row), ['received', 'event', 'stream', 'size', 'position']) +
              (page.next === null ? '' : `\n${paint('dim', `more: --cursor ${page.next}`)}`),
      );
      return undefined;
    });

  fieldsCommand(events);
}

export function deadLetterCommands(program: Command): void {
  const letters = command(program, 'dead-letters', 'list records that could not be processed')
    .option('--limit <n>', 'at most so many', '50')
    .option('--cursor <cursor>', 'the page after')
    .action(async (options: ListOptions) => {
      await answer(
        options,
        (client) =>
          client.get<Page<DeadLetterBody>>('/v1/dead-letters', { limit: options.limit, cursor: options.cursor }),
        (page) =>
          page.items.length === 0
            ? paint('dim', 'no dead letters')
            : table(
                page.items.map((one) => [
                  shortTime(one.at),
                  one.id,
                  one.stage,
                  one.position,
                  one.redriven_at ? 'redriven' : '',
                  one.reason,
                ]),
                ['at', 'dead letter', 'stage', 'record', '', 'reason'],
              ),
      );
    });
  command(letters, 'redrive <id>', 'append the record again, with its own id').action(
    async (id: string, _local: unknown, self: Command) => {
      await answer(
        self.optsWithGlobals<CommonOptions>(),
        (client) => client.post<DeadLetterBody>(`/v1/dead-letters/${seg(id)}/redrive`),
        (one) => `${one.id} was appended again; if its cause is still there it comes back here`,
      );
    },
  );
}

export function suppressionCommands(program: Command): void {
  const suppressions = program.command('suppressions').description('suppressed addresses: list, remove');
  command(suppressions, 'list', 'list suppressed addresses')
    .option('--limit <n>', 'at most so many', '50')
    .action(async (options: ListOptions) => {
      await answer(
        options,
        async (client) =>
          client.get<Page<SuppressionBody>>(`/v1/workspaces/${seg(await client.workspace())}/suppressions`, {
            limit: options.limit,
          }),
        (page) =>
          page.items.length === 0
            ? paint('dim', 'no suppressed addresses')
            : table(
                page.items.map((one) => [shortTime(one.at), one.channel, one.address, one.source, one.detail]),
                ['since', 'channel', 'address', 'source', 'detail'],
              ),
      );
    });
  command(suppressions, 'remove <address>', 'allow an address again')
    .option('--channel <channel>', 'email, sms or push', 'email')
    .action(async (address: string, options: CommonOptions & { channel: string }) => {
      await answer(
        options,
        async (client) => {
          const workspace = await client.workspace();
          const body = { channel: options.channel, address };
          return client.post(`/v1/workspaces/${seg(workspace)}/suppressions/remove`, body);
        },
        () => `${clean(address)} may be sent to again`,
      );
    });
}
