import type { CodeChoice, Complete } from '../../ui/code-words.ts';
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
