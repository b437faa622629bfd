import { pino } from 'pino';
import { framesOf, noteOf } from './error-notes.ts';
import { LOG_FIELDS, type LogFieldName, type LogFields } from './log-fields.ts';
import { formatForTerminal } from './terminal-lines.ts';
import { cut, scrub, scrubForeign } from './scrub.ts';

export type LogLevel = 'debug' | 'info' | 'warning' | 'error' | 'off';
/** Says one thing with the facts of it. The message is fixed text; what varies is in the fields. Never a line per record. */
export type Log = (fields: LogFields, message: string) => void;
export type Logger = { readonly debug: Log; readonly info: Log; readonly warn: Log; readonly error: Log };

export type LoggerOptions = {
  /** Default `warning`: a healthy server is silent. */ readonly level?: LogLevel | undefined;
  /** Lines for people instead of JSON. Default: whether stderr is a terminal. */ readonly pretty?: boolean | undefined;
  /** Facts of every line. */ readonly base?: LogFields | undefined;
  /** Where lines go; default stderr, because stdout belongs to the answers of commands. */
  readonly destination?: { write(line: string): void } | undefined;
};

const LEVELS = { debug: 'debug', info: 'info', warning: 'warn', error: 'error', off: 'silent' } as const;

/** A logger whose lines hold only the fields of the table, scrubbed. It never throws. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const pretty = options.pretty ?? process.stderr.isTTY;
  const out = options.destination ?? pino.destination({ fd: 2, sync: true });
  const lines = pino(
    {
      level: LEVELS[options.level ?? 'warning'],
      base: safeFields(options.base ?? {}),
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label === 'warn' ? 'warning' : label }) },
      // Fields are already plain values; pino's own serializers would read them again.
      serializers: {},
    },
    pretty
      ? {
          write: (line) => {
            out.write(formatForTerminal(line));
          },
        }
      : out,
  );
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error'): Log =>
    (fields, message) => {
      if (!lines.isLevelEnabled(level)) return;
      try {
        lines[level](safeFields(fields), '%s', cut(scrub(message), 500));
      } catch {
        // A line that cannot be written must not stop the work that it reports.
      }
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** A logger that says nothing, for tests and callers without one. */
export const silentLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Keeps what the table allows. The rest is counted and not named, because a name can be data too. */
function safeFields(fields: LogFields): Record<string, unknown> {
  const safe: Record<string, unknown> = {};
  let dropped = 0;
  for (const name of Object.keys(fields)) {
    const value = Object.hasOwn(LOG_FIELDS, name) ? safeValue(name as LogFieldName, fields) : DROPPED;
    if (value === DROPPED) dropped += 1;
    else if (value !== undefined) safe[name] = value;
  }
  if (dropped > 0) safe['dropped'] = dropped;
  return safe;
}

const DROPPED = Symbol('dropped');

/** A scalar, scrubbed and cut; or an error taken apart. */
function safeValue(name: LogFieldName, fields: LogFields): unknown {
  try {
    const value: unknown = fields[name];
    if (name === 'error') return value === undefined ? undefined : noteOf(value);
    if (typeof value === 'string') {
      if (name === 'stack') return framesOf(value, '');
      return name === 'cause' ? cut(scrubForeign(value), 300) : cut(scrub(value), 200);
    }
    if (typeof value === 'bigint') return value.toString();
    return value === null || SCALARS.has(typeof value) ? value : DROPPED;
  } catch {
    return DROPPED;
  }
}

const SCALARS: ReadonlySet<string> = new Set(['undefined', 'number', 'boolean']);
