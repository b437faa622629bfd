import type { Mended } from '@carillon/adapter-embedded';
import type { Command } from 'commander';
import { dataFolder, type CommonOptions } from '../client.ts';
import { CommandError } from '../failure.ts';
import { clean, say, sayJson } from '../output.ts';

type MendFlags = CommonOptions & { readonly dropDamaged?: boolean };

/** `carillon mend`: inspects a data folder that does not start, and cuts a damaged write-ahead log on request. */
export function mendCommand(program: Command): void {
  program
    .command('mend')
    .description('check a data folder for damage while Carillon is stopped; needs no server')
    .option('--json', 'print JSON')
    .option('--data-dir <dir>', 'data folder (default: CARILLON_DATA_DIR, else ./carillon-data)')
    .option(
      '--drop-damaged',
      'cut a damaged write-ahead log at the damage: later writes are lost, copies are kept. A log that the data file contains already is moved aside',
    )
    .action(async (flags: MendFlags) => {
      const folder = dataFolder(flags);
      const { mendFolder } = await import('@carillon/adapter-embedded');
      const { systemClock } = await import('@carillon/adapter-system');
      const mended = mendFolder(folder, flags.dropDamaged === true, systemClock.now());
      if (flags.json) {
        const { damages, logCanBeCut, nothingLost, dropped, kept, fileKept } = mended;
        sayJson({
          data: folder,
          damages,
          log_can_be_cut: logCanBeCut,
          nothing_lost: nothingLost,
          dropped,
          kept,
          file_kept: fileKept,
        });
      } else say(words(mended, clean(folder)).join('\n'));
      if (mended.damages.length > 0) throw new CommandError('the data folder is damaged');
    });
}

function words({ damages, logCanBeCut, nothingLost, dropped, kept, fileKept }: Mended, folder: string): string[] {
  const lines: string[] = [];
  if (dropped !== null) {
    const done = nothingLost ? 'Put aside' : 'Cut there';
    lines.push(clean(dropped), `${done}${kept === null ? '' : `; it is kept as it was in ${clean(kept)}`}.`);
    if (fileKept !== null) lines.push(`The data file as it was before: ${clean(fileKept)}`);
    if (!nothingLost)
      lines.push('Writes after the damage are lost. Clients that got a 202 for them do not send them again.');
  }
  if (damages.length === 0)
    return [...lines, `No damage found in ${folder}.`, `Start with: npx carillon up --data-dir ${folder}`];
  lines.push(`Damaged in ${folder}:`, ...damages.map((damage) => `  ${clean(damage)}`));
  lines.push('Keep the folder, look at the disk, and restore a backup: npx carillon restore FILE --data-dir NEW');
  if (logCanBeCut) {
    const goOn = nothingLost
      ? 'Or put the log aside, nothing is lost by that'
      : 'To continue without the writes after the damage';
    lines.push(`${goOn}: npx carillon mend --drop-damaged --data-dir ${folder}`);
  }
  return lines;
}
