import type { EventBody, PersonBody, TraceBody, WhyBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type Client, type CommonOptions } from '../client.ts';
import { CommandError, UsageError } from '../failure.ts';
import { localTime } from '../local-time.ts';
import { clean, paint, paintState, shortTime, withTimes, zoneOfTimes } from '../output.ts';
import { runnable } from '../runnable.ts';
import { command } from './api-command.ts';
import { answerNamed } from './person-names.ts';
import { readContent, showContent, type Content } from './contents.ts';

type EventPage = { readonly items: readonly EventBody[] };
type TraceOptions = CommonOptions & {
  readonly to?: string;
  readonly limit?: string;
  readonly cursor?: string;
  readonly content?: boolean;
  readonly whole?: boolean;
};
type WhyOptions = CommonOptions & { readonly limit: string };

/** A W3C trace id, alone or in the `traceparent` that carries it. */
const TRACE = /^(?:[0-9a-f]{2}-)?[0-9a-f]{32}(?:-[0-9a-f]{16}-[0-9a-f]{2})?$/i;

export function storyCommands(program: Command): void {
  command(program, 'trace <id>', 'show what happened to an event, a delivery, or the event of a W3C trace')
    .option('--to <address>', 'for an event: only people whose address, person or unique_id starts with this text')
    .option('--limit <n>', 'for an event: maximum number of people (default: 100)')
    .option('--cursor <cursor>', 'for an event: next page of people')
    .option('--content', 'also show contents: event body, variables, the message rendered again')
    .option('--whole', 'with --content: print bodies in full')
    .action(async (id: string, options: TraceOptions) => {
      const kind = id.startsWith('dlv_')
        ? 'deliveries'
        : id.startsWith('evt_') || TRACE.test(id)
          ? 'events'
          : undefined;
      if (!kind) {
        const known = 'the id of an event (evt_…) or of a delivery (dlv_…), a W3C trace id or a traceparent';
        throw new UsageError(`trace takes ${known}, found ${clean(id)}`);
      }
      const { to, limit, cursor } = options;
      if (kind === 'deliveries' && [to, limit, cursor].some((one) => one !== undefined)) {
        throw new UsageError(
          '--to, --limit and --cursor select people of an event: leave them out for a delivery, which has one person',
        );
      }
      const isWhole = options.whole === true;
      if (isWhole && !options.content) throw new UsageError('--whole needs --content');
      await answerNamed(
        options,
        async (client) => {
          const told = TRACE.test(id) ? await eventOfTrace(client, id, options) : id;
          const path = `/v1/workspaces/${seg(client.anywhere)}`;
          const trace = await client.get<TraceBody>(`${path}/${kind}/${seg(told)}/trace`, {
            recipient: to,
            limit,
            cursor,
          });
          return options.content ? { ...trace, content: await readContent(client, path, trace, isWhole) } : trace;
        },
        (trace: TraceBody & { readonly content?: Content }) =>
          [
            showTrace(trace, { onlyPeople: cursor !== undefined, isFiltered: to !== undefined }),
            ...(trace.content ? showContent(trace.content, isWhole) : []),
          ].join('\n'),
      );
    });

  command(program, 'why <address> [notification]', 'show for each event why a person was notified or not')
    .option('--limit <n>', 'maximum number of lines, newest first', '50')
    .action(async (address: string, notification: string | undefined, options: WhyOptions) => {
      const limit = Number(options.limit);
      if (!Number.isInteger(limit) || limit < 1) throw new UsageError('--limit takes a number from 1');
      let isWide = false;
      await answerNamed(
        options,
        async (client) => {
          isWide = await client.isWide();
          return lookThrough(client, address, notification, limit);
        },
        (found) => showWhy(found, address, isWide),
      );
    });
}

/** Returns the only event of a trace. Throws with the list if a trace has several. */
async function eventOfTrace(client: Client, trace: string, options: CommonOptions): Promise<string> {
  const path = `/v1/workspaces/${seg(client.anywhere)}/events`;
  const { items } = await client.get<EventPage>(path, { trace_id: trace, limit: '20' });
  const [only, ...others] = [...new Set(items.map(({ id }) => id))];
  if (only === undefined) {
    throw new CommandError(`no listed event belongs to trace ${trace}; a new event is listed within a second`);
  }
  if (others.length === 0) return only;
  const commands = [only, ...others].map((id) => runnable(`  npx carillon trace ${id}`, options));
  throw new CommandError(`${commands.length} events belong to trace ${trace}:\n${commands.join('\n')}`);
}

type Found = Omit<WhyBody, 'next'> & { readonly more: boolean };

/** Reads pages of events until there are enough lines or no more events. */
async function lookThrough(
  client: Client,
  address: string,
  notification: string | undefined,
  limit: number,
): Promise<Found> {
  const path = `/v1/workspaces/${seg(client.reach)}/why`;
  const items: WhyBody['items'] = [];
  let looked = 0;
  let cursor: string | undefined;
  for (;;) {
    const page: WhyBody = await client.get(path, { address, notification, limit: '200', cursor });
    items.push(...page.items);
    looked += page.looked;
    if (page.next === null || items.length >= limit) {
      const more = page.next !== null || items.length > limit;
      return { items: items.slice(0, limit), looked, more };
    }
    cursor = page.next;
  }
}

function showWhy({ items, looked, more }: Found, address: string, isWide: boolean): string {
  if (items.length === 0) {
    return paint('dim', `none of the ${looked} events on the log speaks of ${clean(address)}`);
  }
  const lines = items.map(({ at, workspace, event, rule, outcome, state, reason, text, delivery }) => {
    const end = state === null ? paint('bold', outcome.replaceAll('_', ' ')) : paintState(state);
    const tail = [event, delivery].filter((id) => id !== null).join('  ');
    return `${shortTime(at)}  ${isWide ? `${workspace}  ` : ''}${clean(rule)}  ${end} (${clean(reason)}) ${withTimes(clean(text))}  ${paint('dim', tail)}`;
  });
  return [...lines, ...(more ? [paint('dim', 'older events exist: --limit shows more')] : [])].join('\n');
}

type Chosen = { readonly onlyPeople: boolean; readonly isFiltered: boolean };

/**
 * Formats a trace: one line per step, then a block per person; later pages only have the people. For an event with one
 * message, the steps already describe it.
 */
function showTrace(trace: TraceBody, { onlyPeople, isFiltered }: Chosen): string {
  const { people } = trace;
  const formatTime = stepTimeFormat(trace.steps, zoneOfTimes());
  const steps = onlyPeople ? [] : trace.steps.flatMap((step) => stepLines(step, formatTime));
  const isTold = trace.steps.some(({ step }) => step === 'intent');
  const hasBlocks = onlyPeople || isFiltered || (!isTold && (people?.items.length ?? 0) > 0);
  if (!people || !hasBlocks) return steps.join('\n');
  const headline = people.headline === null ? [] : [paint('bold', people.headline), ''];
  const more = people.next === null ? [] : [paint('dim', `more people: --cursor ${people.next}`)];
  return [...headline, ...steps, ...(steps.length > 0 ? [''] : []), ...people.items.flatMap(personLines), ...more].join(
    '\n',
  );
}

type Step = TraceBody['steps'][number];
type FormatTime = (at: string | null) => string;

/** Returns the format of step times in a zone, all of equal width. Includes the day if a step did not happen today. */
export function stepTimeFormat(steps: readonly Pick<Step, 'at'>[], zone: string, now = new Date()): FormatTime {
  const today = localTime(now, zone).day;
  const times = new Map(steps.flatMap(({ at }) => (at === null ? [] : [[at, localTime(new Date(at), zone)] as const])));
  const isToday = [...times.values()].every(({ day }) => day === today);
  const texts = new Map(
    [...times].map(([at, { day, clock, milliseconds, offset }]) => [
      at,
      `${isToday ? '' : `${day} `}${clock}.${milliseconds}${offset}`,
    ]),
  );
  const width = Math.max(0, ...[...texts.values()].map(({ length }) => length));
  return (at) => (texts.get(at ?? '') ?? '').padEnd(width);
}

function stepLines(one: Step, formatTime: FormatTime): readonly string[] {
  const facts = [
    one.id,
    one.position,
    one.config_number === null ? null : `configuration ${one.config_number}`,
    one.rule === null ? null : `${one.rule} v${one.rule_version}`,
  ].filter((fact) => fact !== null);
  const time = formatTime(one.at);
  const state = one.state === null ? '' : ` ${paintState(one.state)}${one.reason ? ` (${clean(one.reason)})` : ''}`;
  const head = `${paint('dim', time)}  ${paint('bold', one.step.padEnd(10))}${state} ${withTimes(clean(one.text))}`;
  const tail = facts.length === 0 ? '' : `  ${paint('dim', facts.map((fact) => clean(fact ?? '')).join('  '))}`;
  return [head + tail, ...one.lines.map((line) => `${' '.repeat(time.length + 14)}${withTimes(clean(line))}`)];
}

function personLines(one: PersonBody): readonly string[] {
  const place = one.count === 1 ? `${one.place}` : `${one.place} to ${one.place + one.count - 1}`;
  const who = one.to ?? (one.delivery === null ? '(dropped)' : '(no address)');
  const end = one.state === null ? paint('bold', one.outcome.replaceAll('_', ' ')) : paintState(one.state);
  const facts = [one.unique_id === null ? null : `unique_id ${one.unique_id}`, one.delivery].filter(
    (fact) => fact !== null,
  );
  const head = `${paint('dim', `${one.rule} ${place}`)}  ${paint('bold', clean(who))}  ${end} (${clean(one.reason)}) ${withTimes(clean(one.text))}`;
  const tail = facts.length === 0 ? '' : `  ${paint('dim', facts.map(clean).join('  '))}`;
  return [head + tail, ...(one.item === null ? [] : [`    item ${clean(one.item)}`])];
}
