/** Where an HTTP server writes what an operator should see. Facts never hold headers, bodies or query strings. */
export type HttpLog = {
  warn(facts: Readonly<Record<string, unknown>>, message: string): void;
  error(facts: Readonly<Record<string, unknown>>, message: string): void;
};

export const SILENT_LOG: HttpLog = { warn: () => undefined, error: () => undefined };
