import type { EmailTemplate } from '@carillon/domain';
import type { Rendered } from '@carillon/ports';
import { messageOf } from '@carillon/kernel';

import { inspect } from './check.ts';
import { bodyText, fits, headerLine } from './cleaning.ts';
import { isSmall, plainCopy, RenderFailure } from './context.ts';
import { fillOf, type Fill } from './filling.ts';
import type { Locality } from './formatting.ts';
import { valueHelpers } from './functions.ts';
import { LIMITS, PARTS, SMALL, type Part } from './limits.ts';
import { textOfHtml } from './plain-text.ts';
import { planOf, type Piece } from './plan.ts';
import { Exhausted, Run, STEPS, tooLong } from './run.ts';
import { stripBlanks } from './syntax.ts';

/** A template that was read and found right, as data that a thread can give to another. */
export type Plan = { readonly parts: Partial<Record<Part, readonly Piece[]>>; readonly strict: boolean };
export type Planned =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly part: string; readonly message: string };

/** A template ready to be filled in. */
export type Compiled = { readonly parts: Partial<Record<Part, Fill>>; readonly strict: boolean };

/** Reads and checks a template: what takes time for a hostile one, so not for the main thread before it was published. */
export function planTemplate(template: EmailTemplate): Planned {
  const { programs, faults } = inspect(template);
  const [fault] = faults;
  if (fault) {
    return { ok: false, part: fault.part, message: `${fault.message} (line ${fault.line}, column ${fault.column})` };
  }
  const parts: Partial<Record<Part, readonly Piece[]>> = {};
  for (const part of PARTS) {
    const program = programs[part];
    if (!program) continue;
    try {
      stripBlanks(program);
      parts[part] = planOf(program);
    } catch (error) {
      return { ok: false, part, message: messageOf(error) };
    }
  }
  return { ok: true, plan: { parts, strict: template.strict === true } };
}

export type Engine = {
  compile(plan: Plan): Compiled;
  /**
   * Only where the thread can be stopped from outside. `onPart` hears which part is next, so that whoever has to stop it
   * knows.
   */
  render(compiled: Compiled, context: unknown, onPart?: (part: Part) => void): Rendered;
  /**
   * The same in any thread, within `SMALL`, which is meant to be some milliseconds. Undefined where that does not suffice to
   * tell what comes out.
   */
  renderSmall(compiled: Compiled, context: unknown): Rendered | undefined;
};

/** Fills in templates, in the thread that calls. */
export function createEngine(locality: Locality): Engine {
  const helpers = valueHelpers(locality);
  return {
    compile({ parts, strict }) {
      const fills: Partial<Record<Part, Fill>> = {};
      for (const part of PARTS) {
        const pieces = parts[part];
        if (pieces) fills[part] = fillOf(pieces, part, helpers);
      }
      return { parts: fills, strict };
    },
    render(compiled, context, onPart) {
      let at: Part | 'context' = 'context';
      try {
        const run = new Run(plainCopy(context), compiled.strict, Infinity);
        return fill(compiled.parts, run, (part) => {
          at = part;
          onPart?.(part);
        });
      } catch (error) {
        return { ok: false, part: at, message: failureOf(error) };
      }
    },
    renderSmall(compiled, context) {
      if (!isSmall(context)) return undefined;
      const run = new Run(context, compiled.strict, SMALL.steps);
      try {
        return fill(compiled.parts, run);
      } catch (error) {
        // Anything else may be for want of steps, or have another reason in this thread than in one of its own.
        return error instanceof RenderFailure ? { ok: false, part: run.part, message: error.message } : undefined;
      }
    },
  };
}

function fill(parts: Compiled['parts'], run: Run, onPart?: (part: Part) => void): Rendered & { ok: true } {
  const filled = (part: Part): string | null => {
    const make = parts[part];
    if (!make) return null;
    run.part = part;
    run.shown = 0;
    run.written = 0;
    run.unclean = false;
    onPart?.(part);
    return make(run);
  };
  const body = (part: 'html' | 'text'): string | null => {
    const text = filled(part);
    if (text === null) return null;
    if (!run.unclean) return within(text);
    if (run.isSmall && text.length > SMALL.unclean) throw new Exhausted();
    return within(bodyText(text));
  };
  const header = (part: 'subject' | 'from'): string | null => {
    const text = filled(part);
    if (run.isSmall && text !== null && text.length > SMALL.header) throw new Exhausted();
    return text === null ? null : headerLine(text, LIMITS[part]);
  };
  const subject = header('subject') ?? '';
  const from = header('from');
  const html = body('html');
  const text = body('text') ?? derivedText(html ?? '', run, onPart);
  return {
    ok: true,
    subject,
    html,
    text,
    from,
    missing: [...run.missing],
  };
}

function derivedText(html: string, run: Run, onPart?: (part: Part) => void): string {
  run.part = 'text';
  onPart?.('text');
  run.spend(html.length / STEPS.htmlCharacters);
  return within(textOfHtml(html));
}

/** Errors of the platform (a string beyond what V8 can hold, a stack that ends) are failures of this render too. */
const failureOf = (error: unknown): string =>
  error instanceof RenderFailure ? error.message : `It could not be rendered: ${messageOf(error).slice(0, 200)}`;

function within(text: string): string {
  if (fits(text)) return text;
  throw tooLong();
}
