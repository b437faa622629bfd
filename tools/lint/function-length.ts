import type { Context, Rule } from './rule.ts';

const MAX_LINES = 100;
/** Lines that are empty or hold only a comment. */
const IS_SILENT = /^\s*($|\/\/|\/\*|\*)/;
/** A block of tests is a list, and not read at once: `describe`, `describe.each(…)`, functions named `describeX`, and chapters of the walkthrough. */
const IS_TEST_BLOCK = /^(describe|chapter|testScreens)/;

type Node = { readonly type: string; readonly range: [number, number]; readonly parent?: unknown };

/** Functions have at most 100 lines. Empty lines, comments and JSX do not count. */
export const functionLength: Rule = {
  meta: { type: 'suggestion' },
  create(context) {
    const markup: Node[] = [];
    const functions: Node[] = [];
    const addFunction = (node: Node): void => void functions.push(node);
    const addMarkup = (node: Node): void => void markup.push(node);
    return {
      FunctionDeclaration: addFunction,
      FunctionExpression: addFunction,
      ArrowFunctionExpression: addFunction,
      JSXElement: addMarkup,
      JSXFragment: addMarkup,
      'Program:exit'() {
        for (const node of functions) {
          const lines = linesOf(node, markup, context);
          if (lines > MAX_LINES && !IS_TEST_BLOCK.test(nameOf(node))) {
            context.report({
              loc: { start: positionOf(node.range[0], context), end: positionOf(node.range[0] + 1, context) },
              message: `${nameOf(node) || 'this function'} has ${lines} lines, and ${MAX_LINES} are allowed: split it into named steps`,
            });
          }
        }
      },
    };
  },
};

const positionOf = (at: number, { sourceCode }: Context) => sourceCode.getLocFromIndex(at);

function linesOf(node: Node, markup: readonly Node[], context: Context): number {
  const spanOf = ({ range: [start, end] }: Node): readonly [number, number] => [
    positionOf(start, context).line,
    positionOf(end - 1, context).line,
  ];
  const isInside = ({ range: [start, end] }: Node): boolean => start > node.range[0] && end < node.range[1];
  const [first, last] = spanOf(node);
  const markupLines = new Set<number>();
  for (const element of markup.filter(isInside)) {
    const [from, to] = spanOf(element);
    for (let line = from; line <= to; line += 1) markupLines.add(line);
  }
  let lines = 0;
  for (let line = first; line <= last; line += 1) {
    if (!markupLines.has(line) && !IS_SILENT.test(context.sourceCode.lines[line - 1] ?? '')) lines += 1;
  }
  return lines;
}

type Named = {
  readonly type: string;
  readonly name?: string;
  readonly id?: Named | null;
  readonly key?: Named;
  readonly callee?: Named;
  readonly object?: Named;
};

/** The name of a function, or of the call that it is handed to. Empty if it has none. */
function nameOf(node: Node): string {
  const own = (node as Named).id?.name;
  if (own !== undefined) return own;
  const parent = node.parent as Named | undefined;
  return parent?.id?.name ?? parent?.key?.name ?? calleeOf(parent?.callee);
}

function calleeOf(callee: Named | undefined): string {
  return callee?.name ?? (callee ? calleeOf(callee.callee ?? callee.object) : '');
}
