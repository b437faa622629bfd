import createClient from 'openapi-fetch';
import { faultText } from '../faults/fault-text.ts';
import { inFormSentences } from '../faults/in-form-sentences.ts';
import type { components, paths } from './management-api.generated.ts';

export type Schemas = components['schemas'];
type Problem = Schemas['Problem'];

/** What the server said no to; status 0: it did not answer at all. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  /** To name when asking for help; null where no server answered. */
  readonly requestId: string | null;
  /** RFC 6901 pointer to the field that is wrong; null where none is named. */
  readonly pointer: string | null;
  /** Every mistake in the bodies of resources that it was sent. */
  readonly faults: NonNullable<Problem['faults']>;

  constructor(message: string, status: number, problem?: Partial<Problem>) {
    super(message);
    this.status = status;
    this.code = problem?.code ?? 'no_answer';
    this.requestId = problem?.request_id ?? null;
    this.pointer = problem?.pointer ?? null;
    this.faults = problem?.faults ?? [];
  }
}

/** Whether the server did not answer at all: the frame says so, and what is shown stays. */
export const isAway = (error: Error | null): boolean => error instanceof Refusal && error.status === 0;

/** In milliseconds. A call that hangs must not stop a screen from asking again. */
const TIMEOUT_MS = 20_000;

const within = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);

/** The management API, typed from its own description. Every write says that it comes from a page of ours. */
export const api = createClient<paths>({
  baseUrl: '',
  headers: { 'x-carillon': '1' },
  fetch: (request) => fetch(new Request(request, { signal: within(request.signal) })),
});

type Answer<Body> = { readonly data?: Body; readonly error?: unknown; readonly response: Response };

/** The body of a successful answer, its faults in the portal's words; any other is thrown as a Refusal. */
export async function bodyOf<Body>(asked: Promise<Answer<Body>>): Promise<Body> {
  let answer: Answer<Body>;
  try {
    answer = await asked;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Refusal('Carillon does not answer. Is it running?', 0);
  }
  const { data, error, response } = answer;
  if (response.ok && data !== undefined) return inFormSentences(data);
  const problem = await inFormSentences((typeof error === 'object' && error !== null ? error : {}) as Partial<Problem>);
  const detail = problem.detail ?? `The server answered ${response.status}.`;
  // The detail of a refused configuration is written for the command line.
  const message = problem.faults && problem.faults.length > 0 ? problem.faults.map(faultText).join(' ') : detail;
  throw new Refusal(message, response.status, problem);
}
