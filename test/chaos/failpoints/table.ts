import { FAILPOINT_ACTIONS } from './failpoints.ts';
import { caseKey, everyCaseOfRoles, situationOf, type FailpointCase, type Situation } from './cases.ts';
import { everyChannelCase } from './channel-cases.ts';
import type { CaseEnd } from './laboratory.ts';

/** What is under way, in words. */
const SITUATION: Readonly<Record<Situation, string>> = {
  order: 'an order',
  followed: 'an order, then more of it',
  watched: 'an order about which the partner is asked',
  unaddressed: 'the same, and the partner has no address',
  member: 'somebody enters a cohort',
  never: 'an order whose message is put off until its tries are used up',
  refused: 'an order whose message is refused for good',
  unanswered: 'an order whose message is taken and not answered',
  slow: 'an order whose message is taken after 12 s, so that its lease is renewed',
  bounced: 'an order to an address that the mail server does not know',
  forgiven: 'an operator takes such an address off the list, then comes another order to it',
  parked: 'the partner refuses, and an operator has it asked again',
  sealed: 'a secret is stored, then comes an order',
  unsealed: 'a secret is removed, then comes an order',
  keyed: 'an order by a key that nobody has used before',
  brief: 'an order whose message is put off until it is too late',
  cancelled: 'an operator cancels what is put off again and again',
  published: 'the configuration is changed, then comes an order',
  reported:
    'a message is delivered by what its provider reports twice and out of order, and failed by what somebody else reports',
  returned: 'a mail that was sent comes back',
  complained: 'a mail that was sent is complained of',
  unsubscribed: 'somebody looks at the link of a mail, then uses it, then comes another order',
  stopped: 'somebody answers STOP, gets nothing, answers START, and then comes another order',
  'twice-barred': 'an unknown number answers STOP and START, then comes another order to it',
  astray: 'an order of whose message is said once that there is nothing here',
};

const INTRODUCTION = `# What happens when a process fails here

Written by \`npm run chaos -- --table\`; do not edit. See [the crash test](../README.md#every-failpoint).

Each row is a place at which the process (embedded backend) was made to fail while it dealt with one event, and each column
a way to fail: killed (SIGKILL) and started again; held still (SIGSTOP) for 35 s, longer than the leases; an error in place
of the answer; an answer that takes 3 s. A cell says how the delivery ended, why, and how many mails the mail server took
for it. Nothing was lost and nothing came twice in any of them, or the row would not have been written; rows are renewed one by one, so not all are of one day. \`time 2\`: it failed when
it came there for the second time.

\`IN_DOUBT lease_ran_out\`: the process was gone while the mail server may have been at work. \`answer_unknown\`: what the server
said was not heard. Both wait for a person ([doubts and dead letters](../../../docs/doubts-and-dead-letters.md)).
`;

/** Where the table of the cluster begins. */
const ON_CLUSTER = '## On a cluster';

const CLUSTER_INTRODUCTION = `${ON_CLUSTER}

Written by \`npm run chaos -- --backend cluster --table\`; do not edit. The same, with each role as a process of its own, on
Kafka and FerretDB. The process that came to the place first failed there; the others went on. Where one is held still there are
two engines and two deliveries: while it was held the other one finished what had begun, and what it wrote when it woke
changed nothing, but that it alone knew what the mail server had answered. An empty cell was not tried.
`;

const CHANNEL_INTRODUCTION = `# What happens on three channels when a process fails here

Written by \`npm run chaos -- --parts channels --table\`; do not edit. See [the crash test](../README.md#every-failpoint), and
[the same for email](README.md), which has what comes before a message knows its channel.

A row is a place at which the process (embedded backend) was made to fail while it dealt with one message, or with what comes after it: what
its provider reports, mail that comes back, and what people want no more. Killed (SIGKILL) it was started again; held still
(SIGSTOP) it went on after 20 s. A cell says how the delivery ended, why, and how many messages its provider took. Nothing was lost, nothing
came twice, nothing was sent to whoever had opted out, and no report that nobody proved counted, or the row would not have been written.
\`IN_DOUBT\` waits for a report, for the provider's list (Twilio), or for a person; here neither came.
`;

const cellOf = (end: CaseEnd | undefined): string =>
  end ? `${end.state}, ${end.messages} ${end.messages === 1 ? 'message' : 'messages'}` : '';

/** Places come again where several roles come there, each by another situation, and where not only the first time counts. */
const rowKey = (one: FailpointCase): string => caseKey({ ...one, action: 'kill' });
const placeCell = ({ at, nth }: FailpointCase): string => `\`${at}\`${nth === undefined ? '' : `, time ${nth}`}`;
const PLACE_CELL = /^`([a-z.-]+)`(?:, time (\d+))?$/;

const OR = ' or ';

/** The role of the one process that failed, or the roles of all that the page names for its row. */
const rolesOf = (who: string): readonly string[] => who.split(OR).map((one) => one.replace(/ \d+$/, ''));

/** Beside the place: who failed there, or the channel of the message. */
type Beside = 'who failed' | 'channel' | null;

const besideOf = (beside: Beside, own: readonly CaseEnd[]): readonly string[] => {
  if (beside === 'who failed') return [[...new Set(own.flatMap(({ who }) => rolesOf(who)))].join(OR)];
  return beside === 'channel' ? [own[0]?.case.channel ?? 'email'] : [];
};

function tableOf(ends: readonly CaseEnd[], beside: Beside): string {
  const actions = FAILPOINT_ACTIONS.filter((action) => ends.some((end) => end.case.action === action));
  const rows = [...new Set([...everyCaseOfRoles(['delay']), ...everyChannelCase(['delay'])].map(({ at }) => at))]
    .flatMap((at) => [
      ...Map.groupBy(
        ends.filter((end) => end.case.at === at).toSorted((a, b) => (rowKey(a.case) < rowKey(b.case) ? -1 : 1)),
        (end) => rowKey(end.case),
      ).values(),
    ])
    .map((own) => {
      const [first] = own;
      if (!first) return '';
      const cells = actions.map((action) => cellOf(own.find((end) => end.case.action === action)));
      return `| ${[placeCell(first.case), ...besideOf(beside, own), SITUATION[situationOf(first.case)], ...cells].join(' | ')} |`;
    });
  const head = ['place', ...(beside === null ? [] : [beside]), 'what is under way', ...actions];
  return `| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}\n${rows.join('\n')}\n`;
}

export const embeddedPart = (ends: readonly CaseEnd[]): string => `${INTRODUCTION}\n${tableOf(ends, null)}`;
export const clusterPart = (ends: readonly CaseEnd[]): string =>
  `${CLUSTER_INTRODUCTION}\n${tableOf(ends, 'who failed')}`;
export const channelPage = (ends: readonly CaseEnd[]): string => `${CHANNEL_INTRODUCTION}\n${tableOf(ends, 'channel')}`;

/** The page as it is, in its two parts; the second may be missing. */
export function partsOf(page: string): readonly [embedded: string, cluster: string] {
  const at = page.indexOf(`\n${ON_CLUSTER}`);
  return at < 0 ? [page, ''] : [page.slice(0, at), page.slice(at + 1)];
}

const CHANNELS = ['sms', 'push'] as const;
const SITUATIONS = Object.keys(SITUATION) as Situation[];

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** How each case ended, as a page or a part of it has it; `beside` is its second column, where there is one. */
export function endsIn(part: string, beside: Beside): readonly CaseEnd[] {
  const lines = part.split('\n').filter((line) => line.startsWith('| '));
  const [head = [], ...rows] = lines.map(cellsOf);
  return rows.flatMap((cells) =>
    FAILPOINT_ACTIONS.flatMap((action): readonly CaseEnd[] => {
      const cell = cells[head.indexOf(action)] ?? '';
      const [, state, messages] = /^([A-Z_]+ [a-z_]+), ([01]) messages?$/.exec(cell) ?? [];
      if (state === undefined) return [];
      const [, at = '', nth] = PLACE_CELL.exec(cells[0] ?? '') ?? [];
      const words = cells[head.indexOf('what is under way')];
      const situation = SITUATIONS.find((one) => SITUATION[one] === words) ?? 'order';
      const second = beside === null ? '' : (cells[head.indexOf(beside)] ?? '');
      const who = beside === 'who failed' ? second : '';
      const channel = beside === 'channel' ? CHANNELS.find((one) => one === second) : undefined;
      const time = nth === undefined ? {} : { nth: Number(nth) };
      return [
        {
          case: { at, action, situation, ...time, ...(channel && { channel }) },
          reached: true,
          who,
          state,
          messages: Number(messages),
        },
      ];
    }),
  );
}

/** What is written, with what was run again in place of it. */
export function renewed(written: readonly CaseEnd[], ends: readonly CaseEnd[]): readonly CaseEnd[] {
  const again = new Set(ends.map((end) => caseKey(end.case)));
  return [...written.filter((end) => !again.has(caseKey(end.case))), ...ends];
}

/** The page that says how each case ended. */
export const failpointPage = (embedded: string, cluster: string): string =>
  cluster === '' ? embedded : `${embedded}\n${cluster}`;
