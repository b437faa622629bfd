/** Names of keys and numbers of list items from the top of a body down to a value. */
export type ValuePath = readonly (string | number)[];

/** A path as people write it: `rules.paid.accounts[0]`. */
export const pathText = (path: ValuePath): string =>
  path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('');

/** Keys and values, such as a body is made of; no list. */
export const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
