import { COMPARISONS, TEXT_TESTS, type FormChange } from '@carillon/domain/rules';
import { z } from 'zod';
import { OPEN } from './privacy.ts';

const step = z.union([z.string().max(200), z.int().min(0)]);
const path = z
  .tuple([z.string().max(40)], step)
  .refine(({ length }) => length <= 32, 'has at most 32 steps')
  .describe('From `event`, `item` or `variables` on, step by step: `["event", "items", 0, "qty"]`');
const value = z.union([z.string().max(4096), z.number(), z.boolean(), z.null()]);
const not = z.boolean().describe('The opposite of it');
const op = z.enum(COMPARISONS);

const conditionShapes = [
  z.strictObject({ kind: z.literal('compare'), path, op, value }),
  z.strictObject({ kind: z.literal('one_of'), path, values: z.array(value).max(500), not }),
  z.strictObject({ kind: z.literal('text'), path, test: z.enum(TEXT_TESTS), value: z.string().max(4096), not }),
  z.strictObject({ kind: z.literal('true'), path, not }),
  z.strictObject({ kind: z.literal('has'), path, not }),
  z.strictObject({ kind: z.literal('changed'), path, not }),
  z.strictObject({ kind: z.literal('changed_to'), path, value, not }),
  z.strictObject({ kind: z.literal('changed_from_to'), path, from: value, value, not }),
  z.strictObject({ kind: z.literal('size'), path, op, value: z.int() }),
  z.strictObject({
    kind: z.literal('some'),
    path,
    name: z.string().regex(/^[A-Za-z_]\w{0,39}$/, 'is a plain name'),
    field: z.array(step).max(32),
    op,
    value,
  }),
  z.strictObject({ kind: z.literal('expression'), source: z.string().max(4096) }),
] as const;
const condition = z.discriminatedUnion('kind', conditionShapes).meta({ id: 'FormCondition' });

const place = { start: z.int(), end: z.int().describe('In UTF-16 units of the source; exclusive') };
const match = z.enum(['all', 'any']);
const placedCondition = z.intersection(condition, z.object(place));
const formPart = z.union([
  placedCondition,
  z.object({ kind: z.literal('group'), match, conditions: z.array(placedCondition), ...place }),
]);
export const expressionFormBody = z
  .object({ match, conditions: z.array(formPart) })
  .describe(
    'The parts of the outermost `&&` or `||`, with one level of groups. What a form cannot say is of the kind `expression`',
  )
  .meta({ id: 'ExpressionForm' });

const at = z.array(z.int().min(0)).max(2).describe('The number of a part; within a group that of the group before it');
const changeShapes = [
  z.strictObject({ kind: z.literal('replace'), at, condition }),
  z.strictObject({ kind: z.literal('remove'), at }),
  z.strictObject({ kind: z.literal('add'), at: at.describe('The group; empty: the form itself'), condition }),
  z.strictObject({ kind: z.literal('match'), at, match }),
  z.strictObject({ kind: z.literal('group'), at, condition }),
] as const;
const formChange: z.ZodType<FormChange> = z.discriminatedUnion('kind', changeShapes).meta({ id: 'FormChange' });

/** Places of expressions, for editors. */
export const EXPRESSION_PLACES = [
  'when',
  'unless',
  'at',
  'for_each',
  'recipient',
  'where',
  'path',
  'user_ids',
  'answer',
  'digest_key',
  'total_condition',
] as const;

export const expressionCheckRequest = z.strictObject({
  source: z.string().max(16_384).describe('The expression as it was typed'),
  place: z
    .enum(EXPRESSION_PLACES)
    .default('when')
    .describe(
      'Decides which names it sees, and of what type it has to be. `recipient`: an address, `unique_id`, a variable. `total_condition`: `count` or `where` of a total',
    ),
  stream: z.string().max(200).optional().describe('Warns of fields that its events were never seen to have'),
  change: formChange
    .optional()
    .describe('Changes the form of the source first; everything else in it stays to the letter'),
});

const fieldName = z.enum(['event', 'item', 'variables', 'previous', 'op', 'source', 'deadline', 'totals']);
export const expressionCheckBody = z
  .object({
    source: z.string().describe('With the change'),
    faults: z.array(z.object({ line: z.int(), column: z.int(), message: z.string(), fix: z.string() })),
    form: expressionFormBody.nullable().describe('Null where there are faults'),
    parts: z
      .array(z.object({ ...place, depth: z.int() }))
      .describe(
        'Sub-expressions with a value of their own, outermost first: in the order in which testing a rule explains them',
      ),
    fields: z.array(
      z.object({
        root: fieldName,
        path: z.string(),
        type: z.string().nullable().describe('What it is used as; null: anything'),
        dynamic: z.boolean().describe('The path goes on where an index is computed'),
      }),
    ),
    warnings: z.array(
      z.object({
        path: z.string().describe('The field that it is about'),
        message: z.string(),
        nearest: z.string().nullable().describe('The field that was probably meant'),
      }),
    ),
  })
  .meta({ id: 'ExpressionCheck', ...OPEN });
export type ExpressionCheckBody = z.infer<typeof expressionCheckBody>;
