import { labelOf, LOOP_NAMES, walk, type Scope, type Target } from './scope.ts';
import type { Block, Expression, Hash, Mustache, PathExpression, Program } from './syntax.ts';

type Located = Pick<PathExpression, 'loc'>;

/** Names of our own helpers. No template can write them: `%` ends a name in Handlebars, and the check knows all helpers. */
export const SHOW = '%show';
export const NEED = '%need';
/** Option that carries the name of the first argument to helpers that may find it unusable. */
export const LABEL = '%label';

const text = (value: string, { loc }: Located): Expression => ({ type: 'StringLiteral', value, original: value, loc });

const path = (data: boolean, parts: readonly string[], original: string, { loc }: Located): PathExpression => ({
  type: 'PathExpression',
  data,
  depth: 0,
  parts,
  original,
  loc,
});

/** Says in Handlebars' terms what a path was found to mean, without `../` and without the author's block parameters. */
function exact(written: PathExpression, target: Target, scopes: readonly Scope[]): Expression {
  switch (target.kind) {
    case 'root':
      return scopes.length === 0
        ? path(false, target.rest, 'this', written)
        : path(true, ['root', ...target.rest], '@root', written);
    case 'item':
      return path(false, [`%item${target.level}`, ...target.rest], `%item${target.level}`, written);
    case 'key':
      return path(false, [`%key${target.level}`, ...target.rest], `%key${target.level}`, written);
    case 'loop':
      return path(false, [`%${target.name}${target.level}`], `%${target.name}${target.level}`, written);
    case 'nothing':
      return { type: 'UndefinedLiteral', loc: written.loc };
  }
}

/**
 * Prepares a checked program for the compiler, in place:
 * - every path says exactly what `resolve` found, so Handlebars never searches by itself;
 * - `{{x}}` becomes `{{%show x "x"}}` and `{{date x}}` becomes `{{%show (date (%need x "x"))}}`: these count what is
 *   missing, know its name, and print values the way the documentation says instead of `[object Object]`.
 */
export function rewrite(program: Program): void {
  const blocks: { readonly block: Block; readonly level: number }[] = [];
  walk(program, {
    block(block, _depth, scopes) {
      blocks.push({ block, level: scopes.length });
    },
    reference({ path: written, target, scopes, use, replace }) {
      const found = exact(written, target, scopes);
      if (use === 'question') return replace(found);
      replace({
        type: 'SubExpression',
        path: path(false, [NEED], NEED, written),
        params: [found, text(labelOf(written, target, scopes), written)],
        hash: undefined,
        loc: written.loc,
      });
    },
    variable(statement, written, target, scopes) {
      show(statement, [exact(written, target, scopes), text(labelOf(written, target, scopes), written)]);
    },
    call(statement) {
      const { path: called, params, hash, loc } = statement;
      const labelled: Hash = { type: 'Hash', pairs: [...(hash?.pairs ?? []), labelOfFirst(params, loc)], loc };
      show(statement, [{ type: 'SubExpression', path: called, params, hash: labelled, loc }]);
    },
  });
  // Only now: while walking, the names that the author gave are needed.
  for (const { block, level } of blocks) {
    if (block.program) block.program.blockParams = ['item', ...LOOP_NAMES].map((name) => `%${name}${level}`);
  }
}

function show(statement: Mustache, params: Expression[]): void {
  statement.path = path(false, [SHOW], SHOW, statement);
  statement.params = params;
  statement.hash = undefined;
}

function labelOfFirst(params: readonly Expression[], loc: Located['loc']): Hash['pairs'][number] {
  const [first] = params;
  const label = first?.type === 'SubExpression' ? first.params[1] : undefined;
  const known = label?.type === 'StringLiteral' ? label : text('', { loc });
  return { type: 'HashPair', key: LABEL, value: known, loc };
}
