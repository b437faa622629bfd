import type { Json } from '@carillon/kernel';
import type { Dice } from '../dice.ts';
import { BROKEN_BYTES, bytesOf, hostileText, mutateText } from './texts.ts';

/** JSON as it is written, so that it can be written wrongly: names twice, numbers that no program holds. */
type Tree =
  | { readonly kind: 'raw'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly Tree[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [name: string, Tree])[] };

const RAW: readonly string[] = [
  '1e400',
  '-1e400',
  '1e-400',
  '-0',
  '0.1e1',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '1'.repeat(5_000),
  `0.${'3'.repeat(2_000)}`,
  '01',
  '+1',
  '.5',
  '1.',
  'NaN',
  'Infinity',
  '0x10',
  '1n',
  'tru',
  'undefined',
  "'single'",
  '"\\x41"',
  '"\\u12"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"open',
  '"\t"',
  '// note\n1',
  '/* note */ 1',
  '[1,]',
  '{"a":1,}',
  '{a:1}',
  '[,]',
  '',
  ',',
  ']',
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"admin":true}}}',
  '{"":""}',
  '{"a":1,"a":2}',
  '{"a":1,"\\u0061":2}',
];

const DEPTHS = [16, 31, 32, 33, 100, 5_000];

function rawTree(dice: Dice): Tree {
  switch (dice.between(0, 7)) {
    case 0: {
      const depth = dice.pick(DEPTHS);
      return { kind: 'raw', text: '['.repeat(depth) + ']'.repeat(dice.pick([depth, depth, depth - 1])) };
    }
    case 1: {
      const depth = dice.pick(DEPTHS);
      return { kind: 'raw', text: `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}` };
    }
    case 2: {
      const many = dice.pick([10, 2_000, 19_999, 20_000, 20_001]);
      return { kind: 'map', entries: Array.from({ length: many }, (_, at) => [`k${at}`, leaf('1')] as const) };
    }
    case 3:
    case 4:
      return leaf(JSON.stringify(hostileText(dice)));
    default:
      return leaf(dice.pick(RAW));
  }
}

const leaf = (text: string): Tree => ({ kind: 'raw', text });

function treeOf(value: Json): Tree {
  if (Array.isArray(value)) return { kind: 'list', items: (value as readonly Json[]).map(treeOf) };
  if (typeof value === 'object' && value !== null) {
    return { kind: 'map', entries: Object.entries(value).map(([name, item]) => [name, treeOf(item)] as const) };
  }
  return leaf(typeof value === 'bigint' ? String(value) : JSON.stringify(value));
}

function print(tree: Tree): string {
  if (tree.kind === 'raw') return tree.text;
  if (tree.kind === 'list') return `[${tree.items.map(print).join(',')}]`;
  return `{${tree.entries.map(([name, item]) => `${JSON.stringify(name)}:${print(item)}`).join(',')}}`;
}

/** Something at one place in the tree becomes something else. */
function mutateTree(dice: Dice, tree: Tree): Tree {
  const children = tree.kind === 'raw' ? 0 : tree.kind === 'list' ? tree.items.length : tree.entries.length;
  if (children === 0 || dice.chance(0.15)) return replaced(dice, tree);
  const at = dice.between(0, children - 1);
  if (tree.kind === 'list') {
    if (dice.chance(0.2)) return { kind: 'list', items: tree.items.toSpliced(at, 1) };
    return { kind: 'list', items: tree.items.with(at, mutateTree(dice, tree.items[at] as Tree)) };
  }
  if (tree.kind === 'map') return mutateMap(dice, tree.entries, at);
  return replaced(dice, tree);
}

function mutateMap(dice: Dice, entries: readonly (readonly [string, Tree])[], at: number): Tree {
  const [name, item] = entries[at] as readonly [string, Tree];
  switch (dice.between(0, 7)) {
    case 0:
      return { kind: 'map', entries: entries.toSpliced(at, 1) };
    case 1:
      return { kind: 'map', entries: entries.with(at, [hostileText(dice), item]) };
    case 2:
      return { kind: 'map', entries: [...entries, [name, rawTree(dice)]] };
    case 3:
      return { kind: 'map', entries: [...entries, [hostileText(dice), rawTree(dice)]] };
    default:
      return { kind: 'map', entries: entries.with(at, [name, mutateTree(dice, item)]) };
  }
}

/** Another value, often of another type. */
function replaced(dice: Dice, tree: Tree): Tree {
  switch (dice.between(0, 6)) {
    case 0:
      return { kind: 'list', items: [tree] };
    case 1:
      return { kind: 'map', entries: [[hostileText(dice), tree]] };
    case 2:
      return leaf(dice.pick(['null', 'true', 'false', '0', '-1', '""', '[]', '{}']));
    default:
      return rawTree(dice);
  }
}

/** A valid value with one to four slips in it, as JSON text; some of it is no JSON any more. */
export function mutateJson(dice: Dice, value: Json): string {
  let tree = treeOf(value);
  for (let slips = dice.between(1, 4); slips > 0; slips -= 1) tree = mutateTree(dice, tree);
  const text = print(tree);
  return dice.chance(0.1) ? mutateText(dice, text) : text;
}

/** The bytes of a body: of such a text, sometimes not even UTF-8, cut, or with a mark in front. */
export function jsonBytes(dice: Dice, value: Json): string {
  const bytes = bytesOf(dice.chance(0.08) ? JSON.stringify(value) : mutateJson(dice, value));
  if (dice.chance(0.9)) return bytes;
  const at = dice.between(0, bytes.length);
  switch (dice.between(0, 3)) {
    case 0:
      return bytes.slice(0, at) + dice.pick(BROKEN_BYTES) + bytes.slice(at);
    case 1:
      return `\xef\xbb\xbf${bytes}`;
    case 2:
      return bytes.slice(0, at);
    default:
      return Buffer.from(bytes, 'utf16le').toString('latin1');
  }
}
