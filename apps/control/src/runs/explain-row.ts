import type { RunRowContentBody } from '@carillon/contracts';
import { notificationIdOf, ruleTitle } from '@carillon/domain/configuration';
import { isWantedBy, type Row, type CompareRun, type Side } from '@carillon/domain/runs';
import { rowGatesCoroutine } from '@carillon/insight';
import { stringifyJson } from '@carillon/kernel';
import { isSameContent, runYielding, type Wanted } from '@carillon/stages';
import { showGate } from '../gate-body.ts';
import type { RoutePorts } from '../ports.ts';
import { previewMessage } from '../preview.ts';
import { createRowReader, detailsOf, type RowDetailPorts, type RowMessages } from './row-details.ts';
import { showRow } from './show-run.ts';

export type ExplainRowPorts = RowDetailPorts & Pick<RoutePorts, 'templates' | 'links'>;

type SideBody = NonNullable<RunRowContentBody['before']>;

/**
 * Returns the content of a row: for each side the message, rendered by the templates of the side, and why the side
 * wants the message or does not. Both sides are null if the event is no longer stored.
 */
export async function explainRow(run: CompareRun, row: Row, ports: ExplainRowPorts): Promise<RunRowContentBody> {
  const read = await createRowReader(run, ports);
  const messages = await read(row);
  const shown = { row: showRow(row, detailsOf(messages)) };
  if (!messages) return { ...shown, before: null, after: null, note: null };
  return {
    ...shown,
    before: await explainSide('before', { run, row, messages }, ports),
    after: await explainSide('after', { run, row, messages }, ports),
    note: noteOf(row, messages),
  };
}

/** A changed row is shown by the first event of *after*. *Before* may have another first event, and then its message is not shown. */
function noteOf({ difference }: Row, { before, after, context }: RowMessages): string | null {
  if (difference !== 'changed' || !after) return null;
  if (before && !isSameContent(before, after, context.ids)) return null;
  return 'Several events want this message. Before the change another event is the first of them, and its message is not shown here.';
}

async function explainSide(
  side: Side,
  { run, row, messages }: { readonly run: CompareRun; readonly row: Row; readonly messages: RowMessages },
  ports: ExplainRowPorts,
): Promise<SideBody> {
  const { event, context } = messages;
  const message = messages[side];
  const other = messages[side === 'before' ? 'after' : 'before'];
  const { workspace } = run;
  const rowSide = { event, side, message, other, row: { ...row, workspace }, isWanted: isWantedBy(side, row) };
  const gates = await runYielding(rowGatesCoroutine(rowSide, context), ports.slice);
  return {
    gates: gates.map((one) => showGate(one, true)),
    rule: message ? ruleTitle(message.placed) : null,
    to: message?.to ?? null,
    variables: message ? stringifyJson(message.variables) : null,
    message: message ? await preview(message, side, messages, ports) : null,
  };
}

const preview = (
  { channel, placed, template, variables }: Wanted,
  side: Side,
  { context }: RowMessages,
  ports: ExplainRowPorts,
) =>
  previewMessage(
    {
      workspace: placed.workspace,
      template,
      channel,
      variables,
      notification: placed.notification,
      notificationId: notificationIdOf(placed.notification),
      note: null,
    },
    { ...ports, configuration: { current: () => context.configurations[side] } },
  );
