/** Facts logged about a request: never headers, bodies, addresses or query strings. */
export type HttpLogFacts = {
  readonly request_id: string;
  readonly method: string;
  /** The route's pattern; null where there is none. */
  readonly route: string | null;
  readonly code: string;
  /** The thrown value, which the logger scrubs. */
  readonly error?: unknown;
  /** Number of requests in the line if it covers several. The other facts are those of the last request. */
  readonly count?: number;
};

/** Where an HTTP server writes what an operator should see. */
export type HttpLog = {
  warn(facts: HttpLogFacts, message: string): void;
  error(facts: HttpLogFacts, message: string): void;
};

export const SILENT_LOG: HttpLog = { warn: () => undefined, error: () => undefined };
