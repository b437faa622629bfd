import { spanWords } from '../rule/spans.ts';
import { readTotal, type TotalBody } from '../rule/totals.ts';
import { expressionWords, fieldWords } from './condition-words.ts';

type Loose = Readonly<Record<string, unknown>>;

/** A draft may hold anything: a total without a window is shown by its name. */
const isTotal = (value: unknown): value is TotalBody =>
  typeof value === 'object' && value !== null && typeof (value as Loose)['within'] === 'string';

/** `the number of events of the same order where type is “failed” in the last hour` */
function totalWords(body: TotalBody, noun: string): string {
  const { kind, of, where, window } = readTotal(body);
  const what = {
    count: 'the number of',
    sum: `the sum of ${fieldWords(of)} in`,
    distinct: `the number of different values of ${fieldWords(of)} in`,
  };
  const whose = `events of the same ${noun === '' ? 'key' : noun}`;
  const which = where.trim() === '' ? '' : ` where ${expressionWords(where)}`;
  const span = typeof window === 'string' ? '' : spanWords(`${window.amount}${window.unit}`).replace(/^an? /, '');
  return `${what[kind]} ${whose}${which} in the ${typeof window === 'string' ? `calendar ${window}` : `last ${span}`}`;
}

/** Returns a condition in words, with each total of the rule as what it counts. `noun`: what an event is about. */
export const conditionOf = (source: string, totals: unknown, noun: string): string =>
  expressionWords(source).replaceAll(/\btotals\.(\w+)(?= is )/g, (name, key: string) => {
    const body: unknown = typeof totals === 'object' && totals !== null ? (totals as Loose)[key] : undefined;
    return isTotal(body) ? totalWords(body, noun) : name;
  });
