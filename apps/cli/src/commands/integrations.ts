import type { CheckBody, WaitingEventBody, WaitingPartnerBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { connect, seg, type Client, type CommonOptions, type Page } from '../client.ts';
import { clean, shortTime, table } from '../output.ts';
import { answer, command, pageText, readWhole } from './api-command.ts';
import { failIfAny, showChecks } from './check-text.ts';
import { printCohorts, type CohortOptions } from './cohorts.ts';

type Integration = {
  readonly workspace: string;
  readonly name: string;
  readonly body: {
    readonly kind: string;
    readonly url?: string;
    readonly authorization?: { readonly scheme?: string; readonly key?: { readonly secret?: string } };
  };
};
/** An integration with the events that wait for its partner. `waiting` is null if no event waits. */
type ShownPartner = Integration & { readonly waiting: WaitingPartnerBody | null };

export function integrationCommands(program: Command): void {
  const integration = program
    .command('integration')
    .description('partners, cohort platforms, databases and Kafka clusters: check, show, waiting');
  command(
    integration,
    'check <name>',
    'test the connection to a partner or database and explain the result; notifies nobody',
  )
    .option('--user-id <id...>', 'user ids to ask about (default: an id that does not exist)')
    .action(async (name: string, options: CommonOptions & { userId?: string[] }) => {
      const body = await answer(
        options,
        (client) =>
          client.post<CheckBody>(
            `/v1/workspaces/${seg(client.reach)}/integrations/${seg(name)}/check`,
            options.userId ? { user_ids: options.userId } : {},
          ),
        showChecks,
      );
      failIfAny(body);
    });

  command(
    integration,
    'show <name>',
    'show the settings of a partner and the events that wait for it, or the cohorts of a platform',
  )
    .option('--limit <n>', 'maximum number of cohorts', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .action(async (name: string, options: CohortOptions) => {
      const partner = await findPartner(connect(options), name);
      if (partner) await answer(options, () => Promise.resolve(partner), showPartner);
      else await printCohorts(name, options);
    });

  command(integration, 'waiting <name>', 'list events that wait for a partner’s answer, oldest first')
    .option('--limit <n>', 'maximum number of entries', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .action(async (name: string, options: CohortOptions) => {
      await answer(
        options,
        (client) =>
          client.get<Page<WaitingEventBody>>(`/v1/workspaces/${seg(client.reach)}/integrations/${seg(name)}/waiting`, {
            limit: options.limit,
            ...(options.cursor !== undefined && { cursor: options.cursor }),
          }),
        showWaiting,
      );
    });
}

/**
 * Returns the lookup integration with the given name. Null: the name is unknown, belongs to several integrations or to
 * one that follows cohorts. The caller then asks the API about cohorts by this name; its error says what to do.
 */
async function findPartner(client: Client, name: string): Promise<ShownPartner | null> {
  const { items } = await readWhole<Integration>(client, `/v1/workspaces/${seg(client.reach)}/integrations`);
  const [found, ...others] = items.filter((one) => one.name === name);
  if (found?.body.kind !== 'lookup' || others.length > 0) return null;
  const waiting = await readWhole<WaitingPartnerBody>(client, `/v1/workspaces/${seg(found.workspace)}/waiting`);
  return { ...found, waiting: waiting.items.find((one) => one.integration === name) ?? null };
}

/** Returns text such as "has not answered since 07:08, 1 event waits, next attempt 07:15". */
function waitingWords(partner: WaitingPartnerBody | null): string {
  if (!partner) return 'nothing waits';
  const { events, complete, failing_since: since, last_failure: last, next_attempt_at: next } = partner;
  const waits = `${events}${complete ? '' : ' or more'} ${events === 1 ? 'event waits' : 'events wait'}`;
  if (since === null) return `${waits} for the first answer`;
  return `has not answered since ${shortTime(since)} (${last?.detail ?? ''}), ${waits}, next attempt ${shortTime(next)}`;
}

function showPartner({ workspace, name, body, waiting }: ShownPartner): string {
  const { scheme = 'Bearer', key } = body.authorization ?? {};
  const rows = [
    ['integration', `${workspace}/${name}`],
    ['kind', body.kind],
    ['url', body.url ?? ''],
    ['authorization', `${scheme}, key in the secret ${key?.secret ?? ''}`],
    ['state', waitingWords(waiting)],
  ];
  const commands = [
    `npx carillon integration check ${name} --workspace ${workspace}`,
    ...(waiting ? [`npx carillon integration waiting ${name} --workspace ${workspace}`] : []),
  ];
  return `${table(rows.map((row) => row.map(clean)))}\n\n${commands.map(clean).join('\n')}`;
}

const showWaiting = (page: Page<WaitingEventBody>): string =>
  pageText(
    page,
    'nothing waits',
    (one) => [
      one.event_id ?? one.trigger_id,
      one.rule ?? '',
      one.since === null ? '' : shortTime(one.since),
      String(one.calls),
      one.last_call?.detail ?? '',
      shortTime(one.next_attempt_at),
      one.gives_up_at === null ? '' : shortTime(one.gives_up_at),
    ],
    ['event', 'rule', 'since', 'calls', 'last answer', 'next attempt', 'given up'],
  );
