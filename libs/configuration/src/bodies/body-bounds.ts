import type { CodedFault } from '@carillon/kernel';
import type { ValuePath } from '../value-path.ts';
import { isGroup } from '../value-path.ts';

/** Levels of a body. No shape needs more than a dozen; readers call themselves for each. */
const MAX_LEVELS = 32;

type Odd = { readonly path: ValuePath; readonly coded: CodedFault };

/** Returns a part of a body that no reader accepts: unlimited nesting, or characters that a file cannot hold. */
export function oddBody(body: unknown): Odd | undefined {
  const left: { readonly value: unknown; readonly path: ValuePath }[] = [{ value: body, path: [] }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { value, path } = next;
    if (path.length > MAX_LEVELS) {
      return { path: path.slice(0, 1), coded: { code: 'nested_too_deeply', facts: { most: String(MAX_LEVELS) } } };
    }
    if (typeof value === 'string' && !value.isWellFormed()) return halfCharacter(path);
    if (Array.isArray(value)) for (const [at, item] of value.entries()) left.push({ value: item, path: [...path, at] });
    if (!isGroup(value)) continue;
    for (const [name, item] of Object.entries(value)) {
      if (!name.isWellFormed()) return halfCharacter(path);
      left.push({ value: item, path: [...path, name] });
    }
  }
  return undefined;
}

const halfCharacter = (path: ValuePath): Odd => ({ path, coded: { code: 'half_character', facts: {} } });
