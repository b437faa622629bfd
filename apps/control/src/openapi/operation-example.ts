/** Example request and response of an operation, parsed by the schemas of its route when the document is made. */
export type OperationExample = { readonly takes?: unknown; readonly answers: unknown };

/** The only page of a list. */
export const page = (item: object) => ({ items: [item], next: null });
