/** The fields of a schema that the reference shows. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly additionalProperties?: boolean | Schema;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
};

/** The name of the schema that is referred to; null: none is. */
export const referenceOf = ({ $ref }: Schema): string | null => $ref?.split('/').at(-1) ?? null;

/** A type in words: `text`, `list of Delivery`, `whole number or null`. */
export function typeWords(schema: Schema): string {
  const name = referenceOf(schema);
  if (name !== null) return name;
  if (schema.anyOf) return schema.anyOf.map(typeWords).join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' or ');
  if (Array.isArray(schema.type)) return schema.type.map((type: string) => typeWords({ ...schema, type })).join(' or ');
  switch (schema.type) {
    case 'string':
      return 'text';
    case 'integer':
      return 'whole number';
    case 'boolean':
      return 'true or false';
    case 'array':
      return `list of ${schema.items ? typeWords(schema.items) : 'anything'}`;
    case 'object':
      return typeof schema.additionalProperties === 'object'
        ? `object of ${typeWords(schema.additionalProperties)}`
        : 'object';
    case undefined:
      return 'anything';
    default:
      return String(schema.type);
  }
}

/** Returns bounds and default as text. Empty if there are none of interest. */
export function boundWords(schema: Schema): string {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, pattern } = schema;
  const safe = Number.MAX_SAFE_INTEGER;
  const words = [
    ...between(minLength, maxLength, 'characters'),
    ...between(minItems, maxItems, 'elements'),
    ...between(minimum === -safe ? undefined : minimum, maximum === safe ? undefined : maximum, ''),
    ...(pattern === undefined ? [] : [`matches ${pattern}`]),
    ...(schema.default === undefined ? [] : [`${JSON.stringify(schema.default)} where it is left out`]),
  ];
  return words.join('; ');
}

function between(least: number | undefined, most: number | undefined, unit: string): readonly string[] {
  if (least === undefined && most === undefined) return [];
  const text =
    least === undefined ? `at most ${most}` : most === undefined ? `at least ${least}` : `${least} to ${most}`;
  return [unit === '' ? text : `${text} ${unit}`];
}
