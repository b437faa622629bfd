/** Rewrites one JSON log line for people: time, level, message, then `name=value`; an error on lines of its own. */
export function formatForTerminal(line: string): string {
  const { level, time, msg, error, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const clock = typeof time === 'string' ? time.slice(11, 23) : '';
  const facts = Object.entries(fields).map(([name, value]) => ` ${name}=${wordOrQuoted(value)}`);
  const head = `${clock} ${String(level).toUpperCase().padEnd(7)} ${printable(msg)}${facts.join('')}\n`;
  return head + (error === undefined ? '' : formatError(error as Note, '  '));
}

type Note = { type: string; code?: string; message: string; stack?: string[]; cause?: Note; errors?: Note[] };

function formatError({ type, code, message, stack = [], cause, errors = [] }: Note, indent: string): string {
  const head = `${indent}${type}${code === undefined ? '' : ` ${code}`}: ${printable(message)}\n`;
  const frames = stack.map((frame) => `${indent}  at ${printable(frame)}\n`).join('');
  const inner = [...(cause ? [cause] : []), ...errors].map((one) => formatError(one, `${indent}  `)).join('');
  return head + frames + inner;
}

const wordOrQuoted = (value: unknown): string =>
  typeof value === 'string' && !/^[\w.:/@[\]-]+$/.test(value) ? JSON.stringify(printable(value)) : String(value);

/** Without control characters: a terminal would obey them. */
const printable = (value: unknown): string => String(value).replace(/[\p{Cc}\p{Cf}]/gu, ' ');
