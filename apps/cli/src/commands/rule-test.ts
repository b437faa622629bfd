import type { RuleTestBody } from '@carillon/contracts';
import { Option, type Command } from 'commander';
import { seg, type Client, type CommonOptions } from '../client.ts';
import { CommandError, UsageError } from '../failure.ts';
import { shortened } from '../folded.ts';
import { messageLines } from '../message-lines.ts';
import { clean, paint } from '../output.ts';
import { answer, command } from './api-command.ts';
import { readFolder } from './configuration.ts';
import { readText } from './read-text.ts';
import { readEventLines, type EventLine } from './event-lines.ts';
import { timelineLines } from './rule-timeline.ts';

export function ruleTestCommand(rule: Command): void {
  command(rule, 'test <rule>', 'show what a rule (notification.rule) would do with events; sends nothing')
    .option('--event <event>', 'file with one event as JSON, - for standard input, or the id of one (evt_…)')
    .option('--events <file>', 'file with an event a line: {"at": "+20m", "event": {…}}; - for standard input')
    .option('--until <time>', 'let deadlines up to this time pass: 10:00, an RFC 3339 time, or +26h (default: all)')
    .option('--entity <key>', 'begin with what the rule remembers of this entity: the value at the key of the stream')
    .option('-f, --file <dir>', 'use the rule of this configuration folder instead of the published one')
    .addOption(new Option('--expect <outcome>', 'end with code 1 if it does otherwise').choices(['fires', 'nothing']))
    .option('--answer <file>', 'file with the partner’s answer as JSON, for a rule that asks a partner')
    .option('--html', 'print HTML bodies too')
    .option('--full', 'print long bodies and values in full')
    .action(async (name: string, options: TestOptions) => {
      const { file, answer: pasted, expect, until, entity } = options;
      const { lines, ...events } = eventsOf(options);
      const request = {
        ...events,
        ...(until !== undefined && { until }),
        ...(entity !== undefined && { entity }),
        ...(pasted !== undefined && { answer: readText(pasted) }),
        ...(file !== undefined && { files: readFolder(file) }),
      };
      const path = (client: Client) => `/v1/workspaces/${seg(client.reach)}/rules/${seg(name)}/test`;
      const body = await answer(
        options,
        (client) => client.post<RuleTestBody>(path(client), request).catch((error: unknown) => byLine(error, lines)),
        (tested) => showTest(tested, options),
      );
      if (expect !== undefined && body.fired !== (expect === 'fires')) {
        process.stderr.write(`${paint('red', 'carillon:')} expected ${expect}: ${clean(outcomeWords(body))}\n`);
        process.exitCode = 1;
      }
    });
}

type TestOptions = CommonOptions & {
  readonly event?: string;
  readonly events?: string;
  readonly until?: string;
  readonly entity?: string;
  readonly file?: string;
  readonly expect?: 'fires' | 'nothing';
  readonly answer?: string;
  readonly html?: boolean;
  readonly full?: boolean;
};

type Lines = { readonly file: string; readonly numbers: readonly number[] } | null;

function eventsOf({
  event,
  events,
}: TestOptions): { readonly lines: Lines } & (
  | { readonly event: string }
  | { readonly event_id: string }
  | { readonly events: readonly EventLine['event'][] }
) {
  if ((event === undefined) === (events === undefined)) {
    throw new UsageError('rule test needs --event <event> with one event, or --events <file> with an event a line');
  }
  if (event !== undefined) {
    return { lines: null, ...(/^evt_[0-9A-Z]{26}$/.test(event) ? { event_id: event } : { event: readText(event) }) };
  }
  const file = events ?? '-';
  const read = readEventLines(readText(file), file);
  return { events: read.map((line) => line.event), lines: { file, numbers: read.map(({ line }) => line) } };
}

/** Says the line of the file in place of the event's place in the request. */
function byLine(error: unknown, lines: Lines): never {
  const [, place = '', rest = ''] =
    (error instanceof CommandError && /events\.(\d+)\.(.+)$/s.exec(error.message)) || [];
  const number = lines?.numbers[Number(place)];
  if (place === '' || number === undefined || !(error instanceof CommandError)) throw error;
  throw new CommandError(`${lines?.file}, line ${number}: ${rest}`, error.problem);
}

const outcomeWords = ({ fired, outcome, error }: RuleTestBody): string =>
  fired ? outcome : `does not fire (${outcome}${error === null ? '' : `: ${error}`})`;

function showTest(body: RuleTestBody, options: TestOptions): string {
  const { full = false, file, events } = options;
  const version = file === undefined ? `version ${body.rule_version}` : `as ${file} has it, not published`;
  const head = `${paint('bold', body.rule)} ${version}, stream ${body.stream}`;
  if (events !== undefined || body.timeline.length > 1) {
    return [head, ...timelineLines(body.timeline, (step) => firingLines(step, options))].join('\n');
  }
  const lines = [head, '', 'when'];
  for (const one of body.explained) {
    lines.push(
      `  ${'  '.repeat(one.depth)}${clean(one.source)}  ${paint('dim', '→')}  ${paint('cyan', full ? clean(one.value) : shortened(clean(one.value)))}`,
    );
  }
  lines.push('', paint(body.fired ? 'green' : 'yellow', clean(outcomeWords(body))));
  return [...lines, ...firingLines(body, options)].join('\n');
}

type Firing = Pick<RuleTestBody, 'asks' | 'problems' | 'recipients' | 'dropped'>;

/** Whom a rule that fires asks about, whom it notifies and with which messages. */
function firingLines(body: Firing, { html = false, full = false }: TestOptions): string[] {
  const lines: string[] = [];
  if (body.asks !== null) {
    const { integration, user_ids: ids } = body.asks;
    const some = ids.slice(0, 20).map(clean).join(', ');
    lines.push('', `asks       ${clean(integration)} about ${ids.length}: ${some}${ids.length > 20 ? ', …' : ''}`);
    if (body.recipients.length === 0 && body.problems.length === 0) {
      lines.push(paint('dim', 'give it an answer with --answer FILE: [{"to": {"email": "…"}, "variables": {…}}]'));
    }
  }
  for (const problem of body.problems) lines.push(paint('yellow', `answer: ${clean(problem)}`));
  for (const who of body.recipients) {
    const addresses = Object.entries(who.to).filter(([, address]) => address !== null);
    lines.push(
      '',
      `recipient  ${addresses.map(([key, address]) => `${key}: ${clean(address ?? '')}`).join(', ') || 'no address'}`,
    );
    lines.push(
      `unique_id  ${clean(who.unique_id)}`,
      `variables  ${full ? clean(who.variables) : shortened(clean(who.variables))}`,
    );
    if (who.already_told !== null) lines.push(paint('yellow', `already notified: ${who.already_told} holds this slot`));
    else if (who.notified_already) lines.push(paint('yellow', 'already notified: an earlier event has this unique_id'));
    for (const message of who.messages) lines.push(...messageLines(message, html, full));
  }
  for (const drop of body.dropped) lines.push(paint('yellow', `dropped: ${clean(drop)}`));
  return lines;
}
