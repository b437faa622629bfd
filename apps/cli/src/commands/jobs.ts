import type { JobBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { connect, seg, type CommonOptions, type Page } from '../client.ts';
import { shortTime } from '../output.ts';
import { answer, command, pageText } from './api-command.ts';
import { followJob, jobText } from './bulk.ts';

type ListOptions = CommonOptions & {
  readonly state?: string;
  readonly action?: string;
  readonly limit: string;
  readonly cursor?: string;
};
type ShowOptions = CommonOptions & { readonly follow?: boolean };

/** `carillon jobs`: long actions that go on by themselves. */
export function jobCommands(program: Command): void {
  const jobs = program.command('jobs').description('jobs that act on many items: list, show, cancel, undo');
  command(jobs, 'list', 'list jobs, newest first')
    .option('--state <state>', 'only waiting, running, done, cancelled or failed; several with commas')
    .option('--action <action>', 'only this action, such as resend_deliveries')
    .option('--limit <n>', 'maximum number of entries', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .action(async ({ state, action, limit, cursor, ...options }: ListOptions) => {
      await answer(
        options,
        (client) =>
          client.get<Page<JobBody>>(`/v1/workspaces/${seg(client.reach)}/jobs`, { state, action, limit, cursor }),
        (page) =>
          pageText(
            page,
            'no jobs',
            (one) => [
              shortTime(one.created_at),
              one.workspace ?? '(deployment)',
              one.id,
              one.action,
              one.state,
              `${one.done} of ${one.of}${one.failed > 0 ? `, ${one.failed} failed` : ''}`,
              one.created_by.name ?? one.created_by.id,
            ],
            ['begun', 'workspace', 'job', 'action', 'state', 'done', 'by'],
          ),
      );
    });

  command(jobs, 'show <id>', 'show the progress of a job, and items that failed')
    .option('--follow', 'show progress until it ends')
    .action(async (id: string, { follow, ...options }: ShowOptions) => {
      const path = `jobs/${seg(id)}`;
      if (!follow) {
        await answer(
          options,
          (client) => client.get<JobBody>(`/v1/workspaces/${seg(client.anywhere)}/${path}`),
          jobText,
        );
        return;
      }
      const client = connect(options);
      await followJob(client, await client.get<JobBody>(`/v1/workspaces/${seg(client.anywhere)}/${path}`), options);
    });

  command(jobs, 'undo <id>', 'undo a job by another job; later changes stay').action(
    async (id: string, options: CommonOptions) => {
      const client = connect(options);
      const undo = await client.post<JobBody>(`/v1/workspaces/${seg(client.anywhere)}/jobs/${seg(id)}/undo`);
      await followJob(client, undo, options);
    },
  );

  command(jobs, 'cancel <id>', 'stop a job after its current item; finished items stay as they are').action(
    async (id: string, options: CommonOptions) => {
      await answer(
        options,
        (client) => client.post<JobBody>(`/v1/workspaces/${seg(client.anywhere)}/jobs/${seg(id)}/cancel`),
        (job) => (job.ended_at === null ? `${job.id} ends after what is under way` : jobText(job)),
      );
    },
  );
}
