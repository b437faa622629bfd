import type { CodeChoice, CodeVariable, Complete } from '../../ui/code-words.ts';
import { mostSeen, shareWords, type SeenField } from '../rule/completion.ts';
import { HELPERS, nameAt } from './template-parts.ts';

/** What a template can name. */
export type Nameable = {
  /** Fields of events of its stream. */
  readonly fields: readonly SeenField[];
  /** Names that its rules give, by whose they are: `order-paid.paid`. */
  readonly given: readonly { readonly name: string; readonly by: string }[];
  /** What partners were seen to answer, by the partner's name. */
  readonly answers: readonly (Omit<SeenField, 'count'> & { readonly by: string })[];
  readonly partials: readonly string[];
};

const sampled = (sample: string | null): { readonly info?: string } =>
  sample === null ? {} : { info: `newest: ${sample}` };

/** What could stand at the caret within `{{…}}`: variables first, since they win over fields of the same name; then fields, then helpers. */
export function completeTemplate({ fields, given, answers, partials }: Nameable): Complete {
  const most = mostSeen(fields);
  const variables: readonly CodeChoice[] = [
    ...given.map(({ name, by }): CodeChoice => ({ label: name, detail: `variable of ${by}`, kind: 'field' })),
    ...answers.map(({ path, types, sample, by }): CodeChoice => {
      const detail = `${types.join(' or ')} · answered by ${by}`;
      return { label: path, detail, kind: 'field', ...sampled(sample) };
    }),
  ];
  const taken = new Set(variables.map(({ label }) => label));
  const choices: readonly CodeChoice[] = [
    ...variables,
    ...fields
      .filter(({ path }) => !taken.has(path))
      .map((field): CodeChoice => {
        const detail = shareWords(field, most);
        return { label: field.path, detail, kind: 'field', ...sampled(field.sample) };
      }),
    ...HELPERS.map(([label, info]): CodeChoice => ({ label, info, kind: 'function' })),
  ];
  const putIns = partials.map((label): CodeChoice => ({ label, detail: 'partial', kind: 'word' }));
  return (before) => {
    const at = nameAt(before);
    return at && { from: at.from, choices: at.isPartial ? putIns : choices };
  };
}

/** Longest value that stands beside a variable. */
const MAX_VALUE_LENGTH = 30;
const shortened = (value: string): string =>
  value.length > MAX_VALUE_LENGTH ? `${value.slice(0, MAX_VALUE_LENGTH)}…` : value;

/** Variables that a template can insert, those of rules and partners before fields of the event. Entries of lists need a loop and are left out. */
export function variablesOf({ fields, given, answers }: Omit<Nameable, 'partials'>): readonly CodeVariable[] {
  const all: readonly CodeVariable[] = [
    ...given.map(({ name, by }) => ({ path: name, note: `variable of ${by}` })),
    ...answers.map(({ path, by }) => ({ path, note: `answered by ${by}` })),
    ...fields.map(({ path, sample }) => ({ path, ...(sample !== null && { note: shortened(sample) }) })),
  ];
  const first = new Map(all.toReversed().map((variable) => [variable.path, variable]));
  return all.filter((variable) => first.get(variable.path) === variable && !variable.path.includes('['));
}
