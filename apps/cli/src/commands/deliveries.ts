import type { DeadLetterBody, DeliveryBody, DroppedPage, EventBody, ParkedReceiptBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { connect, seg, type Client, type CommonOptions, type Page } from '../client.ts';
import { UsageError } from '../failure.ts';
import { clean, jsonText, paint, paintState, say, shortTime, showTimesIn, table } from '../output.ts';
import { answer, command, follow, needs, pageText } from './api-command.ts';
import { answerNamed } from './person-names.ts';
import { actOnMany, type BulkOptions } from './bulk.ts';
import { fieldsCommand } from './stream-fields.ts';

type ListOptions = CommonOptions & {
  readonly recipient?: string;
  readonly state?: string;
  readonly reason?: string;
  readonly channel?: string;
  readonly rule?: string;
  readonly person?: string;
  readonly uniqueId?: string;
  readonly event?: string;
  readonly notification?: string;
  readonly since?: string;
  readonly stream?: string;
  readonly limit: string;
  readonly cursor?: string;
  readonly follow?: boolean;
  readonly dropped?: boolean;
  readonly test?: boolean;
};

/** A duplicate shows the delivery that holds its slot, which `trace` takes, and the event that asked again. */
const deliveryRow = (one: DeliveryBody, isWide: boolean): string[] => [
  shortTime(one.created_at),
  ...(isWide ? [one.workspace] : []),
  one.duplicate_of ?? one.id,
  one.state,
  one.reason,
  one.channel,
  one.to ?? '(no address)',
  one.rule ?? `${one.notification} (test)`,
  one.event_id ?? `by ${one.test_by ?? 'somebody'}`,
];
/** The list is in the order of its first column. */
const deliveryHead = (isWide: boolean): string[] => [
  'created',
  ...(isWide ? ['workspace'] : []),
  'delivery',
  'state',
  'reason',
  'channel',
  'to',
  'rule',
  'event',
];

const filterOf = (options: ListOptions): Readonly<Record<string, string | undefined>> => ({
  recipient: options.recipient,
  state: options.state?.toUpperCase(),
  reason: options.reason,
  channel: options.channel,
  rule: options.rule,
  person: options.person,
  unique_id: options.uniqueId,
  event: options.event,
  notification: options.notification,
  test: options.test ? 'true' : undefined,
  from: options.since,
});

function listDeliveries(client: Client, options: ListOptions): Promise<Page<DeliveryBody>> {
  const { limit, cursor } = options;
  return client.get(`/v1/workspaces/${seg(client.reach)}/deliveries`, { ...filterOf(options), limit, cursor });
}

/** Throws `not_found` where nobody knows the event. */
const refuseUnknownEvent = (client: Client, id: string): Promise<unknown> =>
  client.get(`/v1/workspaces/${seg(client.reach)}/events/${seg(id)}/trace`, { limit: 1 });

/** With `--dropped`; it has all others of the list refused. */
const DROPPED_OPTIONS: ReadonlySet<string> = new Set([
  'dropped',
  'since',
  'limit',
  'cursor',
  'json',
  'url',
  'dataDir',
  'workspace',
]);

/** Lists people without a delivery because a rule dropped them, each with the event whose trace shows the cause. */
async function listDropped(options: ListOptions): Promise<void> {
  const others = Object.keys(options).filter((name) => !DROPPED_OPTIONS.has(name));
  if (others.length > 0) throw new UsageError('--dropped can be combined only with --since, --limit and --cursor');
  let isWide = false;
  await answer(
    options,
    async (client) => {
      isWide = await client.isWide();
      const wanted = { from: options.since, limit: options.limit, cursor: options.cursor };
      return client.get<DroppedPage>(`/v1/workspaces/${seg(client.reach)}/dropped`, wanted);
    },
    ({ items, next, complete }) => {
      const way = next === null ? 'there may be older ones that were not searched' : `more: --cursor ${next}`;
      const more = complete ? '' : `\n${paint('dim', way)}`;
      if (items.length === 0) return paint('dim', 'nobody was dropped') + more;
      const rows = items.map((one) => [
        shortTime(one.at),
        ...(isWide ? [one.workspace] : []),
        one.rule,
        one.who,
        one.reason,
        one.event_id,
        one.detail,
      ]);
      return table(rows, ['time', ...(isWide ? ['workspace'] : []), 'rule', 'who', 'reason', 'event', 'why']) + more;
    },
  );
}

type ActOptions = ListOptions & BulkOptions;
type Action = { readonly name: string; readonly body?: object; readonly done: string; readonly words: string };

/** Decides about one delivery at once. Several deliveries, or all that match the filters, are a job. */
async function act(
  options: ActOptions,
  ids: readonly string[],
  { name, body = {}, done, words }: Action,
): Promise<void> {
  const [id] = ids;
  if (id === undefined && !options.all) throw new UsageError('name the deliveries, or pass --all with filters');
  if (options.dropped || options.follow || options.cursor)
    throw new UsageError('--dropped, --follow and --cursor work only for deliveries list');
  if (id === undefined || ids.length > 1 || options.all) {
    return actOnMany(options, ids, {
      things: 'deliveries',
      action: name,
      words,
      filter: filterOf(options),
      more: body,
    });
  }
  await answer(
    options,
    (client) => client.post<DeliveryBody>(`/v1/workspaces/${seg(client.anywhere)}/deliveries/${seg(id)}/${name}`, body),
    (one) => `${one.id} ${done}: ${paintState(one.state)} (${one.reason})`,
  );
  return undefined;
}

/** Options of an action on one or many. */
const manyOptions = (one: Command, what: string): Command =>
  one
    .option('--all', `all items that match the filters: ${what}`)
    .option('--yes', 'do not ask for confirmation')
    .option('--no-wait', 'start the job and do not wait for its end');

const filterOptions = (one: Command): Command =>
  one
    .option('--recipient <address>', 'only addresses that start with this text')
    .option('--person <person>', 'only this person')
    .option('--state <state>', 'only in this state, such as IN_DOUBT')
    .option('--channel <channel>', 'only this channel: email, sms or push')
    .option('--rule <rule>', 'only this rule (notification.rule)')
    .option('--unique-id <id>', 'only this unique_id')
    .option('--event <id>', 'only messages of this event')
    .option('--notification <name>', 'only this notification')
    .option('--test', 'only test messages')
    .option('--since <time>', 'only at or after this time: 2h, yesterday, a date, or RFC 3339');

const withReason = (one: Command): Command =>
  one.option('--reason <reason>', 'only for this reason, such as opted_out');

export function deliveryCommands(program: Command): void {
  const deliveries = withReason(filterOptions(command(program, 'deliveries', 'list deliveries, newest first')))
    // Filters may come before or after the action's name. `--reason` after `dismiss` is the reason of the dismissal.
    .enablePositionalOptions()
    .option('--limit <n>', 'maximum number of entries', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .option('--follow', 'keep printing changes until Ctrl+C')
    .option(
      '--dropped',
      'people dropped by a rule because of an error, a limit or an invalid item (last day, or --since)',
    )
    .action(async (options: ListOptions) => {
      if (options.dropped) return listDropped(options);
      if (options.follow) {
        const client = connect(options);
        if (!options.json) showTimesIn(await client.zone());
        const isWide = await client.isWide();
        return follow(
          (cursor) => listDeliveries(client, { ...options, ...(cursor !== undefined && { cursor }) }),
          { keyOf: (one) => `${one.id} ${one.state} ${one.updated_at}`, timeOf: (one) => one.created_at },
          (one) => (options.json ? say(jsonText(one)) : say(deliveryRow(one, isWide).map(clean).join('  '))),
        );
      }
      let isWide = false;
      await answer(
        options,
        async (client) => {
          isWide = await client.isWide();
          const page = await listDeliveries(client, options);
          // A program may ask before the event shows, and again; a person has mistaken the id.
          if (page.items.length === 0 && options.event && !options.json)
            await refuseUnknownEvent(client, options.event);
          return page;
        },
        (page) => pageText(page, 'no deliveries', (one) => deliveryRow(one, isWide), deliveryHead(isWide)),
      );
      return undefined;
    });

  manyOptions(
    withReason(
      filterOptions(
        command(deliveries, 'resend [ids...]', 'send deliveries again that are FAILED, EXPIRED, CANCELLED or IN_DOUBT'),
      ),
    ),
    'deliveries resend --all --state FAILED --since 1h',
  ).action((ids: string[], _local: unknown, self: Command) =>
    act(self.optsWithGlobals(), ids, {
      name: 'resend',
      done: 'will be sent again',
      words: 'can be sent again',
    }),
  );
  manyOptions(
    withReason(filterOptions(command(deliveries, 'cancel [ids...]', 'cancel deliveries that still wait'))),
    'deliveries cancel --all --notification order-paid',
  ).action((ids: string[], _local: unknown, self: Command) =>
    act(self.optsWithGlobals(), ids, { name: 'cancel', done: 'called off', words: 'can be called off' }),
  );
  const dismiss = filterOptions(
    command(deliveries, 'dismiss [ids...]', 'end deliveries in doubt with the result that you know'),
  );
  needs(dismiss, '--as <failed|sent>', 'the real result');
  needs(dismiss, '--reason <text>', 'how you know the result');
  manyOptions(dismiss, 'deliveries dismiss --all --since 1h --as sent --reason …').action(
    (ids: string[], local: { as: string; reason: string }, self: Command) => {
      const { as, reason } = local;
      if (as !== 'failed' && as !== 'sent') throw new UsageError('--as must be failed or sent');
      const { reason: _own, ...options } = self.optsWithGlobals<ActOptions>();
      // The reason of a filter stands before the action.
      const filtered = self.parent?.opts<ListOptions>().reason;
      return act({ ...options, ...(filtered !== undefined && { reason: filtered }) }, ids, {
        name: 'dismiss',
        body: { as, reason },
        done: 'dismissed',
        words: 'can be dismissed',
      });
    },
  );
}

export function eventCommands(program: Command): void {
  const list = (client: Client, options: ListOptions): Promise<Page<EventBody>> =>
    client.get(`/v1/workspaces/${seg(client.reach)}/events`, {
      stream: options.stream,
      from: options.since,
      limit: options.limit,
      cursor: options.cursor,
    });
  /** The stream's path begins with its workspace. */
  const row = (one: EventBody): string[] => [shortTime(one.at), one.id, one.stream, `${one.bytes} B`, one.position];

  const events = command(program, 'events', 'list events received, newest first')
    .option('--stream <path>', 'only this stream (EVENT_PATH)')
    .option('--since <time>', 'only at or after this time: 2h, yesterday, a date, or RFC 3339')
    .option('--limit <n>', 'maximum number of entries', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .option('--follow', 'keep printing new entries until Ctrl+C')
    .action(async (options: ListOptions) => {
      if (options.follow) {
        const client = connect(options);
        if (!options.json) showTimesIn(await client.zone());
        return follow(
          (cursor) => list(client, { ...options, ...(cursor !== undefined && { cursor }) }),
          { keyOf: (one) => one.position, timeOf: (one) => one.at },
          (one) => say(options.json ? jsonText(one) : row(one).map(clean).join('  ')),
        );
      }
      await answer(
        options,
        (client) => list(client, options),
        (page) => pageText(page, 'no events', row, ['received', 'event', 'stream', 'size', 'position']),
      );
      return undefined;
    });

  fieldsCommand(events);
}

function fateOfLetter({ redriven_at, redriven_by, dismissed_by }: DeadLetterBody): string {
  if (dismissed_by !== null) return `dismissed by ${clean(dismissed_by)}`;
  if (redriven_at === null) return '';
  return `redriven${redriven_by === null ? '' : ` by ${clean(redriven_by)}`}`;
}

/** Returns text such as "crm for cart.abandoned, 7 and 2 more". */
export function aboutLetter({ partner, rule, person, people, stage }: DeadLetterBody): string {
  const about = [partner, rule].filter((part) => part !== null).join(' for ');
  const more = people > 1 ? ` and ${people - 1} more` : '';
  const whom = person === null ? '' : `${person}${more}`;
  return [about, whom].filter((part) => part !== '').join(', ') || stage;
}

export function deadLetterCommands(program: Command): void {
  const letters = command(program, 'dead-letters', 'list records that could not be processed')
    .option('--limit <n>', 'maximum number of entries', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .action(async (options: ListOptions) => {
      let isWide = false;
      await answerNamed(
        options,
        async (client) => {
          isWide = await client.isWide();
          const { reach } = client;
          const wanted = { limit: options.limit, cursor: options.cursor };
          return client.get<Page<DeadLetterBody>>(`/v1/workspaces/${seg(reach)}/dead-letters`, wanted);
        },
        (page) =>
          pageText(
            page,
            'no dead letters',
            (one) => [
              shortTime(one.at),
              ...(isWide ? [one.workspace ?? '(none)'] : []),
              one.id,
              aboutLetter(one),
              one.event_id ?? one.position,
              fateOfLetter(one),
              one.reason,
            ],
            ['at', ...(isWide ? ['workspace'] : []), 'dead letter', 'about', 'event', '', 'reason'],
          ),
      );
    });
  manyOptions(
    command(letters, 'redrive [ids...]', 'process dead letters again, with their old ids').option(
      '--since <time>',
      'with --all: only at or after this time: 2h, yesterday, a date, or RFC 3339',
    ),
    'dead-letters redrive --all --since 1h',
  ).action(async (ids: string[], _local: unknown, self: Command) => {
    const options: ActOptions = self.optsWithGlobals();
    const [id] = ids;
    if (id === undefined && !options.all) throw new UsageError('name the dead letters, or pass --all');
    if (id === undefined || ids.length > 1 || options.all) {
      const filter = { from: options.since };
      return actOnMany(options, ids, { things: 'dead-letters', action: 'redrive', words: 'can be redriven', filter });
    }
    await answer(
      options,
      (client) => client.post<DeadLetterBody>(`/v1/dead-letters/${seg(id)}/redrive`),
      (one) =>
        `${one.id} is processed again. ${one.redrive ?? ''} If the cause remains, the record becomes a dead letter again.`,
    );
    return undefined;
  });
  dismissLettersCommand(letters);
}

/** Dismisses parked receipts and refused records of sources. Other dead letters are redriven. */
function dismissLettersCommand(letters: Command): void {
  command(letters, 'dismiss <ids...>', 'close dead letters of sources and receipts without processing them')
    .option('--no-wait', 'start the job and do not wait for its end')
    .action(async (ids: string[], _local: unknown, self: Command) => {
      const options: ActOptions = self.optsWithGlobals();
      const [id] = ids;
      if (id === undefined || ids.length > 1) {
        const nothing = { words: 'can be dismissed', filter: {} };
        return actOnMany(options, ids, { things: 'receipts', action: 'dismiss', ...nothing });
      }
      await answer(
        options,
        (client) =>
          client.post<ParkedReceiptBody>(`/v1/workspaces/${seg(client.anywhere)}/receipts/${seg(id)}/dismiss`),
        (one) => `${one.id} was dismissed by ${clean(one.dismissed_by ?? '')}`,
      );
      return undefined;
    });
}
