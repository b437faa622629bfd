import { z } from 'zod';
import { FILE_SHAPES, type FileKind, type FormField } from '@carillon/shapes';

export type JsonSchema = {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  /** Ours: what a text means, where that is more than its pattern. */
  readonly kind?: 'name' | 'duration' | 'expression';
  /** Ours: what counts where the key is left out and that is no fixed value. */
  readonly otherwise?: string;
  /** Ours: how the portal's form asks for the key. */
  readonly form?: FormField;
};

/** Our own keywords: the reference and the portal read them, and schemas for editors leave them out. */
const OWN_WORDS = ['kind', 'otherwise', 'form'] as const;

/** zod leaves examples and defaults out where a value is made into another, as a number into the text of an expression. */
const withWords: z.core.ToJSONSchemaParams = {
  io: 'input',
  override: ({ zodSchema, jsonSchema }) => {
    const { examples, default: otherwise } = z.globalRegistry.get(zodSchema) ?? {};
    if (otherwise !== undefined) jsonSchema.default = otherwise;
    if (Array.isArray(examples)) jsonSchema.examples = examples;
  },
};

/** The shape of a kind of file with all its words. */
export const describedShape = (kind: FileKind): JsonSchema =>
  z.toJSONSchema(FILE_SHAPES[kind], withWords) as JsonSchema;

/** Options of the JSON schemas for editors and other programs. */
export const schemaForEditors: z.core.ToJSONSchemaParams = {
  ...withWords,
  override: (context) => {
    withWords.override?.(context);
    for (const word of OWN_WORDS) delete (context.jsonSchema as Record<string, unknown>)[word];
  },
};

/** The JSON Schema of a kind of file, for editors. */
export const fileJsonSchema = (kind: FileKind): object => z.toJSONSchema(FILE_SHAPES[kind], schemaForEditors);

/** Returns the JSON Schema of one kind of account or integration, with our own keywords. */
export const describedKind = (shape: z.ZodType): JsonSchema => z.toJSONSchema(shape, withWords) as JsonSchema;
