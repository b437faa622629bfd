/** Text of so many bytes at most, of one thing again and again. */
const full = (bytes: number, open: string, again: string, close: string): string =>
  open + again.repeat(Math.floor((bytes - open.length - close.length) / again.length)) + close;

/** Returns the texts that take a reader longest for their size: at most `bytes` long, or with `values` values. */
export const hostileJson = (bytes: number, values: number): Readonly<Record<string, string>> => ({
  'empty lists': full(bytes, '[[]', ',[]', ']'),
  'empty objects': full(bytes, '[{}', ',{}', ']'),
  'nested lists': full(bytes, '[0', `,${'['.repeat(30)}${']'.repeat(30)}`, ']'),
  numbers: full(bytes, '[1', ',1', ']'),
  'fields of other names': `[{${Array.from({ length: values - 2 }, (_, at) => `"f${at}":1`).join()}}]`,
  'fields of one name': full(bytes, '[{"a":1}', ',{"a":1}', ']'),
  escapes: full(bytes, '["', '\\u0041', '"]'),
  'line breaks': full(bytes, '', '\n', 'x'),
  digits: full(bytes, '[', '1', ']'),
  'open quotes': full(bytes, '', '"', ''),
  'open lists': full(bytes, '', '[', ''),
});

/** Milliseconds of processor time that it takes this thread, at its best of three: how busy the machine is does not count. */
export function processorTime(run: () => void): number {
  const spent = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage();
    run();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...spent);
}
