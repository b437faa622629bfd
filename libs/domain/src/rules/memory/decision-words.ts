import { formatInstant, stringifyJson, type JsonObject } from '@carillon/kernel';
import { RULE_FORMS } from '../forms/index.ts';
import type { Decision } from './entity-memory.ts';

/** Returns the sentences of a decision. A form that this version does not know has its facts as JSON. */
export function decisionWords({ form, saw }: Pick<Decision, 'form' | 'saw'>): readonly string[] {
  if (form !== null) return RULE_FORMS.find(({ name }) => name === form)?.words(saw) ?? [stringifyJson(saw)];
  return [ruleWords(saw)];
}

function ruleWords({ kind, deadline, error }: JsonObject): string {
  const at = typeof deadline === 'number' ? formatInstant(deadline) : null;
  switch (typeof kind === 'string' ? kind : '') {
    case 'fired':
      return at === null ? 'fired' : `fired by its deadline ${at}`;
    case 'failed':
      return `failed: ${typeof error === 'string' ? error : ''}`;
    case 'disabled':
      return `disabled: the rule was disabled at its deadline${at === null ? '' : ` ${at}`}`;
    case 'rule_withdrawn':
      return 'rule_withdrawn: the rule was removed or moved to another stream while it waited';
    default:
      return '';
  }
}
