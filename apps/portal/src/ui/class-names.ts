/** Names of classes, those left out that do not count. */
export const cls = (...names: readonly (string | false | null | undefined)[]): string =>
  names.filter((name) => typeof name === 'string').join(' ');
