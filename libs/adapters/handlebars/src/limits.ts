import type { PartKind } from '@carillon/domain/channels';

/**
 * What a template may cost (docs/template-language.md has the same table). Templates and event data are hostile: everything here
 * bounds work that a tenant could otherwise make us do for every message.
 */
export const LIMITS = {
  /** Characters of the source of one body. */
  bodySource: 64 * 1024,
  /** Characters of a body that was compiled from what somebody wrote. */
  compiledSource: 256 * 1024,
  /** Characters of the source of one line, such as a subject. */
  headerSource: 2 * 1024,
  /** `{{...}}` tags of the whole template, comments included. Compiling costs up to 1.3 ms for each. */
  mustaches: 500,
  /** Characters between `{{` and `}}`, comments excepted. */
  mustacheLength: 1000,
  /** Words, path segments and arguments in all tags: they cost parse time like tags do. */
  words: 4000,
  /** Parentheses inside each other. The parser's time explodes with their depth. */
  parentheses: 4,
  /** Blocks inside each other. */
  blockDepth: 8,
  /** `{{else if}}` of the whole template. Parse time grows with the square of a chain. */
  elseIfs: 100,
  /** Bytes of UTF-8 of one body that comes out. */
  output: 256 * 1024,
  /** Rounds of all `each` of one render together, nested ones included. */
  rounds: 10_000,
  /** Distinct names that are listed as missing. */
  missing: 100,
  /** Maximum nesting of objects and lists in the context. */
  contextDepth: 64,
  /** Values in the context. */
  contextValues: 200_000,
  /** Milliseconds that filling in a compiled template may take. */
  renderMs: 250,
  /** Milliseconds that compiling a template may take: 500 tags are some 100 ms, on a slow machine several times that. */
  compileMs: 2000,
  /** Bytes of heap that compiled templates of one worker may take, by `compiledBytes`. */
  cache: 64 * 1024 * 1024,
} as const;

/**
 * Limits of templates that the main thread renders itself, which saves a message to a stoppable thread. Together they
 * bound the work to some milliseconds for any template and data.
 */
export const SMALL = {
  /** Values and names in the context. */
  contextValues: 2000,
  /** Characters of all texts and names in the context. */
  contextCharacters: 32 * 1024,
  /** Maximum steps, which run.ts counts. A mail with a list of fifty items takes some hundred. */
  steps: 4000,
  /** Milliseconds after which the next step is the last: for whatever these bounds do not count. */
  ms: 8,
  /** Maximum characters of a rendered part, before it is sanitized. */
  output: 128 * 1024,
  /** The same of a part that has to be cleaned, which takes longer by far. */
  unclean: 8 * 1024,
  /** The same of a line. */
  header: 2 * 1024,
  /** Bytes of heap that templates may take there, by `compiledBytes`. */
  cache: 64 * 1024 * 1024,
} as const;

/** Parts that come out as one line. */
export const isLine = (kind: PartKind): boolean => kind !== 'html' && kind !== 'text';

export const sourceLimit = (kind: PartKind): number => (isLine(kind) ? LIMITS.headerSource : LIMITS.bodySource);
