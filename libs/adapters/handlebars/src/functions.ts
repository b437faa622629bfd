import type { Locality } from '@carillon/kernel';

import { RenderFailure } from './context.ts';
import {
  choosePlural,
  compare,
  formatCurrency,
  formatDate,
  formatNumber,
  formattersMade,
  longestHost,
  safeUrl,
  show,
} from './formatting.ts';
import { missed, STEPS, type Run } from './run.ts';

export type Options = Readonly<Record<string, unknown>>;
/** A helper that gives a value; `label` is the name of its first argument. */
export type ValueHelper = (run: Run, params: readonly unknown[], options: Options, label: string) => unknown;

type Format = (params: readonly unknown[], options: Options, locality: Locality) => unknown;

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const same = (a: unknown, b: unknown): boolean => a === b || (isAbsent(a) && isAbsent(b));

/** Formats its first argument; one that it cannot read is shown as it is, and fails a strict template. */
const formatting =
  (expected: string, format: Format): ValueHelper =>
  (run, params, options, label) => {
    const [value] = params;
    run.spend(STEPS.format);
    for (const param of params) run.look(param);
    if (isAbsent(value)) return '';
    const before = formattersMade();
    const formatted = format(params, options, run.locality);
    run.spend((formattersMade() - before) * STEPS.newFormatter);
    if (formatted === undefined && run.strict) {
      throw new RenderFailure(`${label} is not ${expected}, and the template is strict`);
    }
    const text = show(formatted ?? value);
    run.look(text);
    return text;
  };

/** Comparing long texts takes as long as they are. */
const comparing =
  (compares: (a: unknown, b: unknown) => boolean): ValueHelper =>
  (run, [a, b]) => {
    run.look(a);
    run.look(b);
    return compares(a, b);
  };

/** What the helpers of the vocabulary do, but for the blocks. */
export const VALUE_HELPERS: Readonly<Record<string, ValueHelper>> = {
  date: formatting('a date', ([value], options, locality) => formatDate(value, options, locality)),
  number: formatting('a number', ([value], options, locality) => formatNumber(value, options, locality)),
  plural: formatting('a number', ([value], options, locality) => choosePlural(value, options, locality)),
  currency: formatting('an amount', ([value, code], options, locality) =>
    formatCurrency(value, code, options, locality),
  ),
  url: (run, [value], _options, label) => {
    run.spend(STEPS.format);
    run.look(value);
    if (typeof value === 'string') run.spend(longestHost(value) ** 2 / STEPS.hostSquared);
    const safe = safeUrl(value);
    if (safe === undefined && value !== undefined) missed(run, label);
    return safe ?? '';
  },
  default: (_run, [value, other]) => (isAbsent(value) || value === '' ? other : value),
  eq: comparing(same),
  ne: comparing((a, b) => !same(a, b)),
  lt: comparing((a, b) => compare(a, b) === -1),
  gt: comparing((a, b) => compare(a, b) === 1),
};
