import type { PartKind } from '@carillon/domain/channels';
import { addressWord, bodyText, escaped, isPlain } from './sanitize-text.ts';
import { show } from './formatting.ts';
import type { ValueHelper } from './functions.ts';
import { isLine } from './limits.ts';
import type { Piece, Source, SourceCall } from './plan.ts';
import { missed, newFrame, STEPS, tooLong, type Run } from './run.ts';
import type { Target } from './scope.ts';

/** Makes the text of a piece, or of several. */
export type RenderFunction = (run: Run) => string;
type Value = (run: Run) => unknown;
type Helpers = Readonly<Record<string, ValueHelper>>;

/** A plan as functions inside each other: no code is made from what a tenant wrote, here or in any other thread. */
export function renderFunctionOf(pieces: readonly Piece[], kind: PartKind, helpers: Helpers): RenderFunction {
  const fills = pieces.map((piece) => fillOfPiece(piece, kind, helpers));
  const [only] = fills;
  if (fills.length === 1 && only) return only;
  return (run) => {
    let text = '';
    for (const fill of fills) text += fill(run);
    return text;
  };
}

function fillOfPiece(piece: Piece, kind: PartKind, helpers: Helpers): RenderFunction {
  if (piece.is === 'block') return fillOfBlock(piece, kind, helpers);
  if (piece.is === 'shown') {
    const value = valueOf(piece.source, helpers);
    return (run) => shown(run, value(run), kind);
  }
  return fillOfText(piece.text, kind);
}

/** Written text of a body is cleaned once, unless what comes next to it decides what it is cleaned to. */
function fillOfText(written: string, kind: PartKind): RenderFunction {
  if (isLine(kind))
    return (run) => {
      run.write(written.length);
      return written;
    };
  if (written.isWellFormed() && isPlain(written.slice(0, 1).toWellFormed()) && !written.endsWith('\r')) {
    const cleaned = bodyText(written);
    return (run) => {
      run.write(cleaned.length);
      return cleaned;
    };
  }
  return (run) => {
    run.unclean = true;
    run.write(written.length);
    return written;
  };
}

/** A value as it stands in a part of this kind. */
function shown(run: Run, value: unknown, kind: PartKind): string {
  const text = typeof value === 'string' ? value : show(value);
  run.spend(1 + text.length / STEPS.characters);
  run.shown += text.length;
  if (run.shown > run.most) throw tooLong(run.most);
  if (!isPlain(text)) run.unclean = true;
  const fitted = kind === 'html' ? escaped(text) : kind === 'mailbox' ? addressWord(text) : text;
  run.write(fitted.length);
  return fitted;
}

function fillOfBlock(piece: Piece & { is: 'block' }, kind: PartKind, helpers: Helpers): RenderFunction {
  const { call, level } = piece;
  const body = renderFunctionOf(piece.body, kind, helpers);
  const otherwise = renderFunctionOf(piece.otherwise, kind, helpers);
  const subject = valueOf(call.params[0] as Source, helpers);
  if (call.helper === 'each') return eachOf(subject, level, body, otherwise);
  if (call.helper === 'with') return withOf(subject, level, body, otherwise);
  const options = optionsOf(call, helpers);
  const wanted = call.helper === 'if';
  return (run) => {
    run.spend(1);
    const value = subject(run);
    return isTrue(value, options(run)['includeZero']) === wanted ? body(run) : otherwise(run);
  };
}

const isTrue = (value: unknown, includeZero: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : Boolean(value) || (value === 0 && Boolean(includeZero));

function withOf(subject: Value, level: number, body: RenderFunction, otherwise: RenderFunction): RenderFunction {
  return (run) => {
    run.spend(1);
    const value = subject(run);
    if (value === undefined || value === null || value === false || value === '') return otherwise(run);
    const frame = (run.frames[level] ??= newFrame());
    frame.item = value;
    frame.key = undefined;
    return body(run);
  };
}

function eachOf(subject: Value, level: number, body: RenderFunction, otherwise: RenderFunction): RenderFunction {
  return (run) => {
    run.spend(1);
    const list = subject(run);
    const isList = Array.isArray(list);
    const keys = isList || typeof list !== 'object' || list === null ? undefined : Object.keys(list);
    const count = isList ? list.length : (keys?.length ?? 0);
    if (count === 0) return otherwise(run);
    const frame = (run.frames[level] ??= newFrame());
    let output = '';
    for (let index = 0; index < count; index += 1) {
      run.round();
      const key = keys?.[index] ?? index;
      frame.item = (list as Record<string | number, unknown>)[key];
      frame.key = key;
      frame.index = index;
      frame.first = index === 0;
      frame.last = index === count - 1;
      output += body(run);
      if (output.length > run.most) throw tooLong(run.most);
    }
    return output;
  };
}

function valueOf(source: Source, helpers: Helpers): Value {
  if (source.is === 'literal') return () => source.value;
  if (source.is === 'call') return callOf(source, helpers);
  const { label } = source;
  const value = lookup(source.target);
  if (label === null) return value;
  return (run) => {
    const found = value(run);
    if (found === undefined) missed(run, label);
    return found;
  };
}

function callOf(call: SourceCall, helpers: Helpers): Value {
  const helper = helpers[call.helper] as ValueHelper;
  const params = call.params.map((param) => valueOf(param, helpers));
  const options = optionsOf(call, helpers);
  const { label } = call;
  return (run) => {
    run.spend(1);
    const values = params.map((param) => param(run));
    return helper(run, values, options(run), label);
  };
}

const NONE = Object.freeze(Object.create(null) as Readonly<Record<string, unknown>>);
function optionsOf(call: SourceCall, helpers: Helpers): (run: Run) => Readonly<Record<string, unknown>> {
  if (call.options.length === 0) return () => NONE;
  const options = call.options.map(([name, value]) => [name, valueOf(value, helpers)] as const);
  return (run) => {
    const values = Object.create(null) as Record<string, unknown>;
    for (const [name, value] of options) values[name] = value(run);
    return values;
  };
}

/** Own properties only: a template sees data, never what JavaScript objects inherit. */
function field(value: unknown, name: string): unknown {
  if (value === undefined || value === null) return value;
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function lookup(target: Target): Value {
  if (target.kind === 'nothing') return () => undefined;
  if (target.kind === 'loop') {
    const { level, name } = target;
    return (run) => run.frames[level]?.[name];
  }
  const { rest } = target;
  const start = startOf(target);
  const [first, second] = rest;
  if (first === undefined) return start;
  if (second === undefined) return (run) => field(start(run), first);
  if (rest.length === 2) return (run) => field(field(start(run), first), second);
  return (run) => rest.reduce(field, start(run));
}

function startOf(target: Exclude<Target, { readonly kind: 'nothing' | 'loop' }>): Value {
  if (target.kind === 'root') return (run) => run.root;
  const { level, kind } = target;
  return (run) => run.frames[level]?.[kind];
}
