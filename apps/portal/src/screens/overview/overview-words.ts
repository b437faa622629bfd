import type { Insights, Last } from '../notifications/queries.ts';

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

type Numbers = Pick<Insights, 'messages' | 'people' | 'in_doubt' | 'failing_accounts'>;

/** How far back the numbers go: as it is chosen, as a heading and within a sentence. */
export const RANGES: readonly {
  readonly id: Last;
  readonly name: string;
  readonly title: string;
  readonly within: string;
}[] = [
  { id: '1h', name: 'Hour', title: 'Last hour', within: 'in one hour' },
  { id: '24h', name: 'Day', title: 'Last 24 hours', within: 'in 24 hours' },
  { id: '7d', name: 'Week', title: 'Last 7 days', within: 'in 7 days' },
];
export const DAY = RANGES[1]!;

/** The numbers of a workspace in one line; people stand beside what reached them. */
export function numbersWords(
  { messages, people, in_doubt: doubt, failing_accounts: failing }: Numbers,
  within = DAY.within,
): string {
  const reached = people === null ? '' : ` to ${counted(people, 'person', 'people')}`;
  const accounts = new Set(failing.map(({ account }) => account)).size;
  return [
    `${counted(messages, 'message', 'messages')} ${within}${messages === 0 ? '' : reached}`,
    `${doubt.deliveries.toLocaleString('en')}${doubt.complete ? '' : ' or more'} in doubt`,
    counted(accounts, 'failing account', 'failing accounts'),
  ].join(' · ');
}

/** In how many days something ends, as people say it. */
export function endsWords(endsAt: string, now: number): string {
  const days = Math.floor((Date.parse(endsAt) - now) / 86_400_000);
  if (days < 0) return 'has expired';
  if (days === 0) return 'expires within a day';
  return `expires in ${counted(days, 'day', 'days')}`;
}

export type Step = { readonly id: string; readonly name: string; readonly isDone: boolean };

/** How far somebody is, in one sentence. */
export function progressWords(steps: readonly Step[]): string {
  const done = steps.filter(({ isDone }) => isDone).length;
  const left = steps.length - done;
  if (left === 0) return 'All done: your first message was sent';
  // Somebody may send an event before anything else: a message that came is not steps away.
  if (steps.some(({ id, isDone }) => id === 'event' && isDone)) {
    return `${done} of ${steps.length} done: an event came; ${left === 1 ? 'one step is' : `${left} steps are`} left`;
  }
  return `${done} of ${steps.length} done: your first message is ${left === 1 ? 'one step' : `${left} steps`} away`;
}
