import type { FormField } from '@carillon/shapes';
import { INTEGRATIONS, integrationGroupOf } from '@carillon/shapes/integrations';
import { PROVIDERS } from '@carillon/shapes/providers';
import { describedKind, type JsonSchema } from './json-schemas.ts';

/** A field of a form in the portal: the words of its key, and what follows from the JSON Schema of the key. */
export type FormPart = Omit<FormField, 'options'> & {
  /** Keys from the resource to the value. */
  readonly path: readonly string[];
  /** `secret`: name of a secret. `list`: one text per line. `yes`: a switch that is off without the key. */
  readonly kind: 'text' | 'number' | 'secret' | 'choice' | 'list' | 'yes';
  readonly options?: readonly { readonly id: string; readonly name: string }[];
};

const KINDS: Readonly<Record<string, FormPart['kind']>> = {
  integer: 'number',
  number: 'number',
  boolean: 'yes',
  array: 'list',
};

function kindOf({ type, properties }: JsonSchema, { options }: FormField): FormPart['kind'] {
  if (options !== undefined) return 'choice';
  if (properties?.['secret'] !== undefined) return 'secret';
  return (typeof type === 'string' && KINDS[type]) || 'text';
}

/** Returns the example of a key as a placeholder: of a list its first item. Secrets and choices have none. */
function exampleText({ examples }: JsonSchema, kind: FormPart['kind']): string | undefined {
  const example = kind === 'list' ? (examples?.[0] as readonly unknown[] | undefined)?.[0] : examples?.[0];
  if (kind === 'secret' || kind === 'choice') return undefined;
  return typeof example === 'string' || typeof example === 'number' ? String(example) : undefined;
}

function partOf(path: readonly string[], schema: JsonSchema, form: FormField): FormPart {
  const { options, placeholder, ...words } = form;
  const kind = kindOf(schema, form);
  const shown = placeholder ?? exampleText(schema, kind) ?? '';
  return {
    path,
    kind,
    ...words,
    ...(shown !== '' && { placeholder: shown }),
    ...(options && { options: Object.entries(options).map(([id, name]) => ({ id, name })) }),
  };
}

/** Returns the fields of a form in the order of the keys of the JSON Schema. Keys without words for a form have none. */
export function formParts(schema: JsonSchema, path: readonly string[] = []): readonly FormPart[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const at = [...path, key];
    return property.form ? [partOf(at, property, property.form)] : formParts(property, at);
  });
}

/** Returns the kinds of provider accounts as the portal lists them. */
export const accountForms = () =>
  PROVIDERS.map(({ kind, title, summary, channels, shape, ...more }) => ({
    kind,
    title,
    summary,
    channels,
    initial: 'initial' in more ? more.initial : {},
    parts: formParts(describedKind(shape)),
  }));

/** Returns the kinds of integrations as the portal lists them. */
export const integrationForms = () =>
  INTEGRATIONS.map(({ kind, role, title, summary, setup, checkNote, shape }) => ({
    kind,
    role,
    group: integrationGroupOf({ kind }),
    title,
    summary,
    setup,
    checkNote,
    parts: formParts(describedKind(shape)),
  }));
