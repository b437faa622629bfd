import type { PromotedBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type CommonOptions } from '../client.ts';
import { UsageError } from '../failure.ts';
import { clean, paint } from '../output.ts';
import { answer, command } from './api-command.ts';
import { changeLines, faultLines } from './draft-text.ts';
import { countWords } from './plan-text.ts';

type PromoteOptions = CommonOptions & { readonly check?: boolean };

/** `carillon promote`: what was tried in a test environment becomes drafts of its live workspace. */
export function promoteCommand(program: Command): void {
  command(
    program,
    'promote <test> [resources...]',
    'create drafts in the live workspace from the differences of its test environment',
  )
    .option('--check', 'only show the changes')
    .addHelpText(
      'after',
      '\nresources: kind/name, such as notification/order-paid; default: all notifications, templates, layouts, partials and streams',
    )
    .action(async (test: string, names: string[], { check, ...options }: PromoteOptions) => {
      const resources = names.map((text) => {
        const [kind = '', name = '', ...more] = text.split('/');
        if (kind !== '' && name !== '' && more.length === 0) return { kind: kind.replace('-', '_'), name };
        throw new UsageError(`${text} is not the name of a resource: write kind/name, such as notification/order-paid`);
      });
      const asked = { check_only: check === true, ...(resources.length > 0 && { resources }) };
      await answer(
        options,
        (client) => client.post<PromotedBody>(`/v1/workspaces/${seg(test)}/promote`, asked),
        showPromoted,
      );
    });
}

function showPromoted({
  live,
  written,
  drafts,
  missing,
  in_the_way: inTheWay,
  only_live: onlyLive,
  plan,
}: PromotedBody): string {
  const workspace = clean(live);
  const lines = [...faultLines(plan), ...changeLines(plan.changes)];
  for (const { kind, name, by } of inTheWay) {
    const whose = clean(by.name ?? by.id);
    lines.push(
      paint(
        'yellow',
        `${clean(`${kind}/${name}`)} has a draft by ${whose} in ${workspace}: nothing was written over it`,
      ),
    );
  }
  for (const { kind, name, needed_by: by } of missing) {
    const who = by.map(clean).join(', ');
    lines.push(
      paint(
        'yellow',
        `${workspace} has no ${kind.replace('_', ' ')} ${clean(name)}, which ${who} needs: it is never copied, make it there`,
      ),
    );
  }
  if (onlyLive.length > 0) {
    const names = onlyLive.map(({ kind, name }) => clean(`${kind}/${name}`)).join(', ');
    lines.push(paint('dim', `only in ${workspace}, and left alone: ${names}`));
  }
  if (lines.length > 0) lines.push('');
  if (drafts.length === 0) lines.push(`nothing to promote to ${workspace}`);
  else if (written) {
    lines.push(
      `${countWords(drafts.length, 'draft')} in ${workspace}; look, then publish: npx carillon drafts review --workspace ${workspace}`,
    );
  } else lines.push(`${countWords(drafts.length, 'draft')} would be written in ${workspace}`);
  return lines.join('\n');
}
