import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CADENCE_BUGS } from './cadence-bugs.ts';
import { FAILPOINTS_IN_THE_PRODUCT } from './failpoints/planted-failpoints.ts';
import { PEOPLE_BUGS } from './people-bugs.ts';
import * as planting from './planting.ts';

const root = resolve(import.meta.dirname, '../..');
const isChange = (value: unknown): value is planting.Change =>
  typeof value === 'object' && value !== null && 'file' in value && 'from' in value && 'to' in value;
const changes = Object.entries(planting).flatMap(([name, value]) => (isChange(value) ? [[name, value] as const] : []));

const found = Object.entries({ ...CADENCE_BUGS, ...PEOPLE_BUGS }).flatMap(([name, bug]) =>
  bug.changes.map((change) => [name, change] as const),
);

/* What a change leads to is shown where it is planted, which takes minutes; that it still fits is seen at once. */
describe('every change that tests plant into the product', () => {
  it.each([...changes, ...found, ...FAILPOINTS_IN_THE_PRODUCT.map((change) => ['failpoints', change] as const)])(
    'has one place to be planted: %s',
    (_name, { file, from }) => {
      expect(readFileSync(resolve(root, file), 'utf8').split(from)).toHaveLength(2);
    },
  );

  it('is found here', () => expect(changes.length).toBeGreaterThan(10));
});
