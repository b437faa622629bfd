import { labelOf, resolve, scopeOf, type Scope, type Target } from './scope.ts';
import {
  calledName,
  isCall,
  type Block,
  type Call,
  type Expression,
  type Mustache,
  type PathExpression,
  type Program,
} from './syntax.ts';
import { helperNamed, type Use } from './vocabulary.ts';

/** Where a value comes from. Only data, like the whole plan: a thread can give it to another. */
export type Source =
  | { readonly is: 'literal'; readonly value: string | number | boolean | null | undefined }
  /** `label`: the name under which its absence is counted; null where the template only asks about it. */
  | { readonly is: 'path'; readonly target: Target; readonly label: string | null }
  | SourceCall;
export type SourceCall = {
  readonly is: 'call';
  readonly helper: string;
  readonly params: readonly Source[];
  readonly options: readonly (readonly [name: string, value: Source])[];
  /** The name of the first argument, for helpers that may find it unusable. */
  readonly label: string;
};

/** A part of the output. */
export type Piece =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'shown'; readonly source: Source }
  | {
      readonly is: 'block';
      readonly call: SourceCall;
      /** The scope that it opens, counted from the outside. Only `each` and `with` open one. */
      readonly level: number;
      readonly body: readonly Piece[];
      readonly otherwise: readonly Piece[];
    };

/**
 * Compiles a checked program. Every path holds the result of `resolve`, so rendering needs no search; every shown value
 * holds the name under which it counts as missing.
 */
export function planOf(program: Program | undefined, scopes: readonly Scope[] = []): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const statement of program?.body ?? []) {
    if (statement.type === 'ContentStatement' && statement.value !== '') {
      pieces.push({ is: 'text', text: statement.value });
    } else if (statement.type === 'MustacheStatement') {
      pieces.push({ is: 'shown', source: shownBy(statement, scopes) });
    } else if (statement.type === 'BlockStatement') {
      pieces.push(blockOf(statement, scopes));
    }
  }
  return pieces;
}

function shownBy(statement: Mustache, scopes: readonly Scope[]): Source {
  if (isCall(statement)) return callOf(statement, scopes, 'value');
  return pathOf(statement.path as PathExpression, scopes, 'value');
}

function blockOf(block: Block, scopes: readonly Scope[]): Piece {
  const scope = scopeOf(block, scopes);
  return {
    is: 'block',
    call: callOf(block, scopes, block.inverse === undefined ? 'value' : 'question'),
    level: scopes.length,
    body: planOf(block.program, scope ? [...scopes, scope] : scopes),
    otherwise: planOf(block.inverse, scopes),
  };
}

/** Inside a question everything is a question: `{{default (date x) "soon"}}` does not miss `x`. */
function callOf(call: Call, scopes: readonly Scope[], use: Use): SourceCall {
  const helper = calledName(call) ?? '';
  const uses = helperNamed(helper)?.params ?? [];
  const params = call.params.map((param, i) =>
    sourceOf(param, scopes, use === 'question' ? 'question' : (uses[i] ?? 'value')),
  );
  const options = (call.hash?.pairs ?? []).map(({ key, value }) => [key, sourceOf(value, scopes, use)] as const);
  const [first] = params;
  return { is: 'call', helper, params, options, label: (first?.is === 'path' && first.label) || '' };
}

function sourceOf(node: Expression, scopes: readonly Scope[], use: Use): Source {
  if (node.type === 'SubExpression') return callOf(node, scopes, use);
  if (node.type === 'PathExpression') return pathOf(node, scopes, use);
  if ('value' in node) return { is: 'literal', value: node.value };
  return { is: 'literal', value: node.type === 'NullLiteral' ? null : undefined };
}

function pathOf(path: PathExpression, scopes: readonly Scope[], use: Use): Source {
  const target = resolve(path, scopes);
  return { is: 'path', target, label: use === 'question' ? null : labelOf(path, target, scopes) };
}
