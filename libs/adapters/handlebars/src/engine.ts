import type { PartKind, TemplatePart } from '@carillon/domain/channels';
import type { Rendered } from '@carillon/ports';
import { messageOf, type Locality } from '@carillon/kernel';

import { inspect } from './check.ts';
import { bodyText, fits, headerLine } from './sanitize-text.ts';
import { isSmall, plainCopy, RenderFailure } from './context.ts';
import { renderFunctionOf, type RenderFunction } from './render-functions.ts';
import { VALUE_HELPERS } from './functions.ts';
import { isLine, LIMITS, SMALL } from './limits.ts';
import { textOfHtml } from './plain-text.ts';
import { planOf, type Piece } from './plan.ts';
import { Exhausted, Run, STEPS, tooLong } from './run.ts';
import type { TemplateSource } from './template-source.ts';
import { stripBlanks } from './syntax.ts';

/** A template that was read and found right, as data that a thread can give to another. */
export type Plan = { readonly parts: readonly PlannedPart[]; readonly strict: boolean };
/** Null: the author left it out. */
export type PlannedPart = TemplatePart & { readonly pieces: readonly Piece[] | null };
export type Planned =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly part: string; readonly message: string };

/** A template ready to be filled in. */
export type Compiled = { readonly parts: readonly CompiledPart[]; readonly strict: boolean };
type CompiledPart = TemplatePart & { readonly fill: RenderFunction | null };

/** Reads and checks a template: what takes time for a hostile one, so not for the main thread before it was published. */
export function planTemplate(sheet: TemplateSource): Planned {
  const { programs, faults } = inspect(sheet);
  const [fault] = faults;
  if (fault) {
    return { ok: false, part: fault.part, message: `${fault.message} (line ${fault.line}, column ${fault.column})` };
  }
  const parts: PlannedPart[] = [];
  for (const { source: _source, compiled: _compiled, ...part } of sheet.parts) {
    const program = programs.get(part.name);
    try {
      if (program) stripBlanks(program);
      parts.push({ ...part, pieces: program ? planOf(program) : null });
    } catch (error) {
      return { ok: false, part: part.name, message: messageOf(error) };
    }
  }
  return { ok: true, plan: { parts, strict: sheet.strict } };
}

export type Engine = {
  compile(plan: Plan): Compiled;
  /**
   * Only where the thread can be stopped from outside. `onPart` hears which part is next, so that whoever has to stop it
   * knows.
   */
  render(compiled: Compiled, context: unknown, locality: Locality, onPart?: (part: string) => void): Rendered;
  /**
   * Renders in the calling thread, within the limits `SMALL` of some milliseconds. Returns undefined if these limits do
   * not suffice.
   */
  renderSmall(compiled: Compiled, context: unknown, locality: Locality): Rendered | undefined;
};

/** Fills in templates, in the thread that calls. */
export function createEngine(): Engine {
  return {
    compile: ({ parts, strict }) => ({
      parts: parts.map(({ pieces, ...part }) => ({
        ...part,
        fill: pieces ? renderFunctionOf(pieces, part.kind, VALUE_HELPERS) : null,
      })),
      strict,
    }),
    render(compiled, context, locality, onPart) {
      let at = 'context';
      try {
        const run = new Run(plainCopy(context), locality, compiled.strict, Infinity);
        return fill(compiled.parts, run, (part) => {
          at = part;
          onPart?.(part);
        });
      } catch (error) {
        return { ok: false, part: at, message: failureOf(error) };
      }
    },
    renderSmall(compiled, context, locality) {
      if (!isSmall(context)) return undefined;
      const run = new Run(context, locality, compiled.strict, SMALL.steps);
      try {
        return fill(compiled.parts, run);
      } catch (error) {
        // Anything else may be for want of steps, or have another reason in this thread than in one of its own.
        return error instanceof RenderFailure ? { ok: false, part: run.part, message: error.message } : undefined;
      }
    },
  };
}

function fill(parts: Compiled['parts'], run: Run, onPart?: (part: string) => void): Rendered & { ok: true } {
  const filled: Record<string, string> = {};
  for (const part of parts) {
    const { name, fill: make, otherwise } = part;
    const source = typeof otherwise === 'object' ? filled[otherwise.textOf] : undefined;
    if (!make && source === undefined) continue;
    begin(part, run);
    onPart?.(name);
    filled[name] = make ? finished(make(run), part, run) : derivedText(source ?? '', run);
  }
  return { ok: true, parts: filled, missing: [...run.missing] };
}

function begin({ name, kind, longest }: TemplatePart, run: Run): void {
  run.part = name;
  run.shown = 0;
  run.written = 0;
  run.unclean = false;
  // A line is cut off where it is too long; a body that is cut off would say something else.
  run.most = isLine(kind) ? LIMITS.output : (longest ?? LIMITS.output);
}

function finished(text: string, { kind, longest }: TemplatePart, run: Run): string {
  if (isLine(kind)) {
    if (run.isSmall && text.length > SMALL.header) throw new Exhausted();
    return lineOf(text, kind, longest ?? LIMITS.output);
  }
  if (!run.unclean) return within(text, run);
  if (run.isSmall && text.length > SMALL.unclean) throw new Exhausted();
  return within(bodyText(text), run);
}

/** A line of its kind. An address or a key that is cut off would be another one. */
function lineOf(text: string, kind: PartKind, longest: number): string {
  if (kind !== 'link' && kind !== 'key') return headerLine(text, longest);
  const line = headerLine(text, LIMITS.output);
  const size = kind === 'key' ? Buffer.byteLength(line) : line.length;
  if (size > longest)
    throw new RenderFailure(`The result is longer than ${longest} ${kind === 'key' ? 'bytes' : 'characters'}`);
  if (kind === 'link' && line !== '' && !isHttps(line)) throw new RenderFailure('The result is not an https address');
  return line;
}

const isHttps = (text: string): boolean => /^https:\/\/[^\s/?#]/i.test(text) && !/\s/.test(text) && URL.canParse(text);

function derivedText(html: string, run: Run): string {
  run.spend(html.length / STEPS.htmlCharacters);
  return within(textOfHtml(html), run);
}

/** Errors of the platform (a string beyond what V8 can hold, a stack that ends) are failures of this render too. */
const failureOf = (error: unknown): string =>
  error instanceof RenderFailure ? error.message : `It could not be rendered: ${messageOf(error).slice(0, 200)}`;

function within(text: string, { most }: Run): string {
  if (text.length <= most && fits(text)) return text;
  throw tooLong(most);
}
