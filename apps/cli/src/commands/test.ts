import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { UsageError } from '../failure.ts';
import { say, sayJson } from '../output.ts';
import { readFolder } from './configuration.ts';
import { showFault } from './plan-text.ts';

/** `carillon test`: runs the cases of a configuration folder in this process. */
export function testCommand(program: Command): void {
  program
    .command('test [dir]')
    .description(
      'run the cases in workspaces/<name>/tests/*.yaml of a configuration folder; needs no server, sends nothing',
    )
    .option('--json', 'print JSON')
    .option('--junit <file>', 'also write the results as JUnit XML')
    .addHelpText('after', EXAMPLE)
    .action(async (dir: string | undefined, { json, junit }: { readonly json?: boolean; readonly junit?: string }) => {
      const folder = dir ?? '.';
      const start = performance.now();
      const files = new Map(Object.entries(readFolder(folder)));
      // Loaded here only: all other commands start in a fraction of the time without them.
      const { runFolder } = await import('../cases/run-folder.ts');
      const { faults, results } = await runFolder(files);
      if (faults.length === 0 && results.length === 0) {
        throw new UsageError(`${folder} has no cases. Write them in workspaces/<name>/tests/<name>.yaml: see --help`);
      }
      const { isFailed, caseJson, resultsText } = await import('../cases/case-text.ts');
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      if (json) sayJson({ faults, cases: results.map(caseJson) });
      else if (faults.length > 0) say(faults.map((fault) => showFault(fault, folder)).join('\n'));
      else say(resultsText(results, `${seconds} s`));
      if (junit !== undefined) {
        const { junitReport } = await import('../cases/junit.ts');
        writeFileSync(junit, junitReport(results));
      }
      if (faults.length > 0) process.exitCode = 2;
      else if (results.some(isFailed)) process.exitCode = 1;
    });
}

const EXAMPLE = `
A file of cases names a rule. Each case lists events and the messages that they lead to, in the order of time:

  rule: order-paid.paid
  cases:
    thanks for a large order:
      - { at: 10:00, event: { order_id: A-1, status: paid, total: 120, customer: { email: ada@example.com } } }
      - { at: 10:00, message: { email: ada@example.com } }

at is a time of the day, an RFC 3339 time, or +26h from the first line. message compares the fields that it names: channel,
email, phone, token, person, unique_id, from, subject, text, html, title, body. A line until: 12:00 lets time pass. A message
that no line lists fails the case, and so does a missing one. lookups: answers for partners, by user id. Exit code 1: a case
failed. Exit code 2: a file has a mistake.
`;
