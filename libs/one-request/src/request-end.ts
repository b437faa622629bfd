import { providerResult, type ProviderResult } from '@carillon/domain/deliveries';

/** A complete response of any status. Header names are lower case. A repeated header is left out. */
export type Answered = {
  readonly kind: 'answered';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/**
 * How a request ended. `unsent`: nobody can have acted on it, because no byte was sent or the server says so.
 * `unknown`: it began, and no complete response came back.
 */
export type RequestEnd =
  | Answered
  | { readonly kind: 'unsent'; readonly words: string; readonly stopped: boolean; readonly alert: boolean }
  | { readonly kind: 'unknown'; readonly words: string };
export type Unanswered = Exclude<RequestEnd, Answered>;

/** `alert`: it does not mend itself. */
export const unsent = (words: string, alert = false): Unanswered => ({ kind: 'unsent', words, stopped: false, alert });
export const unknown = (words: string): Unanswered => ({ kind: 'unknown', words });
export const STOPPED: Unanswered = {
  kind: 'unsent',
  words: 'The delivery was stopped before the message was handed over.',
  stopped: true,
  alert: false,
};
export const CUT_OFF = 'The connection ended before the answer was complete.';
export const LATE = 'The server did not answer in time.';

/** Returns the result of a message whose request got no response. */
export const resultOfUnanswered = (end: Unanswered): ProviderResult =>
  end.kind === 'unsent'
    ? providerResult('transient', end.stopped ? 'stopped' : '', end.words, { alert: end.alert })
    : providerResult('ambiguous', '', end.words);

/** Returns the headers of a response without repeated ones, which are ambiguous. */
export const singleHeaders = (headers: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
