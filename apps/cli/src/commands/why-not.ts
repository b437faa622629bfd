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
    .option('--cursor <cursor>', 'looks further back, where the answer before says so')
    .action(async (who: string, notification: string, options: Options) => {
      const { from, to, last, event, cursor } = options;
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
          }),
        showWhyNot,
      );
    });
}

function showWhyNot({ sentence, gates, others, looked, next }: WhyNotBody): string {
  const lines = gates
    .filter(({ result }) => result !== 'not_reached')
    .flatMap((one) => {
      const ids = one.evidence.map(({ id }) => id).join(' ');
      const words = one.text === '' ? '' : `: ${clean(one.text)}`;
      const head = `${MARKS[one.result]} ${one.title}${words}${ids === '' ? '' : `  ${paint('dim', ids)}`}`;
      const isBold = one.result === 'stopped' || one.result === 'in_doubt';
      return [isBold ? paint('bold', head) : head, ...one.lines.map((line) => `    ${clean(line)}`)];
    });
  const more = others.map(
    (one) =>
      `${shortTime(one.at)}  ${one.verdict.replaceAll('_', ' ')}  ${clean(one.text)}  ${paint('dim', one.event)}`,
  );
  const seen = `${looked.events} events looked at, ${looked.judged_again} judged again, ${looked.deliveries} deliveries found in the ledger`;
  return [
    paint('bold', clean(sentence)),
    '',
    ...lines,
    ...(more.length === 0 ? [] : ['', 'Other events about them:', ...more]),
    '',
    paint('dim', seen),
    ...(next === null ? [] : [paint('dim', `there are older events in the span: --cursor ${next}`)]),
  ].join('\n');
}
