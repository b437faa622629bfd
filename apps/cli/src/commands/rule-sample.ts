import type { RuleSampleBody } from '@carillon/contracts';
import { Option, type Command } from 'commander';
import { seg, type CommonOptions } from '../client.ts';
import { clean, paint, table } from '../output.ts';
import { answer, command } from './api-command.ts';

const LANGUAGES = ['curl', 'javascript', 'python', 'go'] as const;
type Language = (typeof LANGUAGES)[number];

export function sampleCommand(rule: Command): void {
  command(rule, 'sample <rule>', 'print the minimum event of a rule (notification.rule), and code that sends it')
    .addOption(new Option('--language <language>', 'print only the code, ready for a file').choices(LANGUAGES))
    .action(async (name: string, options: CommonOptions & { language?: Language }) => {
      const { language } = options;
      await answer(
        options,
        (client) => client.get<RuleSampleBody>(`/v1/workspaces/${seg(client.reach)}/rules/${seg(name)}/sample`),
        // The code has no character that a terminal would obey: the server writes those as escapes.
        (body) => (language === undefined ? showSample(body) : body.code[language].trimEnd()),
      );
    });
}

const ORIGINS = {
  condition: 'from the condition',
  fired_event: 'from an event that fired',
  placeholder: 'placeholder',
  absent: 'not in the event',
} as const;

function showSample(body: RuleSampleBody): string {
  const rows = body.fields.map(({ path, type, value, origin, used_by }) => [
    path,
    type ?? 'any',
    origin === 'absent' ? '' : shortened(value),
    ORIGINS[origin],
    used_by.join(', '),
  ]);
  const whole = body.whole_event.join(', ');
  const told = body.asks === null ? `notifies ${body.recipients}` : `asks ${body.asks} about ${body.recipients}`;
  const promise = body.fires
    ? paint('green', `the rule fires ${body.sentence === null ? 'for it' : clean(body.sentence)}, and ${told}`)
    : paint('yellow', 'the rule does not fire for it: no values are known that make it fire');
  return [
    `${paint('bold', body.rule)} version ${body.rule_version}, stream ${body.stream}`,
    '',
    rows.length === 0 ? 'the rule looks at no field' : table(rows, ['field', 'type', 'value', '', 'used by']),
    ...(whole === '' ? [] : [paint('yellow', `${whole}: the whole event is used, so more fields may matter`)]),
    ...(body.answered.length === 0 ? [] : [`${body.asks} gives for the templates: ${body.answered.join(', ')}`]),
    '',
    promise,
    ...body.earlier.map(
      ({ event, times }) =>
        `send this event of the same entity first, ${times === 1 ? 'once' : `${times} times`}: ${clean(event)}`,
    ),
    '',
    body.code.curl.trimEnd(),
    '',
    ...(body.change !== null
      ? []
      : [paint('dim', `other languages: --language ${LANGUAGES.filter((one) => one !== 'curl').join('|')}`)]),
  ].join('\n');
}

const shortened = (value: string): string => (value.length > 40 ? `${value.slice(0, 39)}…` : value);
