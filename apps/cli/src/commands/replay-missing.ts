import type { RunMissingBody } from '@carillon/contracts';
import { Option, type Command } from 'commander';
import { seg, type Client, type CommonOptions } from '../client.ts';
import { paint, shortTime, table } from '../output.ts';
import { runnable } from '../runnable.ts';
import { answer, command } from './api-command.ts';
import { ROW_COLUMNS, rowCells } from './replay-text.ts';

/** Listed here, because the command line starts without loading the domain. */
const DIFFERENCES = ['added', 'changed', 'new_unique_id', 'needs_lookup'];
const SLOT_STATES = ['none', 'stopped'];

/** Options that select missing messages. `send` takes the same. */
export type SelectionOptions = {
  readonly difference?: readonly string[];
  readonly slot?: readonly string[];
  readonly rule?: readonly string[];
  readonly maxAge?: string;
  readonly since?: string;
};

/** Adds the options that select missing messages. */
export const selectionOptions = (to: Command): Command =>
  to
    .addOption(new Option('--difference <differences...>', 'differences to send (default: added)').choices(DIFFERENCES))
    .addOption(
      new Option(
        '--slot <states...>',
        'none: never sent (default); stopped: ended unsent and never in doubt, such as capped',
      ).choices(SLOT_STATES),
    )
    .option('--rule <notification.rule...>', 'only these rules')
    .option('--max-age <span>', 'maximum age of an event, such as 24h (default: 7d)')
    .option('--since <time>', 'instead of --max-age: only events received at or after this time');

/** Returns the selection as the API takes it. */
export const selectionOf = ({ difference, slot, rule, maxAge, since }: SelectionOptions) => ({
  ...(difference !== undefined && { difference }),
  ...(slot !== undefined && { slot }),
  ...(rule !== undefined && { rule }),
  ...(maxAge !== undefined && { max_age: maxAge }),
  ...(since !== undefined && { since }),
});

/** Looks at the missing messages of a run, at `…/runs/{id}`. */
export function lookAtMissing(client: Client, path: string, options: SelectionOptions): Promise<RunMissingBody> {
  const query = Object.entries(selectionOf(options)).map(([name, value]) => [name, String(value)] as const);
  return client.get<RunMissingBody>(`${path}/missing`, Object.fromEntries(query));
}

type MissingOptions = CommonOptions & SelectionOptions;

/** `carillon replay missing`: what can be sent after publishing. */
export function missingCommand(replay: Command, pathOf: (client: Client) => Promise<string>): void {
  const missing = command(replay, 'missing <run>', 'show the missing messages of a published edit; sends nothing');
  selectionOptions(missing).action(async (id: string, options: MissingOptions) => {
    await answer(
      options,
      async (client) => lookAtMissing(client, `${await pathOf(client)}/${seg(id)}`, options),
      (body) => [missingText(body), ...sendText(body, options)].join('\n'),
    );
  });
}

/** Returns the numbers of a look: messages and people, by rule, their age, and up to ten of them. */
export function missingText(body: RunMissingBody): string {
  const { by_rule: rules, newest, oldest, rows } = body;
  return [
    paint('bold', missingSentence(body)),
    ...(oldest === null || newest === null ? [] : [`Events from ${shortTime(oldest)} to ${shortTime(newest)}`]),
    `${countOf(body.too_old, 'older event')} skipped (before ${shortTime(body.since)})`,
    ...(rules.length === 0
      ? []
      : [
          '',
          table(
            rules.map(({ rule, messages, people }) => [rule, String(messages), String(people)]),
            ['rule', 'messages', 'people'],
          ),
        ]),
    ...(rows === null || rows.length === 0 ? [] : ['', table(rows.map(rowCells), [...ROW_COLUMNS])]),
  ].join('\n');
}

const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function missingSentence({ count, messages, needs_lookup: lookups, people }: RunMissingBody): string {
  if (count === 0) return 'No message is missing.';
  const to = people === 1 ? '1 person' : `${people} people`;
  const asked = `${countOf(lookups.events, 'event')} with ${countOf(lookups.user_ids, 'user id')}`;
  return [
    ...(messages === 0 ? [] : [`${countOf(messages, 'message')} to ${to} ${messages === 1 ? 'is' : 'are'} missing.`]),
    ...(lookups.events === 0 ? [] : [`A partner is asked about ${asked} first.`]),
  ].join(' ');
}

/** Returns `33 messages and 2 questions to a partner`. */
export function itemsText({ count, messages }: RunMissingBody): string {
  const questions = count - messages;
  return [
    ...(messages === 0 ? [] : [countOf(messages, 'message')]),
    ...(questions === 0 ? [] : [`${countOf(questions, 'question')} to a partner`]),
  ].join(' and ');
}

/** Returns the checksum and the command that sends the same messages, or nothing if none is missing. */
function sendText(body: RunMissingBody, options: MissingOptions): readonly string[] {
  if (body.count === 0) return [];
  return [
    '',
    paint('dim', `checksum ${body.checksum}`),
    `To send them: ${runnable(sendCommandOf(body, options), options)}`,
  ];
}

/** Returns the command that sends what was seen. It names the time and not the maximum age, so that it means the same events later. */
export function sendCommandOf({ run, since, count, checksum }: RunMissingBody, options: MissingOptions): string {
  const { difference, slot, rule, workspace } = options;
  const many = (flag: string, values: readonly string[] | undefined): readonly string[] =>
    values === undefined ? [] : [`${flag} ${values.join(' ')}`];
  return [
    `npx carillon replay send ${run}`,
    ...many('--difference', difference),
    ...many('--slot', slot),
    ...many('--rule', rule),
    `--since ${since}`,
    `--count ${count}`,
    `--checksum ${checksum}`,
    ...(workspace === undefined ? [] : [`--workspace ${workspace}`]),
  ].join(' ');
}
