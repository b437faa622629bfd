import type { EntityBody, ForgottenEntityBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type CommonOptions } from '../client.ts';
import { clean, paint, shortTime, withTimes } from '../output.ts';
import { agree } from './agree.ts';
import { answer, command } from './api-command.ts';

export function stateCommands(program: Command): void {
  const state = program.command('state').description('rule state of an entity: waits, decisions, stored events');
  const pathOf = (reach: string, stream: string, key: string): string =>
    `/v1/workspaces/${seg(reach)}/streams/${seg(stream)}/entities/${seg(key)}`;
  command(
    state,
    'show <stream> <key>',
    'show the rule state of the entity with this key (stream: its EVENT_PATH)',
  ).action(async (stream: string, key: string, options: CommonOptions) => {
    await answer(options, (client) => client.get<EntityBody>(pathOf(client.reach, stream, key)), showEntity);
  });
  command(state, 'forget <stream> <key>', 'have rules forget an entity; its waits end without a message')
    .option('--yes', 'do not ask')
    .action(async (stream: string, key: string, options: CommonOptions & { readonly yes?: true }) => {
      const what = `${clean(key)} of ${clean(stream)}`;
      if (!options.yes)
        await agree(`rules forget ${what}, and its waits end without a message`, 'nothing was forgotten');
      await answer(
        options,
        (client) => client.post<ForgottenEntityBody>(`${pathOf(client.reach, stream, key)}/forget`, {}),
        showForgotten,
      );
    });
}

export const showForgotten = ({ stream, key }: ForgottenEntityBody): string =>
  `rules forget ${clean(key)} of ${clean(stream)} once the engine has read the record that says so`;

export function showEntity({ stream, key, rules, decisions, events }: EntityBody): string {
  const name = `${clean(key)} of ${clean(stream)}`;
  if (rules.length === 0 && decisions.length === 0) return `no rule has state for ${name}`;
  return [
    paint('bold', name),
    ...rules.flatMap(({ rule, rule_id: id, words, sentence, event }) => [
      `${clean(rule ?? id)}  ${paint('dim', clean(sentence))}`,
      ...words.map((line) => `    ${withTimes(clean(line))}${event === null ? '' : paint('dim', `  for ${event}`)}`),
    ]),
    ...(decisions.length === 0 ? [] : ['', 'Newest decisions:']),
    ...decisions.map(
      ({ at, rule, rule_id: id, event, words }) =>
        `${shortTime(at)}  ${clean(rule ?? id)}  ${withTimes(clean(words.join('; ')))}  ${paint('dim', event)}`,
    ),
    ...(events.length === 0 ? [] : ['', 'Stored events:']),
    ...events.map(
      ({ id, at, body }) =>
        `${shortTime(at)}  ${paint('dim', id)}  ${body === null ? paint('dim', 'not shown: this needs the permission bodies') : clean(body)}`,
    ),
  ].join('\n');
}
