import type { ExplainedCadenceBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type CommonOptions } from '../client.ts';
import { clean, paint } from '../output.ts';
import { answer, command } from './api-command.ts';

type ExplainOptions = CommonOptions & { readonly at?: string; readonly timeZone?: string };

export function cadenceCommands(program: Command): void {
  const cadence = program.command('cadence').description('quiet hours, limits and digests: explain');
  command(
    cadence,
    'explain <notification> <person>',
    'show which quiet hours or limits would hold a message, and until when',
  )
    .option('--at <time>', 'time to explain, such as 2026-11-22T21:00:00Z (default: now)')
    .option('--time-zone <zone>', 'time zone of the person, such as Europe/Vienna (default: that of the workspace)')
    .action(async (notification: string, person: string, options: ExplainOptions) => {
      const asked = {
        notification,
        person,
        ...(options.at !== undefined && { at: options.at }),
        ...(options.timeZone !== undefined && { time_zone: options.timeZone }),
      };
      await answer(
        options,
        async (client) => {
          const path = `/v1/workspaces/${seg(await client.workspace())}/cadence/explain`;
          return client.post<ExplainedCadenceBody>(path, asked);
        },
        showExplained,
      );
    });
}

const VERDICTS = {
  sent: 'would be sent',
  held: 'would be held',
  dropped: 'would be dropped',
  collected: 'would go into a digest',
  perhaps: 'may be sent or not: that depends on messages being sent at this moment',
} as const;

function showExplained({
  notification,
  at,
  time_zone: zone,
  transactional,
  notes,
  channels,
}: ExplainedCadenceBody): string {
  // Sweden writes times as files have them: 2026-11-23 08:00.
  const wall = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  const local = (time: string): string => `${wall.format(Date.parse(time))} ${zone}`;
  const lines = [`${paint('bold', clean(notification))} at ${local(at)}`];
  if (transactional) lines.push('transactional: quiet hours and limits do not apply');
  lines.push(...notes.map((note) => paint('yellow', clean(note))));
  for (const { channel, verdict, reason, until, quiet_hours: quiet, limits } of channels) {
    const why = reason === null ? '' : ` (${reason})`;
    lines.push(
      '',
      `${paint('bold', channel)}  ${VERDICTS[verdict]}${why}${until === null ? '' : ` until ${local(until)}`}`,
    );
    lines.push(quiet ? `  quiet hours until ${local(quiet.until)}, then: ${quiet.then}` : '  no quiet hours now');
    if (limits.length === 0) lines.push('  no limit applies to it');
    for (const { limit, max, count, then, under_way: underWay, filled_by: filledBy, room_from: roomFrom } of limits) {
      const open = underWay > 0 ? `, ${underWay} of them being sent` : '';
      const room = roomFrom === null ? '' : `; room from ${local(roomFrom)}`;
      lines.push(`  ${count} of ${max}${open}  ${limit}, then: ${then}${room}`);
      if (filledBy.length > 0) lines.push(`    ${filledBy.join(' ')}`);
    }
  }
  return lines.join('\n');
}
