import type { Span, SpanUnit } from './spans.ts';

/** A deadline as a form: so long before or after a time of the event. */
export type DeadlineForm = Span & {
  readonly side: 'before' | 'after';
  /** `event.starts_at`. May be half typed. */
  readonly field: string;
};

const HOURS_OF_DAY = 24;
const PATH = String.raw`[A-Za-z_][\w.]*`;
const FORM = new RegExp(String.raw`^timestamp\((${PATH})\)(?: ?([+-]) ?duration\("(\d+)([smh])"\))?$`);

/** Returns the form of an expression for a deadline. Null: it says something else. */
export function readDeadline(source: string): DeadlineForm | null {
  const [whole, field = '', sign = '+', amount = '0', unit = 'h'] = FORM.exec(source.trim()) ?? [];
  if (whole === undefined) return null;
  const side = sign === '-' ? 'before' : 'after';
  const hours = unit === 'h' ? Number(amount) : Number.NaN;
  if (hours > 0 && hours % HOURS_OF_DAY === 0) return { side, field, amount: String(hours / HOURS_OF_DAY), unit: 'd' };
  return { side, field, amount, unit: unit as SpanUnit };
}

/** Returns the expression of a form: `timestamp(event.starts_at) - duration("24h")`. The language has no days. */
export function deadlineText({ amount, unit, side, field }: DeadlineForm): string {
  const time = `timestamp(${field.trim()})`;
  const count = amount.trim();
  if (/^0*$/.test(count)) return time;
  const isDays = unit === 'd' && /^\d+$/.test(count);
  const span = isDays ? `${Number(count) * HOURS_OF_DAY}h` : `${count}${unit}`;
  return `${time} ${side === 'before' ? '-' : '+'} duration("${span}")`;
}
