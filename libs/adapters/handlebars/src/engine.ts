import type { EmailTemplate } from '@carillon/domain';
import type { Rendered } from '@carillon/ports';
import { messageOf } from '@carillon/kernel';
import Handlebars from 'handlebars';

import { inspect } from './check.ts';
import { addressWord, bodyText, fits, headerLine } from './cleaning.ts';
import { plainCopy, RenderFailure } from './context.ts';
import {
  choosePlural,
  compare,
  formatCurrency,
  formatDate,
  formatNumber,
  safeUrl,
  show,
  type Locality,
} from './formatting.ts';
import { LIMITS, PARTS, type Part } from './limits.ts';
import { textOfHtml } from './plain-text.ts';
import { LABEL, NEED, rewrite, SHOW } from './rewrite.ts';
import { HELPERS } from './vocabulary.ts';

type Fill = (context: unknown) => string;
/** A template ready to be filled in, or why it cannot be. */
export type Compiled =
  | { readonly ok: true; readonly parts: Partial<Record<Part, Fill>>; readonly strict: boolean }
  | { readonly ok: false; readonly part: string; readonly message: string };

/** What one render has used up and found missing. */
type Run = {
  readonly strict: boolean;
  readonly missing: Set<string>;
  readonly startedAt: number;
  readonly cpuAt: NodeJS.CpuUsage;
  rounds: number;
  /** Characters shown in this part. */
  shown: number;
  part: Part;
};

/** What Handlebars gives to a helper as last argument. */
type Given = {
  readonly hash: Readonly<Record<string, unknown>>;
  readonly data: Record<string, unknown>;
  readonly fn: (context: unknown, options?: unknown) => string;
  readonly inverse: (context: unknown) => string;
};

export type Engine = {
  compile(template: EmailTemplate): Compiled;
  /** `onPart` hears which part is next, so that whoever has to stop the render knows. */
  render(compiled: Compiled, context: unknown, onPart?: (part: Part) => void): Rendered;
};

/** Own properties only, whatever Handlebars' default; said explicitly it also does not write to the console. */
const ACCESS = { allowProtoPropertiesByDefault: false, allowProtoMethodsByDefault: false } as const;

/** Compiles and fills in templates, in the thread that calls. Not for the main thread: only a worker can be stopped. */
export function createEngine(locality: Locality): Engine {
  const handlebars = Handlebars.create();
  for (const name of ['log', 'lookup', 'helperMissing', 'blockHelperMissing']) handlebars.unregisterHelper(name);
  let run = newRun(false);
  registerHelpers(handlebars, locality, () => run);
  const knownHelpers: Record<string, boolean> = Object.fromEntries(
    [...Object.keys(HELPERS), SHOW, NEED].map((name) => [name, true]),
  );

  const compile = (template: EmailTemplate): Compiled => {
    const { programs, faults } = inspect(template);
    const [fault] = faults;
    if (fault) {
      return { ok: false, part: fault.part, message: `${fault.message} (line ${fault.line}, column ${fault.column})` };
    }
    const parts: Partial<Record<Part, Fill>> = {};
    for (const part of PARTS) {
      const program = programs[part];
      if (!program) continue;
      try {
        rewrite(program);
        const settings = {
          knownHelpers,
          knownHelpersOnly: true,
          noEscape: part !== 'html',
        };
        const filled = handlebars.compile<unknown>(program, settings);
        const fill: Fill = (context) => filled(context, ACCESS);
        run = newRun(false);
        // Handlebars compiles at the first call: an empty one, so that compiling is not counted as rendering.
        fill(Object.create(null));
        parts[part] = fill;
      } catch (error) {
        return { ok: false, part, message: messageOf(error) };
      }
    }
    return { ok: true, parts, strict: template.strict === true };
  };

  const render: Engine['render'] = (compiled, context, onPart) => {
    if (!compiled.ok) return compiled;
    run = newRun(compiled.strict);
    let at: Part | 'context' = 'context';
    const fill = (part: Part, data: unknown): string | null => {
      const filled = compiled.parts[part];
      if (!filled) return null;
      at = part;
      run.part = part;
      run.shown = 0;
      onPart?.(part);
      return filled(data);
    };
    try {
      const data = plainCopy(context);
      const subject = headerLine(fill('subject', data) ?? '', LIMITS.subject);
      const from = fill('from', data);
      const html = fill('html', data);
      const body = html === null ? null : within(bodyText(html));
      const text = fill('text', data);
      at = 'text';
      return {
        ok: true,
        subject,
        html: body,
        text: within(text === null ? textOfHtml(body ?? '') : bodyText(text)),
        from: from === null ? null : headerLine(from, LIMITS.from),
        missing: [...run.missing],
      };
    } catch (error) {
      return { ok: false, part: at, message: failureOf(error) };
    }
  };
  return { compile, render };
}

const newRun = (strict: boolean): Run => ({
  strict,
  missing: new Set(),
  startedAt: performance.now(),
  cpuAt: process.threadCpuUsage(),
  rounds: 0,
  shown: 0,
  part: 'subject',
});

/** Errors of the platform (a string beyond what V8 can hold, a stack that ends) are failures of this render too. */
const failureOf = (error: unknown): string =>
  error instanceof RenderFailure ? error.message : `It could not be rendered: ${messageOf(error).slice(0, 200)}`;

const tooLong = (): RenderFailure => new RenderFailure(`It came out longer than ${LIMITS.output / 1024} KB`);

function within(text: string): string {
  if (fits(text)) return text;
  throw tooLong();
}

/** Time of this thread, not of the clock, decides: on a busy machine a render may wait long for its turn. */
function checkTime(run: Run): void {
  if (performance.now() - run.startedAt < LIMITS.renderMs) return;
  const used = process.threadCpuUsage(run.cpuAt);
  if ((used.user + used.system) / 1000 >= LIMITS.renderMs)
    throw new RenderFailure(tooSlow('rendering', LIMITS.renderMs));
}
export const tooSlow = (what: string, limit: number): string => `Stopped: ${what} took more than ${limit} ms`;

function missed(run: Run, label: unknown): void {
  const name = typeof label === 'string' && label !== '' ? label : 'a value';
  if (run.strict) throw new RenderFailure(`${name} is missing, and the template is strict`);
  if (run.missing.size < LIMITS.missing) run.missing.add(name);
}

/** Prints what a formatting helper made, or the value as it is where the helper could not read it. */
function readable(run: Run, value: unknown, formatted: unknown, expected: string, given: Given): string {
  if (value === undefined || value === null) return '';
  if (formatted !== undefined) return show(formatted);
  if (run.strict) throw new RenderFailure(`${show(given.hash[LABEL])} is not ${expected}, and the template is strict`);
  return show(value);
}

function registerHelpers(handlebars: typeof Handlebars, locality: Locality, current: () => Run): void {
  const formatting = (
    name: string,
    expected: string,
    format: (value: unknown, options: Given['hash']) => unknown,
  ): void =>
    handlebars.registerHelper(name, (value: unknown, given: Given) =>
      readable(
        current(),
        value,
        value === undefined || value === null ? '' : format(value, given.hash),
        expected,
        given,
      ),
    );
  formatting('date', 'a date', (value, options) => formatDate(value, options, locality));
  formatting('number', 'a number', (value, options) => formatNumber(value, options, locality));
  formatting('plural', 'a number', (value, options) => choosePlural(value, options, locality));
  handlebars.registerHelper('currency', (value: unknown, code: unknown, given: Given) =>
    readable(current(), value, formatCurrency(value, code, given.hash, locality), 'an amount', given),
  );
  handlebars.registerHelper('url', (value: unknown, given: Given) => {
    const safe = safeUrl(value);
    if (safe === undefined && value !== undefined) missed(current(), given.hash[LABEL]);
    return safe ?? '';
  });
  handlebars.registerHelper('default', (value: unknown, other: unknown) =>
    value === undefined || value === null || value === '' ? other : value,
  );
  const same = (a: unknown, b: unknown): boolean => a === b || ((a ?? null) === null && (b ?? null) === null);
  handlebars.registerHelper('eq', (a: unknown, b: unknown) => same(a, b));
  handlebars.registerHelper('ne', (a: unknown, b: unknown) => !same(a, b));
  handlebars.registerHelper('lt', (a: unknown, b: unknown) => compare(a, b) === -1);
  handlebars.registerHelper('gt', (a: unknown, b: unknown) => compare(a, b) === 1);
  handlebars.registerHelper(SHOW, (value: unknown, ...rest: readonly unknown[]) => {
    const run = current();
    // Without a label it is what a helper returned, which has counted by itself.
    if (value === undefined && rest.length > 1) missed(run, rest[0]);
    const shown = show(value);
    run.shown += shown.length;
    if (run.shown > LIMITS.output) throw tooLong();
    return run.part === 'from' ? addressWord(shown) : shown;
  });
  handlebars.registerHelper(NEED, (value: unknown, label: unknown) => {
    if (value === undefined) missed(current(), label);
    return value;
  });
  handlebars.registerHelper('with', function (this: unknown, value: unknown, given: Given) {
    if (value === undefined || value === null || value === false || value === '') return given.inverse(this);
    return given.fn(value, { data: given.data, blockParams: [value] });
  });
  handlebars.registerHelper('each', function (this: unknown, list: unknown, given: Given) {
    const entries = entriesOf(list);
    if (entries.length === 0) return given.inverse(this);
    return repeat(entries, given, current());
  });
}

function entriesOf(list: unknown): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(list)) return list.map((item: unknown, i) => [i, item] as const);
  return typeof list === 'object' && list !== null ? Object.entries(list) : [];
}

/** Here output and time multiply, so here they are counted while they grow. */
function repeat(entries: readonly (readonly [string | number, unknown])[], given: Given, run: Run): string {
  const last = entries.length - 1;
  let output = '';
  entries.forEach(([key, value], index) => {
    run.rounds += 1;
    if (run.rounds > LIMITS.rounds)
      throw new RenderFailure(`All {{#each}} together ran more than ${LIMITS.rounds} rounds`);
    if (run.rounds % 16 === 0) checkTime(run);
    // The item, then LOOP_NAMES in their order: the program was rewritten to find all of them here.
    const blockParams = [value, index, key, index === 0, index === last];
    output += given.fn(value, { data: given.data, blockParams });
    if (output.length > LIMITS.output) throw tooLong();
  });
  return output;
}
