import type { PartKind } from '@carillon/domain/channels';
import type { TemplateFault } from '@carillon/ports';

import { attributeWarnings } from './attributes.ts';
import { LIMITS, sourceLimit } from './limits.ts';
import { newBudget, scan, type Budget } from './scan.ts';
import type { TemplateSource, SourcePart } from './template-source.ts';
import { LOOP_NAMES, walk, type Reference, type Scope, type Target } from './scope.ts';
import {
  calledName,
  isCall,
  parse,
  placeOf,
  type Block,
  type Call,
  type Expression,
  type Mustache,
  type PathExpression,
  type Place,
  type Program,
} from './syntax.ts';
import { HELPERS, helperNamed, nearNames } from './vocabulary.ts';

/** A template that was read: its trees, and everything that is wrong with it. It may be compiled if `faults` is empty. */
export type Inspected = {
  /** By the names of the parts. */
  readonly programs: ReadonlyMap<string, Program>;
  readonly faults: readonly TemplateFault[];
};

/** Reads all parts. Never throws, and takes bounded time for any source: it runs on the main thread, before saving. */
export function inspect({ parts, content }: TemplateSource): Inspected {
  const programs = new Map<string, Program>();
  const faults: TemplateFault[] = [];
  const budget = newBudget();
  for (const part of parts) {
    if (part.source === undefined && part.otherwise !== 'refused') continue;
    const program = read(part, budget, faults);
    if (program) programs.set(part.name, program);
  }
  if (!parts.some(({ name, source }) => content.includes(name) && source !== undefined)) {
    faults.push({ part: content[0] ?? '', line: 1, column: 1, ...NO_CONTENT(content) });
  }
  return { programs, faults };
}

const NO_CONTENT = (content: readonly string[]) => ({
  message: 'The template has no content',
  fix: `Give it ${content.join(', ')}${content.length > 1 ? ' or several of them' : ''}.`,
});

/** Returns warnings about a template without faults that may be intended, but are dangerous with untrusted data. */
export function warningsOf(sheet: TemplateSource): readonly TemplateFault[] {
  const { programs, faults } = inspect(sheet);
  if (faults.length > 0) return [];
  return sheet.parts.flatMap(({ name, kind }) => {
    const program = programs.get(name);
    return kind === 'html' && program ? attributeWarnings(name, program) : [];
  });
}

/** Checks an included text on its own, independent of the including template. */
export function inspectPiece(source: string): readonly Omit<TemplateFault, 'part'>[] {
  const faults: TemplateFault[] = [];
  const piece = { ...PIECE, source };
  const program = parsed(piece, newBudget(), faults);
  // The template is checked as text here. Faults that only apply to HTML are reported where the text is used in HTML.
  if (program) new Rules(piece.kind, reportTo(piece.name, faults)).statements(program);
  return faults.map(({ part: _part, ...fault }) => fault);
}
const PIECE = { name: 'text', kind: 'text', compiled: false } as const;

type Report = (place: Place, message: string, fix: string) => void;
const reportTo =
  (part: string, faults: TemplateFault[]): Report =>
  ({ line, column }, message, fix) =>
    void faults.push({ part, line, column, message, fix });

function read(part: SourcePart, budget: Budget, faults: TemplateFault[]): Program | undefined {
  const program = parsed(part, budget, faults);
  if (!program) return undefined;
  const rules = new Rules(part.kind, reportTo(part.name, faults));
  rules.statements(program);
  walk(program, rules);
  return program;
}

type Source = Pick<SourcePart, 'name' | 'kind' | 'source' | 'compiled'>;

function parsed(
  { name, kind, source, compiled }: Source,
  budget: Budget,
  faults: TemplateFault[],
): Program | undefined {
  const report = reportTo(name, faults);
  if (typeof source !== 'string') {
    report({ line: 1, column: 1 }, 'A template is text', 'Send the source, not a parsed tree.');
    return undefined;
  }
  const tooMuch = scan(source, compiled ? LIMITS.compiledSource : sourceLimit(kind), budget);
  if (tooMuch) {
    report(tooMuch, tooMuch.message, tooMuch.fix);
    return undefined;
  }
  const result = parse(source);
  if (!('fault' in result)) return result.program;
  report(result.fault, result.fault.message, 'See docs/templates.md for how blocks and tags are written.');
  return undefined;
}

/** The rules that go beyond syntax, for one part. */
class Rules {
  readonly #kind: PartKind;
  readonly #report: Report;
  constructor(kind: PartKind, report: Report) {
    this.#kind = kind;
    this.#report = report;
  }

  /** Checks which statements are allowed where, and how helpers are called. */
  statements(program: Program): void {
    program.body.forEach((statement, i) => {
      switch (statement.type) {
        case 'MustacheStatement':
          this.#mustache(statement, program.body[i - 1]);
          break;
        case 'BlockStatement':
          this.#blockCall(statement);
          if (statement.program) this.statements(statement.program);
          if (statement.inverse) this.statements(statement.inverse);
          break;
        case 'PartialStatement':
        case 'PartialBlockStatement':
          this.#report(
            placeOf(statement),
            'This is not a valid partial tag',
            'Write {{> name}}: nothing but the name of a partial of the workspace.',
          );
          break;
        case 'Decorator':
        case 'DecoratorBlock':
          this.#report(placeOf(statement), 'Decorators ({{* name}}) are not part of the language', 'Take it out.');
          break;
        case 'ContentStatement':
        case 'CommentStatement':
          break;
      }
    });
  }

  block(block: Block, depth: number): void {
    if (depth === LIMITS.blockDepth + 1) {
      this.#report(
        placeOf(block),
        `More than ${LIMITS.blockDepth} blocks inside each other`,
        'Prepare the data so that the template asks less.',
      );
    }
  }

  reference({ path, target, scopes }: Reference): void {
    this.#path(path, target, scopes);
  }

  variable(_statement: Mustache, path: PathExpression, target: Target, scopes: readonly Scope[]): void {
    this.#path(path, target, scopes);
  }

  #path(path: PathExpression, target: Target, scopes: readonly Scope[]): void {
    if (target.kind !== 'nothing') return;
    if (!path.data) {
      this.#report(placeOf(path), `${path.original} leads above the outermost level`, advice(scopes));
    } else if ((LOOP_NAMES as readonly string[]).includes(path.parts[0] ?? '')) {
      this.#report(placeOf(path), `@${path.parts.join('.')} exists only inside {{#each}}`, 'Move it into the loop.');
    } else {
      this.#report(
        placeOf(path),
        `There is no @${path.parts.join('.')}`,
        `There are @root and, in {{#each}}, ${LOOP_NAMES.map((name) => `@${name}`).join(', ')}.`,
      );
    }
  }

  #mustache(node: Mustache, before: Program['body'][number] | undefined): void {
    if (!node.escaped && this.#kind === 'html') {
      this.#report(
        placeOf(node),
        'Unescaped output ({{{...}}} or {{&...}}) is refused in html',
        'Use {{...}}: event data comes from outside, and unescaped it could put its own links and forms into your mail.',
      );
    }
    if (this.#kind === 'html' && before?.type === 'ContentStatement' && opensBareAttribute(before.value)) {
      this.#report(
        placeOf(node),
        'An attribute value that holds a variable needs quotes',
        'Write href="{{...}}": without quotes a space in the value starts an attribute of its own.',
      );
    }
    if (isCall(node)) this.#call(node, false);
    else if (node.path.type !== 'PathExpression') {
      this.#report(placeOf(node), 'A value is where a name is expected', 'Write the text without braces.');
    }
  }

  #blockCall(node: Block): void {
    const name = calledName(node);
    const helper = helperNamed(name);
    if (helper?.block === true) this.#call(node, true);
    else if (helper) this.#report(placeOf(node), `${String(name)} is not a block`, `Write ${helper.example}.`);
    else {
      const written = writtenAs(node.path);
      this.#report(
        placeOf(node),
        `There is no block {{#${written}}}`,
        node.params.length > 0
          ? known(written, true)
          : `Write {{#if ${written}}}, {{#each ${written}}} or {{#with ${written}}}.`,
      );
      node.params.forEach((param) => this.#nested(param));
    }
    const params = node.program?.blockParams?.length ?? 0;
    const allowed = name === 'each' ? 2 : name === 'with' ? 1 : 0;
    if (params > allowed) {
      this.#report(
        placeOf(node),
        `Too many names in "as |...|"`,
        '{{#each}} gives |item key|, {{#with}} gives |item|.',
      );
    }
  }

  #call(node: Call, block: boolean): void {
    const name = calledName(node);
    const helper = helperNamed(name);
    if (!helper || helper.block !== block) {
      const written = writtenAs(node.path);
      const fix = helper ? `Write ${helper.example}.` : known(written, block);
      this.#report(placeOf(node), helper ? `${written} is a block` : `There is no helper ${written}`, fix);
    } else {
      this.#arguments(node, helper);
    }
    node.params.forEach((param) => this.#nested(param));
    node.hash?.pairs.forEach((pair) => this.#nested(pair.value));
  }

  #arguments(node: Call, helper: (typeof HELPERS)[string]): void {
    const like = `Write it like ${helper.example}.`;
    const name = writtenAs(node.path);
    if (node.params.length !== helper.params.length) {
      this.#report(placeOf(node), `${name} takes ${helper.params.length}, found ${node.params.length} values`, like);
    }
    const given = node.hash?.pairs ?? [];
    for (const option of helper.required ?? []) {
      if (!given.some((pair) => pair.key === option)) this.#report(placeOf(node), `${name} needs ${option}=`, like);
    }
    for (const pair of given) {
      const options = Object.keys(helper.options);
      if (!Object.hasOwn(helper.options, pair.key)) {
        const fix = options.length === 0 ? `${name} has no options.` : `It has ${options.join(', ')}.`;
        this.#report(placeOf(pair), `${name} has no option ${pair.key}`, fix);
      } else if ('value' in pair.value) {
        const wrong = helper.options[pair.key]?.(pair.value.value);
        if (wrong !== undefined) this.#report(placeOf(pair), `${pair.key} of ${name}: ${wrong}`, like);
      }
    }
  }

  #nested(node: Expression): void {
    if (node.type !== 'SubExpression') return;
    this.#call(node, false);
  }
}

const writtenAs = (path: Call['path']): string => ('original' in path ? String(path.original) : 'null');

function known(name: string, block: boolean): string {
  const names = Object.keys(HELPERS).filter((candidate) => HELPERS[candidate]?.block === block);
  const near = nearNames(name, names);
  return near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `There are ${names.join(', ')}.`;
}

const advice = (scopes: readonly Scope[]): string =>
  scopes.length === 0
    ? 'Only {{#each}} and {{#with}} open a level; {{#if}} does not. Leave the ../ out.'
    : `There are ${scopes.length} levels around it; {{#if}} does not open one.`;

/** Whether text ends inside a tag, right after `=`: what follows would be an attribute value without quotes. */
function opensBareAttribute(text: string): boolean {
  const end = text.trimEnd();
  return end.endsWith('=') && end.lastIndexOf('<') > end.lastIndexOf('>') && /[\w-]\s*=$/.test(end.slice(-80));
}
