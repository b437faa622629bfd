import type { ParkedReceiptBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type CommonOptions, type Page } from '../client.ts';
import { UsageError } from '../failure.ts';
import { clean, paint, shortTime } from '../output.ts';
import { answer, command, pageText } from './api-command.ts';
import { answerNamed } from './person-names.ts';

type ListOptions = CommonOptions & {
  readonly parked?: boolean;
  readonly dismissed?: boolean;
  readonly source?: string;
  readonly account?: string;
  readonly since?: string;
  readonly limit: string;
  readonly cursor?: string;
};

/** `carillon receipts`: unmatched receipts. */
export function receiptCommands(program: Command): void {
  const receipts = program
    .command('receipts')
    .description('delivery reports that match no attempt: list, show, dismiss');

  command(receipts, 'list', 'list reports that match no attempt, newest first')
    .option('--parked', 'only reports that are not dismissed')
    .option('--dismissed', 'only dismissed reports')
    .option('--source <source>', 'only from this source, such as twilio, ses or dsn')
    .option('--account <key>', 'only from this account, such as shop/mail or default')
    .option('--since <time>', 'only at or after this time: 2h, yesterday, a date, or RFC 3339')
    .option('--limit <n>', 'maximum number of entries', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .action(async (options: ListOptions) => {
      const { parked, dismissed, source, account, since, limit, cursor } = options;
      if (parked && dismissed) throw new UsageError('pass --parked or --dismissed, not both');
      let isWide = false;
      await answerNamed(
        options,
        async (client) => {
          isWide = await client.isWide();
          const which = parked ? 'true' : dismissed ? 'false' : undefined;
          return client.get<Page<ParkedReceiptBody>>(`/v1/workspaces/${seg(client.reach)}/receipts`, {
            parked: which,
            source,
            account,
            from: since,
            limit,
            cursor,
          });
        },
        (page) =>
          pageText(
            page,
            'no parked receipts',
            (one) => [
              shortTime(one.parked_at),
              ...(isWide ? [one.workspace ?? '(none)'] : []),
              one.id,
              one.source ?? '(unreadable)',
              one.account ?? '',
              saysOf(one),
              one.dismissed_by === null ? '' : `dismissed by ${clean(one.dismissed_by)}`,
              one.reason,
            ],
            ['at', ...(isWide ? ['workspace'] : []), 'receipt', 'source', 'account', 'says', '', 'reason'],
          ),
      );
    });

  command(receipts, 'show <id>', 'show a report in full').action(async (id: string, options: CommonOptions) => {
    await answer(
      options,
      (client) => client.get<ParkedReceiptBody>(`/v1/workspaces/${seg(client.anywhere)}/receipts/${seg(id)}`),
      (one) =>
        Object.entries(one)
          .filter(([, value]) => value !== null && value !== '')
          .map(([name, value]) => `${paint('dim', name.padEnd(13))} ${clean(String(value))}`)
          .join('\n'),
    );
  });

  command(receipts, 'dismiss <id>', 'dismiss a report; changes no delivery').action(
    async (id: string, options: CommonOptions) => {
      await answer(
        options,
        (client) =>
          client.post<ParkedReceiptBody>(`/v1/workspaces/${seg(client.anywhere)}/receipts/${seg(id)}/dismiss`),
        (one) => `${one.id} was dismissed by ${clean(one.dismissed_by ?? '')}`,
      );
    },
  );
}

const saysOf = ({ wish, address, verdict, code }: ParkedReceiptBody): string =>
  wish === null ? `${verdict ?? ''} ${code ?? ''}`.trim() : `${wish.toUpperCase()} of ${address ?? ''}`;
