import { LIMITS } from './limits.ts';
import type { Place } from './syntax.ts';

export type ScanFault = Place & { readonly message: string; readonly fix: string };
/** Counts over all parts of one template. */
export type Budget = { mustaches: number; words: number; elseIfs: number };
export const newBudget = (): Budget => ({ mustaches: 0, words: 0, elseIfs: 0 });

/**
 * Scans a source once before it is parsed, for constructs too expensive for the parser and for unclosed tags, which the
 * parser reports badly. Returns the first fault; the source must then not be parsed.
 */
export function scan(source: string, limit: number, budget: Budget): ScanFault | undefined {
  if (source.length > limit) {
    return {
      line: 1,
      column: 1,
      message: `The source has ${source.length} characters; ${limit} are allowed`,
      fix: 'Shorten it. Host images and style sheets instead of putting them into the mail.',
    };
  }
  const control = /(?![\t\n\r])\p{Cc}/u.exec(source);
  if (control) return fault(source, control.index, 'A control character cannot stand in a template', 'Delete it.');
  for (let at = source.indexOf('{{'); at !== -1;) {
    if (source[at - 1] === '\\' && source[at - 2] !== '\\') {
      at = source.indexOf('{{', at + 2);
      continue;
    }
    const end = scanTag(source, at, budget);
    if (typeof end !== 'number') return end;
    at = source.indexOf('{{', end);
  }
  return undefined;
}

/** Reads one tag; returns where the text after it starts. */
function scanTag(source: string, at: number, budget: Budget): number | ScanFault {
  budget.mustaches += 1;
  if (budget.mustaches > LIMITS.mustaches) {
    return fault(
      source,
      at,
      `The template has more than ${LIMITS.mustaches} tags`,
      'Use {{#each}} for what repeats, or split the template.',
    );
  }
  if (source.startsWith('{{{{', at)) {
    return fault(source, at, 'Raw blocks ({{{{...}}}}) are not part of the language', 'Write \\{{ for literal braces.');
  }
  const inside = source[at + 2] === '~' ? at + 3 : at + 2;
  if (source[inside] === '!') return scanComment(source, at, inside);
  if (/^\s*else\s+\S/.test(source.slice(inside, inside + 40))) budget.elseIfs += 1;
  if (budget.elseIfs > LIMITS.elseIfs) {
    return fault(source, at, `More than ${LIMITS.elseIfs} {{else if}}`, 'Send the decided value with the event.');
  }
  const end = scanWords(source, at, inside, budget);
  if (typeof end !== 'number') return end;
  if (budget.words > LIMITS.words) {
    return fault(source, at, `More than ${LIMITS.words} words in tags`, 'Split the template.');
  }
  return end;
}

function scanComment(source: string, at: number, inside: number): number | ScanFault {
  const end = source.startsWith('!--', inside) ? /--~?\}\}/g : /\}\}/g;
  end.lastIndex = inside + 1;
  const found = end.exec(source);
  return found ? end.lastIndex : fault(source, at, 'This comment is not closed', 'Close it: {{!-- ... --}}.');
}

const CLOSING: Readonly<Record<string, string>> = { '"': '"', "'": "'", '[': ']' };
const BREAK = /[\s./()=|]/;

function scanWords(source: string, at: number, inside: number, budget: Budget): number | ScanFault {
  const last = Math.min(source.length, inside + LIMITS.mustacheLength);
  let depth = 0;
  for (let i = inside; i < last; i += 1) {
    const char = source[i] as string;
    const closing = CLOSING[char];
    if (closing !== undefined) {
      do i += 1;
      while (i < last && (source[i] !== closing || source[i - 1] === '\\'));
    } else if (char === '}' && source[i + 1] === '}') {
      budget.words += 1;
      return source[i + 2] === '}' ? i + 3 : i + 2;
    } else if (BREAK.test(char)) {
      budget.words += 1;
      if (char === '(') depth += 1;
      if (char === ')') depth -= 1;
      if (depth > LIMITS.parentheses) {
        return fault(source, i, `More than ${LIMITS.parentheses} parentheses inside each other`, 'Use {{#if}} blocks.');
      }
    }
  }
  return last === source.length
    ? fault(source, at, 'This tag is not closed', 'Close it with }}, and every quote inside it.')
    : fault(source, at, `This tag has more than ${LIMITS.mustacheLength} characters`, 'Is a }} or a quote missing?');
}

function fault(source: string, index: number, message: string, fix: string): ScanFault {
  const before = source.slice(0, index);
  const start = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: index - start + 1, message, fix };
}
