import { getConformanceSuite } from '@bufbuild/cel-spec/testdata/tests.js';
import type { IncrementalTest, IncrementalTestSuite } from '@bufbuild/cel-spec/testdata/tests.js';
import type { Value as SpecValue } from '@bufbuild/cel-spec/cel/expr/value_pb.js';
import { compilePlan, prepare } from '../src/compiler/preparation.ts';
import { createParser } from '../src/compiler/parser.ts';
import { equal, mapKeyOf } from '../src/runtime/comparison.ts';
import { Meter } from '../src/runtime/meter.ts';
import type { MapEntry, MapKey, Value } from '../src/runtime/values.ts';
import {
  CelError,
  CelMap,
  NONE,
  Optional,
  Span,
  Timestamp,
  typeNameOf,
  TypeValue,
  Uint,
} from '../src/runtime/values.ts';

export type Case = { readonly name: string; readonly test: IncrementalTest };

/** The official cases with the names of their suites. */
export function officialCases(): readonly Case[] {
  const cases: Case[] = [];
  const walk = (suite: IncrementalTestSuite, path: readonly string[]): void => {
    for (const test of suite.tests) cases.push({ name: [...path, suite.name, test.name].join('/'), test });
    for (const inner of suite.suites) walk(inner, [...path, suite.name]);
  };
  for (const suite of getConformanceSuite().suites) walk(suite, []);
  return cases;
}

/** How a case ended: `wrong` may never be. */
export type Outcome =
  | { readonly kind: 'passed' | 'outside' }
  | { readonly kind: 'refused' | 'error' | 'wrong'; readonly detail: string };

/** Seconds and nanoseconds of a protobuf Timestamp or Duration: two varints, negative ones in two's complement. */
function readNanos(bytes: Uint8Array): bigint {
  const fields = [0n, 0n, 0n];
  for (let at = 0; at < bytes.length;) {
    const field = (bytes[at++] ?? 0) >> 3;
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] ?? 0;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
    }
    fields[field] = BigInt.asIntN(64, value);
  }
  return (fields[1] ?? 0n) * 1_000_000_000n + (fields[2] ?? 0n);
}

/** Undefined where the value is a protobuf message, which expressions on JSON never see. */
function fromSpec(value: SpecValue): Value | undefined {
  const { kind } = value;
  switch (kind.case) {
    case 'nullValue':
      return null;
    case 'boolValue':
    case 'stringValue':
    case 'doubleValue':
    case 'int64Value':
    case 'bytesValue':
      return kind.value;
    case 'uint64Value':
      return new Uint(kind.value);
    case 'typeValue':
      return new TypeValue(kind.value);
    case 'listValue': {
      const items = kind.value.values.map(fromSpec);
      return items.every((item) => item !== undefined) ? items : undefined;
    }
    case 'mapValue':
      return mapFromSpec(
        kind.value.entries.map(({ key, value: held }) => [key && fromSpec(key), held && fromSpec(held)]),
      );
    case 'objectValue': {
      const name = kind.value.typeUrl.replace(/^.*\//, '');
      if (name === 'google.protobuf.Timestamp') return new Timestamp(readNanos(kind.value.value));
      return name === 'google.protobuf.Duration' ? new Span(readNanos(kind.value.value)) : undefined;
    }
    case 'enumValue':
    case undefined:
      return undefined;
  }
}

function mapFromSpec(entries: readonly (readonly [Value | undefined, Value | undefined])[]): Value | undefined {
  const pairs = new Map<MapKey, MapEntry>();
  for (const [key, value] of entries) {
    const known = key === undefined ? undefined : mapKeyOf(key);
    if (known === undefined || key === undefined || value === undefined) return undefined;
    pairs.set(known, { key, value });
  }
  return new CelMap(pairs);
}

/** Equal in value and in type: int 1 is not double 1 here. */
function identical(found: Value, expected: Value): boolean {
  if (typeof found === 'number' && typeof expected === 'number')
    return Object.is(found, expected) || found === expected;
  if (typeNameOf(found) !== typeNameOf(expected)) return false;
  if (Array.isArray(found) && Array.isArray(expected)) {
    return (
      found.length === expected.length && found.every((item, at) => identical(item as Value, expected[at] as Value))
    );
  }
  return equal(new Meter(), found, expected) === true;
}

/** Runs a case both ways; a difference between them is wrong too. */
export function runCase({ test }: Case): Outcome {
  const { original } = test;
  const names = new Map<string, string>();
  const frame: Record<string, Value> = {};
  for (const { name } of original.typeEnv) names.set(name, 'dyn');
  for (const [name, binding] of Object.entries(original.bindings)) {
    const value = binding.kind.case === 'value' ? fromSpec(binding.kind.value) : undefined;
    if (value === undefined) return { kind: 'outside' };
    names.set(name, 'dyn');
    frame[name] = value;
  }
  if ([...names.keys()].some((name) => !/^[A-Za-z_]\w*$/.test(name))) return { kind: 'outside' };
  const matcher = original.resultMatcher;
  const wanted = matcher.case === 'value' ? fromSpec(matcher.value) : matcher.case === undefined ? true : undefined;
  const wantsError = matcher.case === 'evalError' || matcher.case === 'anyEvalErrors';
  if (original.checkOnly || (wanted === undefined && !wantsError)) return { kind: 'outside' };
  let prepared;
  try {
    prepared = prepare(createParser(names), original.expr);
  } catch {
    return { kind: 'outside' };
  }
  if (!prepared.ok) {
    if (wantsError) return { kind: 'passed' };
    return { kind: 'refused', detail: prepared.error.map(({ message }) => message).join('; ') };
  }
  const { plan } = prepared.value;
  const [found, closed] = [true, false].map((generate) => compilePlan(plan, generate)(frame, new Meter())) as [
    Value,
    Value,
  ];
  if (describeValue(found) !== describeValue(closed))
    return { kind: 'wrong', detail: 'generated code and closures differ' };
  if (found instanceof CelError) return wantsError ? { kind: 'passed' } : { kind: 'error', detail: found.text };
  if (wanted !== undefined && !wantsError && identical(found, wanted)) return { kind: 'passed' };
  return {
    kind: 'wrong',
    detail: `${describeValue(found)} in place of ${wanted === undefined ? 'an error' : describeValue(wanted)}`,
  };
}

/** Text that tells two values apart, types included. */
export function describeValue(value: Value): string {
  if (value instanceof CelError) return `error(${value.text})`;
  if (value instanceof Uint) return `${value.whole}u`;
  if (value instanceof Timestamp || value instanceof Span) return `${typeNameOf(value)}(${value.nanos})`;
  if (value instanceof TypeValue) return value.typeName;
  if (value instanceof Optional)
    return value === NONE || value.held === undefined ? 'none' : `of(${describeValue(value.held)})`;
  if (value instanceof Uint8Array) return `bytes(${Buffer.from(value).toString('hex')})`;
  if (value instanceof CelMap) {
    return `{${[...value.pairs.values()].map(({ key, value: held }) => `${describeValue(key)}: ${describeValue(held)}`).join(', ')}}`;
  }
  if (Array.isArray(value)) return `[${value.map((item) => describeValue(item as Value)).join(', ')}]`;
  if (typeof value === 'bigint') return `int(${value})`;
  if (typeof value === 'number') return `double(${Object.is(value, -0) ? '-0' : value})`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, held]) => `"${key}": ${describeValue(held as Value)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value);
}
