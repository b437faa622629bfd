import { FAILPOINT_ACTIONS } from '@carillon/runtime';
import { everyCase, situationOf, type Situation } from './cases.ts';
import type { CaseEnd } from './laboratory.ts';

const SITUATION: Readonly<Record<Situation, string>> = {
  order: 'an order',
  watched: 'an order about which the partner is asked',
  unaddressed: 'the same, and the partner has no address',
  member: 'somebody enters a cohort',
  never: 'an order whose mail is put off until its tries are used up',
  refused: 'an order whose mail is refused for good',
  unanswered: 'an order whose mail is taken and not answered',
  brief: 'an order whose mail is put off until it is too late',
  cancelled: 'an operator cancels what is put off again and again',
  published: 'the configuration is changed, then comes an order',
};

const INTRODUCTION = `# What happens when a process fails here

Written by \`npm run chaos -- --table\`; do not edit. See [the crash test](crash-test.md#every-failpoint).

Each row is a place at which the process (embedded backend) was made to fail while it dealt with one event, and each column
a way to fail: killed (SIGKILL) and started again; held still (SIGSTOP) for 35 s, longer than the leases; an error in place
of the answer; an answer that takes 3 s. A cell says how the delivery ended, why, and how many mails the mail server took
for it. Nothing was lost and nothing came twice in any of them, or this page would not have been written.

\`IN_DOUBT lease_ran_out\`: the process was gone while the mail server may have been at work. \`answer_unknown\`: what the server
said was not heard. Both wait for a person ([operations](operations.md)).
`;

const cellOf = (end: CaseEnd | undefined): string =>
  end ? `${end.state}, ${end.messages} ${end.messages === 1 ? 'mail' : 'mails'}` : '';

/** The page that says how each case ended. */
export function failpointPage(ends: readonly CaseEnd[]): string {
  const byCase = new Map(ends.map((end) => [`${end.case.at} ${end.case.action}`, end]));
  const places = [...new Set(everyCase(['delay']).map(({ at }) => at))];
  const rows = places.map((at) => {
    const cells = FAILPOINT_ACTIONS.map((action) => cellOf(byCase.get(`${at} ${action}`)));
    return `| \`${at}\` | ${SITUATION[situationOf({ at, action: 'kill' })]} | ${cells.join(' | ')} |`;
  });
  const head = `| place | what is under way | ${FAILPOINT_ACTIONS.join(' | ')} |\n|${'---|'.repeat(FAILPOINT_ACTIONS.length + 2)}`;
  return `${INTRODUCTION}\n${head}\n${rows.join('\n')}\n`;
}
