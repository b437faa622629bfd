import type { WhyNotBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type CommonOptions } from '../client.ts';
import { clean, paint, shortTime } from '../output.ts';
import { answer, command } from './api-command.ts';

type Options = CommonOptions & {
  readonly from?: string;
  readonly to?: string;
  readonly last?: string;
  readonly event?: string;
  readonly cursor?: string;
  readonly drafts?: boolean;
};

const MARKS: Readonly<Record<WhyNotBody['gates'][number]['result'], string>> = {
  passed: '✓',
  stopped: '✕',
  waiting: '…',
  in_doubt: '?',
  not_reached: '–',
  unknown: '–',
};

export function whyNotCommands(program: Command): void {
  command(
    program,
    'why-not <who> <notification>',
    'why a notification did not tell somebody: what stands between an event and them, in order',
  )
    .option('--from <time>', 'events received at or after: 2h, today, a date or a time')
    .option('--to <time>', 'events received before')
    .option('--last <span>', 'instead of both, such as 7d (24h where nothing is said)')
    .option('--event <id>', 'only this event')
    .option('--drafts', 'says of each event too what it comes to with the drafts of the workspace')
    .option('--cursor <cursor>', 'looks further back, where the answer before says so')
    .action(async (who: string, notification: string, options: Options) => {
      const { from, to, last, event, cursor, drafts } = options;
      await answer(
        options,
        async (client) =>
          client.post<WhyNotBody>(`/v1/workspaces/${seg(await client.workspace())}/why-not`, {
            who,
            notification,
            from,
            to,
            last,
            event,
            cursor,
            drafts,
          }),
        showWhyNot,
      );
    });
}

function showWhyNot(body: WhyNotBody): string {
  const { sentence, gates, others, looked, next } = body;
  const lines = gates
    .filter(({ result }) => result !== 'not_reached')
    .flatMap((one) => {
      const ids = one.evidence.map(({ id }) => id).join(' ');
      const words = one.text === '' ? '' : `: ${clean(one.text)}`;
      const head = `${MARKS[one.result]} ${one.title}${words}${ids === '' ? '' : `  ${paint('dim', ids)}`}`;
      const isBold = one.result === 'stopped' || one.result === 'in_doubt';
      return [isBold ? paint('bold', head) : head, ...one.lines.map((line) => `    ${clean(line)}`)];
    });
  const more = others.flatMap((one) => [
    `${shortTime(one.at)}  ${one.verdict.replaceAll('_', ' ')}  ${clean(one.text)}  ${paint('dim', one.event)}`,
    ...draftLines(one).map((line) => `    ${line}`),
  ]);
  const seen = `${looked.events} events looked at, ${looked.judged_again} judged again, ${looked.deliveries} deliveries found in the ledger`;
  return [
    paint('bold', clean(sentence)),
    '',
    ...lines,
    ...draftLines(body),
    ...(more.length === 0 ? [] : ['', 'Other events about them:', ...more]),
    '',
    paint('dim', seen),
    ...leftOutLines(body),
    ...(next === null ? [] : [paint('dim', `there are older events in the span: --cursor ${next}`)]),
  ].join('\n');
}

const draftLines = ({ with_drafts: outcome }: Pick<WhyNotBody, 'with_drafts'>): readonly string[] =>
  outcome ? [paint('bold', `with the drafts: ${clean(outcome.words)}`)] : [];

function leftOutLines({ drafts_left_out: drafts }: Pick<WhyNotBody, 'drafts_left_out'>): readonly string[] {
  if (drafts.length === 0) return [];
  const names = drafts.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  return [paint('dim', `drafts of other people that have mistakes are left out: ${clean(names)}`)];
}
