import type { fateOf, SentEntry, SentToPerson } from '../../src/cadence/index.ts';
import type { Delivery, ProviderVerdict } from '../../src/deliveries/index.ts';

export type Which = 0 | 1;
export type Found = { readonly sure: readonly string[]; readonly gone: readonly string[] };
/** Where one worker is in `takeRoom`, the step, the call and what comes after it. */
export type Worker =
  | { readonly at: 'idle' }
  | {
      readonly at: 'judges' | 'takes' | 'looks' | 'fences' | 'marks' | 'drops';
      readonly which: Which;
      /** The delivery as it read it. */
      readonly seen: Delivery;
      readonly document: SentToPerson | null;
      readonly left: readonly SentEntry[];
      readonly met: Delivery | null;
      readonly found: Found;
      readonly waitedFor: readonly string[];
      readonly doubts: readonly string[];
      readonly sent: boolean;
    }
  | { readonly at: 'steps'; readonly which: Which; readonly seen: Delivery; readonly token: string }
  | { readonly at: 'asks whose' | 'sends' | 'gives back'; readonly which: Which; readonly token: string }
  | { readonly at: 'settles'; readonly which: Which; readonly token: string; readonly verdict: ProviderVerdict };

export type State = {
  readonly document: SentToPerson | null;
  readonly deliveries: readonly [Delivery, Delivery];
  /** How often the provider accepted, by delivery. */
  readonly accepted: readonly [number, number];
  readonly workers: readonly [Worker, Worker];
  readonly writes: number;
  readonly tokens: number;
  readonly crashes: number;
  readonly cancels: number;
  readonly others: number;
};

export const put = (state: State, index: Which, worker: Worker): State => ({
  ...state,
  workers: index === 0 ? [worker, state.workers[1]] : [state.workers[0], worker],
});
export const counted = ([first, second]: State['accepted'], which: Which): State['accepted'] =>
  which === 0 ? [first + 1, second] : [first, second + 1];

export function noted(
  {
    found,
    waitedFor,
    doubts,
  }: Pick<Extract<Worker, { readonly doubts: readonly string[] }>, 'found' | 'waitedFor' | 'doubts'>,
  token: string,
  fate: ReturnType<typeof fateOf>,
) {
  if (fate === 'doubt') return { doubts: [...doubts, token] };
  if (fate === 'again') return { waitedFor: [...waitedFor, token] };
  return fate === 'sure'
    ? { found: { ...found, sure: [...found.sure, token] } }
    : { found: { ...found, gone: [...found.gone, token] } };
}

/** Compare-and-set; undefined where the version has moved on. Nothing here reads what is left out. */
export function replaced(state: State, next: Delivery): State | undefined {
  const which = state.deliveries[0].id === next.id ? 0 : 1;
  if (state.deliveries[which].version !== next.version - 1) return undefined;
  const slim = { ...next, history: [], unpublished: [], detail: '' };
  return { ...state, deliveries: which === 0 ? [slim, state.deliveries[1]] : [state.deliveries[0], slim] };
}

const deliveryKey = (delivery: Delivery | null): string =>
  delivery === null
    ? '-'
    : [
        delivery.version,
        delivery.state,
        delivery.token,
        delivery.intent.id,
        delivery.clean,
        ...delivery.attempts.map(({ token, result }) => `${token}${result?.verdict ?? '?'}`),
      ].join();
const documentKey = (document: SentToPerson | null): string =>
  document === null
    ? '-'
    : `${document.revision} ${document.entries.map(({ token, sure }) => `${token}${sure ? '!' : ''}`).join()}`;
const workerKey = (worker: Worker): string =>
  JSON.stringify(worker, (name, value: unknown) => {
    if (name === 'seen' || name === 'met') return deliveryKey(value as Delivery | null);
    if (name === 'document') return documentKey(value as SentToPerson | null);
    return name === 'left' ? (value as SentEntry[]).map(({ token }) => token) : value;
  });
/** Two workers are alike: the order in which they stand says nothing. */
export const keyOf = ({ document, deliveries, workers, ...rest }: State): string =>
  [
    documentKey(document),
    ...deliveries.map(deliveryKey),
    ...workers.map(workerKey).toSorted(),
    JSON.stringify(rest),
  ].join('\n');

export function fault({ deliveries, accepted }: State): string | undefined {
  if (accepted.some((times) => times > 1)) return 'accepted twice';
  if (accepted.every((times) => times > 0)) return 'too many in the window';
  for (const which of [0, 1] as const) {
    if (deliveries[which].reason !== 'capped') continue;
    const other = which === 0 ? 1 : 0;
    if (accepted[other] === 0 && deliveries[other].clean) return 'dropped although nothing else was sent';
  }
  return undefined;
}
